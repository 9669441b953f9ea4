"""The turns of a run as the door reads them: named once, and told by what they say, as the ledger tells them."""

from datetime import UTC, datetime

import pytest

from api.storing import Storing
from api.turns import Message, to_turns, whole_run
from hindwise.errors import TurnConflict

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
MESSAGES = [
    Message(role="user", content="Cancel booking 7, please.\u0000 "),
    Message(role="ai", content=None, tool_calls=[{"id": "c1", "function": {"name": "cancel", "arguments": '{"id": 7, "why": "ill"}'}}]),
    Message(role="tool", name="cancel", tool_call_id="c1", content='{"ok": true}'),
    Message(role="user", content="请把行程单寄给我。", turn_id="mine", participant="ada", occurred_at=NOW),
    Message(role="assistant", content=[{"type": "text", "text": "好的。"}], function_call={"name": "send", "arguments": "not json"}),
    Message(role="user", content="Cancel booking 7, please.\u0000 "),
]


def test_the_digests_of_a_run_are_those_of_its_turns() -> None:
    turns, digests = whole_run(MESSAGES, user_id="ada", agent_id="desk", now=NOW, storing=Storing())
    assert list(digests) == [turn.content_digest() for turn in turns]
    assert [turn.seq for turn in turns] == [1, 2, 3, 4, 5, 6]
    assert len({turn.turn_id for turn in turns}) == 6, "the same words said again are a turn of their own"


def test_a_run_sent_again_bears_the_same_names() -> None:
    once, _ = whole_run(MESSAGES, user_id="ada", agent_id="desk", now=NOW, storing=Storing())
    again, _ = whole_run(MESSAGES, user_id="ada", agent_id="desk", now=NOW.replace(hour=10), storing=Storing())
    assert [turn.turn_id for turn in once] == [turn.turn_id for turn in again]


def test_a_repeated_id_counts_once_and_with_other_words_is_refused() -> None:
    turns, digests = whole_run([MESSAGES[3], MESSAGES[0], MESSAGES[3]], user_id="ada", agent_id="desk", now=NOW, storing=Storing())
    assert [turn.seq for turn in turns] == [1, 2] and len(digests) == 2
    with pytest.raises(TurnConflict):
        whole_run(
            [MESSAGES[3], MESSAGES[0].model_copy(update={"turn_id": "mine"})], user_id="ada", agent_id="desk", now=NOW, storing=Storing()
        )


def test_a_sessions_turn_without_id_and_time_is_left_for_the_ledger_to_name() -> None:
    turns = to_turns(
        [*MESSAGES[:2], MESSAGES[0].model_copy(update={"occurred_at": NOW})], user_id="ada", agent_id="desk", now=NOW, storing=Storing()
    )
    assert [bool(turn.turn_id) for turn in turns] == [False, False, True]
