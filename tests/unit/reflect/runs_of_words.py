"""A failed run from a few lines, for tests that care about words alone."""

from collections.abc import Sequence

from hindwise.model.memory import Draft
from hindwise.reflect.rules import reflect_by_rules
from tests.build import make_call, make_episode, make_outcome, make_turn


def drafts_of(lines: Sequence[tuple[str, str]]) -> tuple[Draft, ...]:
    """What rules conclude: (role, words); `call` is a call of that name that worked."""
    turns = []
    for role, words in lines:
        if role == "call":
            turns.append(make_turn("", role="assistant", seq=len(turns) + 1, tool_calls=(make_call(words, day="x"),)))
            turns.append(make_turn('{"ok":true}', role="tool", seq=len(turns) + 1, name=words, tool_call_id=f"call-{words}"))
        else:
            turns.append(make_turn(words, role=role, seq=len(turns) + 1))
    return reflect_by_rules(make_episode("words", turns=tuple(turns), outcome=make_outcome("failure"), goal="")).drafts
