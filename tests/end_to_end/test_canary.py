"""A word planted wherever a caller may write is in the ledger, and in no file of Temporal: over HTTP, through every door.

Searched are all bytes that Temporal wrote, its database with all histories included, as they are and unpacked: base64, gzip and zlib.
"""

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from hindwise.ledger.schema import episodes, memories, reflections, sessions, turns
from tests.fake_llm import FakeLlm
from tests.processes import Roles, until

WORD = "zq7kanarienvogel"
ZH = "金丝雀暗语"
PLANTED = [WORD.encode(), WORD.encode("utf-16-le"), ZH.encode(), ZH.encode("utf-16-le"), json.dumps(ZH)[1:-1].encode()]


@pytest.fixture(scope="module")
def llm() -> Iterator[FakeLlm]:
    """A model endpoint whose errors repeat what they were asked, as some do."""
    with FakeLlm(mode="bad_request") as fake:
        yield fake


@pytest.fixture(scope="module")
def house(llm: FakeLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """Everything, as patient as it comes."""
    wanted = {
        "HINDWISE_REFLECTOR": "llm",
        "LLM_BASE_URL": llm.url,
        "LLM_MODEL": "fake-model",
        "HINDWISE_LOG_LEVEL": "debug",
    }
    with Roles(tmp_path_factory.mktemp("canary"), **wanted) as roles:
        assert isinstance(roles, Roles)
        yield roles.start()


def _turns(prefix: str) -> list[dict[str, Any]]:
    call = {"id": f"{WORD}-call", "type": "function", "function": {"name": f"{WORD}_tool", "arguments": json.dumps({WORD: ZH})}}
    return [
        {
            "turn_id": f"{WORD}-{prefix}-1",
            "role": "user",
            "content": f"Please {WORD}. 请{ZH}。I always prefer {WORD}.",
            "participant": WORD,
        },
        {"turn_id": f"{WORD}-{prefix}-2", "role": "assistant", "content": "", "tool_calls": [call]},
        {
            "turn_id": f"{WORD}-{prefix}-3",
            "role": "tool",
            "name": f"{WORD}_tool",
            "tool_call_id": f"{WORD}-call",
            "content": f"Error: {WORD} {ZH}",
        },
        {"turn_id": f"{WORD}-{prefix}-4", "role": "assistant", "content": f"Sorry, {WORD}."},
    ]


OWNER = {"user_id": f"{WORD}-user", "agent_id": f"{WORD}-agent"}
VERDICT = {"status": "failure", "source": "env", "note": f"{WORD} {ZH}", "artifacts": [f"https://{WORD}.example/{ZH}"]}
DIFY = {
    "event": "workflow.finished",
    "run": {"workflow_run_id": f"{WORD}-dify", "workflow_id": WORD, "app_id": f"{WORD}-app", "user_id": f"{WORD}-user"},
    "status": "failed",
    "error": f"{WORD} {ZH}",
    "task": {"goal": f"{WORD} {ZH}", "inputs": {WORD: ZH}},
    "steps": [{"title": f"{WORD}_step", "type": "tool", "output": "", "error": f"{ZH} {WORD}"}],
}


def _post(house: Roles, path: str, body: dict[str, Any], expected: int = 202) -> dict[str, Any]:
    with house.http() as http:
        answer = http.post(path, json=body, headers={"Idempotency-Key": f"{WORD}-{path[-60:]}"[:255]})
    assert answer.status_code == expected, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _status(house: Roles, reflection_id: str) -> str:
    query = select(reflections.c.status).where(reflections.c.id == reflection_id)
    return str(house.book.read(lambda conn: conn.execute(query).scalar_one()))


def _release(house: Roles, reflection_id: str, signal: str) -> None:
    """Wait until the refused model has parked it, send the signal, wait until it is final."""
    until(lambda: _status(house, reflection_id) == "needs_attention", f"{reflection_id} parked", 60)
    _post(house, f"/v1/reflections/{reflection_id}/{signal}", {})
    until(lambda: _status(house, reflection_id) in {"completed", "skipped"}, f"{reflection_id} final", 60)


@pytest.fixture(scope="module")
def told(house: Roles, llm: FakeLlm) -> list[str]:
    """Everything that a caller can do, done with the planted word; the reflections that came of it. Then all servers are stopped."""
    session = f"{WORD}-session"
    _post(house, f"/v1/sessions/{session}/turns", {**OWNER, "turns": _turns("s")}, 200)
    _post(house, f"/v1/sessions/{session}/checkpoint", {"done": WORD, "next": ZH, "notes": WORD}, 200)
    completed = _post(house, f"/v1/sessions/{session}/complete", {"goal": f"{WORD} {ZH}", "outcome": VERDICT, "close": True})
    episode = _post(house, "/v1/episodes", {**OWNER, "run_id": f"{WORD}-run", "goal": ZH, "turns": _turns("e"), "outcome": VERDICT})
    hooked = _post(house, f"/v1/hooks/dify?goal={WORD}", DIFY)
    _post(house, "/v1/memories", {"user_id": f"{WORD}-user", "content": f"{WORD} likes {ZH}"}, 201)
    _post(house, "/v1/recall", {**OWNER, "query": f"{WORD} {ZH}", "session_id": session}, 200)
    for answer, signal in ((completed, "use_rules"), (episode, "skip"), (hooked, "use_rules")):
        _release(house, answer["reflection_id"], signal)

    _make_impatient(house)
    _post(house, f"/v1/sessions/{WORD}-idle/turns", {**OWNER, "turns": _turns("i")}, 200)
    llm.control({"mode": "server_error"})  # echoes the question too, and is retried until rules stand in
    verdict = {**VERDICT, "status": "partial", "note": f"{ZH} {WORD} again"}
    corrected = _post(house, f"/v1/episodes/{episode['episode_id']}/outcome", verdict)
    until(lambda: _status(house, corrected["reflection_id"]) == "completed", "the corrected run reflected", 60)
    idle = _idle_reflection(house)
    until(lambda: _status(house, idle) == "completed", "the idle session reflected", 60)

    house.api.stop()
    house.worker.stop()
    house.temporal.stop()
    return [completed["reflection_id"], episode["reflection_id"], hooked["reflection_id"], corrected["reflection_id"], idle]


def _make_impatient(house: Roles) -> None:
    """From here on rules stand in for the model after 3 s, and a session is idle soon."""
    for process in (house.api, house.worker):
        process.stop()
        process.env |= {"HINDWISE_LLM_BUDGET_S": "3", "HINDWISE_SESSION_IDLE_MINUTES": "0.05"}
        process.start()
    house.ready()


def _idle_reflection(house: Roles) -> str:
    query = select(reflections.c.id).join(episodes, episodes.c.id == reflections.c.episode_id).where(episodes.c.closed_by == "idle")
    return str(until(lambda: house.book.read(lambda conn: conn.execute(query).scalar_one_or_none()), "the idle session closed", 60))


def _files(data: Path, *patterns: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for pattern in patterns for path in sorted(data.glob(pattern))}


_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}")


