"""The whole way on the real engine: sessions and runs in, memories out, nothing of a caller's in Temporal."""

import base64
import json
import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from hindwise.errors import InvalidInput, ModelRefused
from hindwise.ledger import memories, reflections
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint, ReflectionStatus
from hindwise.model.space import agent_space, user_space
from hindwise.model.turn import Turn
from hindwise.reflect.base import Known
from hindwise.reflect.rules import RuleReflector
from hindwise.testing import ScriptedModel
from tests.build import TENANT, make_call, make_episode, make_outcome, make_turn
from tests.nobody import nobody_at
from tests.temporal_server import temporal_server
from tests.workflows.rig import Rig, rig
from tests.workflows.stage import until
from workflows import ids, start

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Steered:
    """A clock that a test sets forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        """The machine's time and what was skipped."""
        return datetime.now(UTC) + self.ahead


@pytest_asyncio.fixture(loop_scope="session")
async def house(environment: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[Rig]:
    """An engine of its own."""
    async with rig(tmp_path / "data", environment.client, clock=Steered()) as opened:
        yield opened


def _failed_booking(word: str = "booking") -> tuple[Turn, ...]:
    return (
        make_turn(f"Please change my {word} to the 9 am train. I always prefer a window seat.", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("update_reservation", seat="12A"),)),
        make_turn("Error: payment method required", role="tool", seq=3, name="update_reservation", tool_call_id="call-update_reservation"),
        make_turn("I could not change it.", role="assistant", seq=4),
        make_turn("That is wrong, it is still the old train.", seq=5),
    )


async def _live(house: Rig, *spaces: str) -> list[str]:
    rows = await house.engine.ledger.read(lambda conn: memories.page(conn, TENANT, list(spaces), limit=100))
    return [row.conclusion for row in rows if row.status in {"active", "pending"}]


async def test_a_session_ends_in_memories(house: Rig) -> None:
    """Turns, a verdict, a reflection by rules; the preference is the user's, the lesson goes to all who use the agent."""
    async with house.workers():
        await house.say("s1", "ana", "travel", _failed_booking())
        accepted = await house.complete("s1", make_outcome("failure", note="missing call: update_payment"), goal="change a train")
        done = await house.final(accepted.reflection_id)
    assert done.status is ReflectionStatus.COMPLETED
    assert not done.index_pending
    assert any("window seat" in line for line in await _live(house, user_space("ana")))
    lessons = await house.engine.ledger.read(lambda conn: memories.page(conn, TENANT, [agent_space("travel")], limit=10))
    assert {row.kind for row in lessons} == {"lesson"}
    row = await house.engine.ledger.read(lambda conn: reflections.row_of(conn, accepted.reflection_id))
    assert row.due
    assert row.written_by.startswith("rules")


async def test_without_a_user_lessons_alone_are_kept_and_quote_nobody(house: Rig) -> None:
    """What one person said has no owner then, and whoever uses the agent would be told it; it is refused with the reason."""
    accepted = make_outcome("failure", note="missing call: update_payment")
    async with house.workers():
        done = await house.run(
            make_episode("r1", turns=_failed_booking(), outcome=accepted, goal="change a train", user_id="", agent_id="dine")
        )
        assert (await house.final(done.reflection_id)).status is ReflectionStatus.COMPLETED
        told = (make_turn("I always prefer a window seat."), make_turn("Noted.", role="assistant", seq=2))
        alone = await house.run(make_episode("r2", turns=told, outcome=make_outcome("unknown"), goal="", user_id="", agent_id="dine"))
        nothing = await house.final(alone.reflection_id)
    kept = await house.engine.ledger.read(lambda conn: memories.page(conn, TENANT, [agent_space("dine")], limit=100))
    assert {row.kind for row in kept} == {"lesson"}
    assert "window seat" not in str([(row.conclusion, row.words) for row in kept])
    for reflection_id in (done.reflection_id, alone.reflection_id):
        row = await house.engine.ledger.read(lambda conn, at=reflection_id: reflections.row_of(conn, at))
        refused = [item for item in row.rejected if item["rule"] == "owner"]
        assert any("window seat" in item["draft"]["conclusion"] for item in refused)
        assert {item["reason"] for item in refused} == {
            "no user is named: facts, preferences, instructions, todos and events have no owner"
        }
    assert nothing.status is ReflectionStatus.SKIPPED


