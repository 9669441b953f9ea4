"""Every reflector runs the whole suite: a new one is a line here."""

import pytest

from hindwise.reflect.base import Reflector
from hindwise.reflect.rules import RuleReflector


@pytest.fixture(params=["rules"])
def reflector(request: pytest.FixtureRequest) -> Reflector:
    """A reflector by name."""
    return {"rules": RuleReflector}[request.param]()
