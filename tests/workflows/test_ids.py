"""Ids of workflows: bare for the only installation of a namespace, prefixed for another one beside it."""

from workflows import ids


def test_two_installations_in_a_namespace_do_not_meet():
    assert ids.reflection_workflow("r") == "reflect/r"
    assert ids.upkeep_schedule() == "upkeep"
    assert ids.reflection_workflow("r", "second") == "second/reflect/r"
    assert ids.upkeep_schedule("second") == "second/upkeep"
    assert ids.reflection_workflow("r", ids.DEFAULT_PREFIX) == ids.reflection_workflow("r")