async def test_an_idle_session_is_reflected_too(house: Rig, environment: WorkflowEnvironment) -> None:
    """The outcome is what rules read from the user's last words."""
    async with house.workers():
        await house.say("s1", "ana", "travel", _failed_booking())
        session = house.client.get_workflow_handle(ids.session_workflow(house.session_input("s1").handle))
        await environment.fast_forward(session, timedelta(minutes=31))
        await session.result()

        async def is_completed() -> bool:
            counted = await house.engine.ledger.read(lambda conn: reflections.count_by_status(conn))
            return counted == {"completed": 1}

        await until(is_completed)
    assert any("window seat" in line for line in await _live(house, user_space("ana")))


async def test_the_same_run_started_ten_times_is_reflected_once(house: Rig) -> None:
    """And once more a day later, when Temporal's run is long closed."""
    episode = make_episode("r1", turns=_failed_booking(), outcome=make_outcome("failure"), goal="change a train")
    async with house.workers():
        accepted = [await house.run(episode) for _ in range(10)]
        assert len({item.reflection_id for item in accepted}) == 1
        await house.final(accepted[0].reflection_id)
        # The ledger is final a moment before the workflow ends; only after that is a start a second run.
        await house.client.get_workflow_handle(ids.reflection_workflow(accepted[0].reflection_id, house.prefix)).result()
        before = await _live(house, user_space("u1"))
        house.engine.clock.ahead = timedelta(days=1)  # type: ignore[attr-defined]
        again = await house.run(episode)
        report = await house.client.get_workflow_handle(ids.reflection_workflow(again.reflection_id, house.prefix)).result()
        assert report["skip_code"] == "final"
    assert await _live(house, user_space("u1")) == before != []


async def test_a_corrected_verdict_replaces_what_the_first_taught(house: Rig) -> None:
    """Success at first, failure two days later: no success lesson stays live."""
    turns = (
        make_turn("Book me a table for four.", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("find_table", people=4), make_call("book_table", people=4))),
        make_turn('{"tables": [7]}', role="tool", seq=3, name="find_table"),
        make_turn('{"status": "booked"}', role="tool", seq=4, name="book_table"),
        make_turn("Your table is booked.", role="assistant", seq=5),
    )
    async with house.workers():
        first = await house.run(make_episode("r1", turns=turns, outcome=make_outcome("success"), goal="book a table", agent_id="dine"))
        await house.final(first.reflection_id)
        taught = await _live(house, user_space("u1"), agent_space("dine"))
        house.engine.clock.ahead = timedelta(days=2)  # type: ignore[attr-defined]
        second = await house.correct(first.episode_id, make_outcome("failure", note="the table was booked for the wrong day"))
        await house.final(second.reflection_id)
    assert taught
    assert not set(taught) & set(await _live(house, user_space("u1"), agent_space("dine")))


async def test_nothing_to_learn_is_skipped_with_its_reason(house: Rig) -> None:
    """No memory, no success."""
    async with house.workers():
        accepted = await house.run(make_episode("r1", turns=(make_turn("hi"),), outcome=make_outcome("unknown"), goal=""))
        done = await house.final(accepted.reflection_id)
    assert done.status is ReflectionStatus.SKIPPED
    assert done.skip_reason
    assert await _live(house, user_space("u1")) == []


async def test_a_refused_model_parks_and_rules_release_it(environment: WorkflowEnvironment, tmp_path: Path) -> None:
    """The ledger shows cause and next step; the signal alone is enough."""
    async with rig(tmp_path, environment.client, reflector="llm", llm_model="m", llm_base_url=f"http://{nobody_at()}") as house:
        model = ScriptedModel(ModelRefused("the endpoint says 401: set LLM_API_KEY"), repeat_last=True, model="m")
        async with house.workers({"rules": RuleReflector(), "llm": model}):
            accepted = await house.run(make_episode("r1", turns=_failed_booking(), outcome=make_outcome("failure"), goal="g"))

            async def parked() -> bool:
                return (await house.status(accepted.reflection_id)).status is ReflectionStatus.NEEDS_ATTENTION

            await until(parked)
            assert "set LLM_API_KEY" in (await house.status(accepted.reflection_id)).error
            assert await start.signal_reflection(house.client, accepted.reflection_id, "use_rules", queue_prefix=house.prefix)
            done = await house.final(accepted.reflection_id)
    assert (done.status, done.fallback_from, done.error) == (ReflectionStatus.COMPLETED, "llm: person", "")
    assert len(model.asked) == 1


# ---- the canary ----------------------------------------------------------------------------------------------------------


