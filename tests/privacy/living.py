"""A user who does everything that a user can do, with a planted word in every place; and how such a word is looked for afterwards."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from activities import STEPS
from activities.reflect import reflect
from hindwise.engine import Engine
from hindwise.errors import NotFound, SpaceErased
from hindwise.ledger import intake, sessions
from hindwise.ledger.schema import metadata
from hindwise.model.space import user_space
from hindwise.recall.remember import remember
from hindwise.reflect.rules import RuleReflector
from tests.api.front import Front
from tests.build import TENANT, make_call, make_episode, make_outcome, make_turn
from tests.engine.recall.helpers import fact
from workflows.contracts import FinishInput, GroundInput, ReflectInput, ResolveInput, StepInput

WORD, ZH = "zq7kanarienvogel", "金丝雀暗语"
USER = f"{WORD}-用户"
PLANTED = [WORD.encode(), WORD.encode("utf-16-le"), ZH.encode(), ZH.encode("utf-16-le"), json.dumps(ZH)[1:-1].encode()]


def turns(prefix: str) -> list[dict[str, Any]]:
    """A task that fails, with wishes in both languages."""
    call = {"id": f"{WORD}-call", "type": "function", "function": {"name": f"{WORD}_tool", "arguments": json.dumps({WORD: ZH})}}
    said = f"Please book {WORD}. I always prefer {WORD} seats. 以后都用{ZH}。"
    return [
        {"turn_id": f"{WORD}-{prefix}-1", "role": "user", "content": said, "participant": USER},
        {"turn_id": f"{WORD}-{prefix}-2", "role": "assistant", "content": "", "tool_calls": [call]},
        {
            "turn_id": f"{WORD}-{prefix}-3",
            "role": "tool",
            "name": f"{WORD}_tool",
            "tool_call_id": f"{WORD}-call",
            "content": f"Error: {WORD} {ZH} required",
        },
        {"turn_id": f"{WORD}-{prefix}-4", "role": "assistant", "content": f"Sorry, {WORD}."},
        {"turn_id": f"{WORD}-{prefix}-5", "role": "user", "content": f"That is wrong, {WORD}. 不对，{ZH}。"},
    ]


async def _post(front: Front, path: str, body: dict[str, Any], key: str = "") -> dict[str, Any]:
    answer = await front.post(path, body, **({"Idempotency-Key": f"{key}-{path[-80:]}"} if key else {}))
    assert answer.status_code < 300, (path, answer.text)
    told: dict[str, Any] = answer.json()
    return told


async def live(front: Front, user: str = USER, *, word: str = WORD, agent: str = "") -> list[str]:
    """Do everything; return the ids of the user's reflections, all of them looked back."""
    owner, session = {"user_id": user, **({"agent_id": agent} if agent else {})}, f"{word}-session"
    verdict = {"status": "failure", "source": "env", "note": f"{word} {ZH} was missing", "artifacts": [f"https://example.org/{word}/{ZH}"]}
    await _post(front, f"/v1/sessions/{session}/turns", {**owner, "turns": turns("s")}, word)
    await _post(front, f"/v1/sessions/{session}/checkpoint", {"done": word, "next": ZH, "notes": word}, word)
    told = [await _post(front, f"/v1/sessions/{session}/complete", {"goal": f"book {word} {ZH}", "outcome": verdict}, word)]
    body = {**owner, "run_id": f"{word}-run", "goal": f"{ZH} {word}", "turns": turns("r"), "outcome": verdict}
    told.append(await _post(front, "/v1/episodes", body, word))
    for accepted in told:
        await reflect_now(front.engine, accepted["reflection_id"])
    await _post(front, "/v1/memories", {"user_id": user, "content": f"{word} likes {ZH}"}, word)
    await _post(front, "/v1/memories", {"user_id": user, "content": f"My {word} hotel is {ZH}"}, f"{word}-2")
    await _post(front, "/v1/memories", {"user_id": user, "content": f"My {word} hotel is now {ZH}{ZH}"}, f"{word}-3")
    recalled = await _post(front, "/v1/recall", {**owner, "query": f"what about {word} {ZH}?", "session_id": session}, word)
    await front.settled()
    await _post(front, f"/v1/recalls/{recalled['recall_id']}/feedback", {"verdict": "helpful", "note": f"{word} {ZH}"}, word)
    while await front.engine.projection.one_space():
        pass
    await _post(front, f"/v1/sessions/{session}/turns", {**owner, "turns": turns("later")}, f"{word}-4")  # an open task
    return [accepted["reflection_id"] for accepted in told]