def unpacked(raw: bytes, depth: int = 2) -> Iterator[bytes]:
    """The bytes, and whatever in them is base64, gzip or zlib, unpacked again up to `depth` times."""
    yield raw
    if not depth:
        return
    for match in _BASE64.finditer(raw):
        text = match[0].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        for skip in range(4):  # the run may begin before the code does
            part = text[skip:]
            try:
                yield from unpacked(base64.b64decode(part[: len(part) // 4 * 4]), depth - 1)
            except binascii.Error:
                continue
    for magic, wbits in ((b"\x1f\x8b\x08", 31), (b"\x78\x01", 15), (b"\x78\x9c", 15), (b"\x78\xda", 15)):
        at = raw.find(magic)
        while at >= 0:
            try:
                found = zlib.decompressobj(wbits).decompress(raw[at:], 1 << 20)
            except zlib.error:
                found = b""
            if found:
                yield from unpacked(found, depth - 1)
            at = raw.find(magic, at + 1)


def finds(raw: bytes) -> list[bytes]:
    """Which of the planted spellings stand in the bytes, however packed."""
    return sorted({spelling for text in unpacked(raw) for spelling in PLANTED if spelling in text})


@pytest.mark.parametrize(
    "packed",
    [
        WORD.encode(),
        ZH.encode(),
        json.dumps({"x": ZH}).encode(),
        b"xx" + base64.b64encode(f"a {WORD} b".encode()),
        base64.urlsafe_b64encode(f"{ZH}{ZH}{ZH}".encode()),
        b"\x00head" + gzip.compress(f"long {WORD} text".encode(), mtime=0) + b"tail",
        base64.b64encode(zlib.compress(f"{ZH} {WORD}".encode())),
    ],
)
def test_the_search_finds_what_is_packed(packed: bytes) -> None:
    """So that finding nothing means something."""
    assert finds(packed) != []


def test_the_word_is_in_the_ledger_wherever_it_was_planted(house: Roles, told: list[str]) -> None:
    """The other half of the proof: it was really there, at every door."""
    for table, column in (
        (turns, turns.c.content),
        (turns, turns.c.turn_id),
        (turns, turns.c.name),
        (turns, turns.c.participant),
        (sessions, sessions.c.session_id),
        (episodes, episodes.c.goal),
        (episodes, episodes.c.run_id),
        (episodes, episodes.c.user_id),
        (episodes, episodes.c.agent_id),
        (memories, memories.c.conclusion),
    ):
        values = house.book.read(lambda conn, asked=column: list(conn.execute(select(asked)).scalars()))
        assert any(WORD in str(value) or ZH in str(value) for value in values), f"{table.name}.{column.name}"
    notes = house.book.read(lambda conn: list(conn.execute(select(episodes.c.outcome)).scalars()))
    assert any(ZH in outcome["note"] for outcome in notes)
    assert {_status(house, reflection_id) for reflection_id in told} == {"completed", "skipped"}


def test_the_word_is_in_no_file_of_temporal(house: Roles, told: list[str]) -> None:
    """Its database holds every history of these reflections, refusals and parked steps included, and its log what it said."""
    written = _files(house.data, "temporal.db*", "test-temporal.log")
    assert {"temporal.db", "test-temporal.log"} <= set(written)
    everything = b"".join(written.values())
    for reflection_id in told:
        assert reflection_id.encode() in everything  # the files can be searched, and the histories are there
    assert b"model-refused" in everything
    assert b"model-unavailable" in everything
    assert {name: found for name, raw in written.items() if (found := finds(raw))} == {}


def test_the_word_is_in_no_log_of_ours(house: Roles, told: list[str]) -> None:
    """Ids and counts only, also where the log is as talkative as it can be."""
    logs = _files(house.data, "test-api.log", "test-worker.log")
    assert all(logs.values())
    assert {name: found for name, raw in logs.items() if (found := finds(raw))} == {}