class Leaky:
    """A reflector whose failures quote what they read, as libraries like to do."""

    name, model, prompt_version = "llm", "m", "1"

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Fail with the transcript in the message."""
        if episode.run_id.endswith("invalid"):
            raise InvalidInput(f"cannot read {episode.turns[0].content}")
        raise ValueError(f"bad transcript: {episode.turns[0].content} of {episode.user_id}")


CANARY = "zq7canary"
"""No word of ours, and short enough to survive every cut."""


def _planted(run: str) -> dict[str, Any]:
    """A whole run with the canary wherever a caller may write."""
    turns = (
        make_turn(f"{CANARY} please, I always prefer {CANARY}", seq=1, turn_id=f"{CANARY}-turn", participant=f"{CANARY}-person"),
        make_turn("", role="assistant", seq=2, turn_id="t2", tool_calls=(make_call(f"{CANARY}_tool", **{CANARY: CANARY}),)),
        make_turn(f"Error: {CANARY} is required", role="tool", seq=3, turn_id="t3", name=f"{CANARY}_tool"),
    )
    return {
        "run_id": f"{CANARY}-{run}",
        "turns": turns,
        "goal": f"{CANARY} the goal",
        "user_id": f"{CANARY}-user",
        "agent_id": f"{CANARY}-agent",
        "inputs": {CANARY: CANARY},
        "outcome": make_outcome("failure", note=f"{CANARY} in the note", artifacts=(f"{CANARY}.pdf",)),
    }


async def _all_histories(house: Rig) -> str:
    """Every history as JSON, payloads decoded."""
    texts = []
    async for execution in house.client.list_workflows():
        handle = house.client.get_workflow_handle(execution.id, run_id=execution.run_id)
        text = (await handle.fetch_history()).to_json() + json.dumps([execution.id, str(execution.typed_search_attributes)])
        payloads = re.findall(r'"data": ?"([A-Za-z0-9+/=]+)"', text)
        texts.append(" ".join([text, *(base64.b64decode(found).decode("utf-8", "replace") for found in payloads)]))
    return "\n".join(texts)


async def test_no_word_of_a_caller_reaches_temporal(tmp_path: Path) -> None:
    """Sessions, runs, idle closing, unexpected errors and refusals: the canary is in the ledger and in no file of Temporal's."""
    files = tmp_path / "temporal"
    files.mkdir()
    async with (
        temporal_server(database=files / "temporal.db") as server,
        rig(tmp_path / "data", server.client, llm_budget_s=8.0) as house,
    ):
        async with house.workers({"rules": RuleReflector(), "llm": Leaky()}):
            await house.say(f"{CANARY}-session", f"{CANARY}-user", f"{CANARY}-agent", _planted("x")["turns"])
            completed = await house.complete(f"{CANARY}-session", _planted("x")["outcome"], goal=CANARY)
            await house.say(f"{CANARY}-idle", f"{CANARY}-user", f"{CANARY}-agent", _planted("y")["turns"])
            idle = house.client.get_workflow_handle(ids.session_workflow(house.session_input(f"{CANARY}-idle").handle))
            await server.fast_forward(idle, timedelta(minutes=31))
            await idle.result()
            ran = await house.run(make_episode(**_planted("run")))
            for accepted in (completed, ran):
                assert (await house.final(accepted.reflection_id)).status is ReflectionStatus.COMPLETED
            failing = await _failing_reflections(house)
            histories = await _all_histories(house)
        assert await house.engine.ledger.read(lambda conn: len(memories.page(conn, TENANT, [user_space(f"{CANARY}-user")], limit=9)))
    assert CANARY.encode() in b"".join(path.read_bytes() for path in (tmp_path / "data").glob("ledger.db*"))
    raw = b"".join(path.read_bytes() for path in sorted(files.iterdir()))
    for reflection_id in (completed.reflection_id, ran.reflection_id, *failing):
        assert reflection_id.encode() in raw  # the files can be searched
        assert reflection_id in histories
    assert "unexpected ValueError" in histories
    assert "invalid-input" in histories
    assert CANARY not in histories
    assert CANARY.encode() not in raw
    assert CANARY.encode("utf-16-le") not in raw


async def _failing_reflections(house: Rig) -> list[str]:
    """Two reflections by a model whose errors quote the transcript: one of a class we know, one of a class we do not."""
    async with rig(house.engine.settings.data, house.client, prefix=house.prefix, reflector="llm", llm_model="m") as other:
        invalid = await other.run(make_episode(**_planted("invalid")))
        unknown = await other.run(make_episode(**_planted("unknown")))

        async def parked() -> bool:
            states = [(await other.status(accepted.reflection_id)).status for accepted in (invalid, unknown)]
            return set(states) == {ReflectionStatus.NEEDS_ATTENTION}

        await until(parked, 60)
        for accepted in (invalid, unknown):
            await start.signal_reflection(house.client, accepted.reflection_id, "skip", queue_prefix=house.prefix)
            assert (await other.final(accepted.reflection_id)).status is ReflectionStatus.SKIPPED
        return [invalid.reflection_id, unknown.reflection_id]