async def live_briefly(engine: Engine, user: str = USER, *, word: str = WORD) -> str:
    """A finished task, an open session and a memory, without the doors; return the id of the task's reflection, which is done."""
    now = engine.clock.now()
    lines = (
        make_turn(f"Change my {word}. I always prefer {word} seats. 以后都用{ZH}。", seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("update_reservation", seat="12A"),)),
        make_turn("Error: payment method required", role="tool", seq=3, name="update_reservation", tool_call_id="call-update_reservation"),
    )
    episode = make_episode(f"{word}-run", turns=lines, user_id=user, outcome=make_outcome("failure", note="payment method required"))

    def record(conn: Connection) -> str:
        session = sessions.lock_or_open(conn, engine.secret, TENANT, f"{word}-session", user, "", now)
        sessions.record_turns(conn, session, lines, now)
        return intake.accept_run(conn, episode, engine.reflector_id(), recall_ids=(), now=now, keep_first=True).reflection_id

    reflection_id = await engine.ledger.write(record)
    await reflect_now(engine, reflection_id)
    await remember(engine, TENANT, fact(f"Likes {word}, {ZH}"), user_space(user), "test", now)
    while await engine.projection.one_space() is not None:
        pass
    return reflection_id


STEPS_OF_A_REFLECTION = ("gather", "reflect", "ground", "resolve", "index", "credit", "finish")


async def reflect_now(engine: Engine, reflection_id: str, passed: Callable[[int], None] = lambda _: None) -> str:
    """Do what the workflow does, step by step; return its end: completed, skipped or erased. passed: told before each step, and after."""
    this = StepInput(reflection_id=reflection_id)
    work: list[Callable[[], Awaitable[Any]]] = [
        lambda: STEPS["gather"](engine, this),
        lambda: reflect(engine, ReflectInput(reflection_id=reflection_id, attempt=1, reflector="rules"), {"rules": RuleReflector()}),
        lambda: STEPS["ground"](engine, GroundInput(reflection_id=reflection_id, attempt=1)),
        lambda: STEPS["resolve"](engine, ResolveInput(reflection_id=reflection_id, attempt=1)),
        lambda: STEPS["index"](engine, this),
        lambda: STEPS["credit"](engine, this),
    ]
    end, code = "completed", ""
    try:
        for number, step in enumerate(work):
            passed(number)
            told = await step()
            if getattr(told, "skip", False) or getattr(told, "skipped", False):
                end, code = "skipped", getattr(told, "skip_code", "newer-verdict")
                break
    except (NotFound, SpaceErased):
        end, code = "skipped", "erased"
    passed(len(work))
    await STEPS["finish"](engine, FinishInput(reflection_id=reflection_id, status=end, skip_code=code))
    passed(len(work) + 1)
    return code if code == "erased" else end


def rows(conn: Connection) -> dict[str, int]:
    """How many rows each table holds; tables without rows are left out."""
    counted = {table.name: conn.execute(select(func.count()).select_from(table)).scalar_one() for table in metadata.sorted_tables}
    return {name: number for name, number in counted.items() if number}


def tables_with(conn: Connection, *words: str) -> set[str]:
    """Tables that hold one of the words in any column, as text or within JSON."""
    spellings = [spelling for word in words for spelling in (word, json.dumps(word)[1:-1])]
    return {
        table.name
        for table in metadata.sorted_tables
        for row in conn.execute(select(table))
        if any(spelling in str(value) for value in row for spelling in spellings)
    }


def files_with(data: Path, planted: list[bytes] | None = None) -> dict[str, list[bytes]]:
    """Files below `data` that hold one of the spellings, each with what it holds."""
    found = {}
    for path in sorted(data.rglob("*")):
        if path.is_file() and (spelled := [spelling for spelling in planted or PLANTED if spelling in path.read_bytes()]):
            found[path.name] = spelled
    return found
