"""Whatever goes wrong is a problem with a stable type and a detail that helps, and never tells what must not be told."""

import ast
import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.errors import STATUS, problem_of
from hindwise import errors, files
from tests.api.front import TURN, Front, open_front, turns_body


def every_class(cls: type[errors.HindwiseError]) -> set[type[errors.HindwiseError]]:
    return {cls}.union(*(every_class(sub) for sub in cls.__subclasses__()))


def test_every_error_of_the_engine_and_the_door_has_its_status() -> None:
    # Doors that other tests define for themselves are not the engine's.
    ours = {cls for cls in every_class(errors.HindwiseError) if cls.__module__.startswith(("hindwise.", "api.")) and cls.__name__[0] != "_"}
    missing = {cls.__name__ for cls in ours} - {cls.__name__ for cls in STATUS}
    assert not missing, f"no status for {sorted(missing)}: add it to STATUS in api/errors.py, else callers get the status of its base class"


def test_no_other_module_of_the_engine_defines_an_error_that_this_table_might_lack() -> None:
    """It would be known here only where something else had imported that module. A private one does not leave its module."""
    known = {cls.__name__ for cls in every_class(errors.HindwiseError)}
    root = Path(errors.__file__).parent
    elsewhere = [
        f"{path.relative_to(root)}: {node.name}"
        for path in sorted(root.rglob("*.py"))
        if path.name != "errors.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if known & {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    ]
    assert not elsewhere


def test_retryable_errors_say_when_to_come_back() -> None:
    for cls, status in STATUS.items():
        answer = problem_of(cls("detail"))
        assert answer.status_code == status
        assert ("retry-after" in answer.headers) == (status in {429, 503})
        assert json.loads(bytes(answer.body)).keys() >= {"type", "title", "status", "detail"}


def assert_problem(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    for word in words:
        assert word in told["detail"]


async def test_unknown_paths_and_methods_are_problems(front: Front) -> None:
    assert_problem(await front.http.get("/v1/nothing"), 404, "/docs")
    answer = await front.http.put("/v1/recall", json={})
    assert_problem(answer, 405)
    assert "POST" in answer.headers["allow"] or "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "body", "hint"),
    [
        ("/v1/recall", {"user_id": "a", "query": "q", "top_k": 3}, "did you mean `limit`"),
        ("/v1/recall", {"user_id": "a", "query": "q", "limt": 3}, "did you mean `limit`"),
        ("/v1/recall", {"user_id": "a", "query": "q", "as_of": "2026-01-01"}, "unknown field `as_of`"),
        ("/v1/sessions/s/turns", {"user": "a", "turns": [TURN]}, "did you mean `user_id`"),
        ("/v1/sessions/s/turns", {"user_id": "a", "messages": [TURN]}, "did you mean `turns`"),
        ("/v1/sessions/s/complete", {"callback_url": "https://example.com"}, "unknown field `callback_url`"),
        ("/v1/sessions/s/complete", {"outcome": {"state": "success"}}, "did you mean `status`"),
        ("/memory", {"text": "x"}, "did you mean `content`"),
        ("/v1/memories", {"user_id": "a", "content": "x", "type": "fact"}, "did you mean `kind`"),
    ],
)
async def test_an_unknown_field_is_refused_with_the_nearest_known_name(front: Front, path: str, body: dict[str, Any], hint: str) -> None:
    assert_problem(await front.post(path, body), 422, hint)


async def test_an_unknown_query_parameter_is_refused_with_the_nearest_known_name(front: Front) -> None:
    assert_problem(await front.http.get("/v1/recall", params={"user_id": "a", "query": "x"}), 422, "did you mean `q`")
    assert_problem(await front.http.get("/v1/memories", params={"user_id": "a", "size": 3}), 422, "did you mean `limit`")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b"null",
        b"[]",
        b'"text"',
        b'{"user_id": "a", "query": "q", "limit": NaN}',
        b'{"user_id": "a", "query": "q", "limit": 1e999}',
        b'{"user_id": "a", "query": "q", "limit": ' + b"9" * 5_000 + b"}",
        b'{"user_id": "a", "query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"user_id": "a", "query": "q", "kinds": [' + b"[]," * 250_000 + b"[]]}",
        b"\xff\xfe\x00",
        b'{"user_id": "a", "query": "q", "limit": true}',
        b'{"user_id": "a", "query": "q", "limit": "3"}',
        b'{"user_id": "a", "query": "q", "limit": 0}',
        b'{"user_id": "a", "query": "q", "limit": 51}',
        b'{"user_id": "a", "query": ""}',
        b'{"user_id": "", "query": "q"}',
        b'{"user_id": "~anonymous:dify", "query": "q"}',
        b'{"user_id": "a\\u0000b", "query": "q"}',
        b'{"user_id": null, "query": "q"}',
        b'{"query": "q"}',
        b'{"user_id": "a", "query": "q", "kinds": ["nonsense"]}',
        b'{"user_id": "a", "query": "q", "lang": "fr"}',
    ],
)
async def test_malformed_and_absurd_bodies_are_422(front: Front, body: bytes) -> None:
    answer = await front.http.post("/v1/recall", content=body, headers={"Content-Type": "application/json"})
    assert_problem(answer, 422)


async def test_a_body_that_says_it_is_no_json_is_415(front: Front) -> None:
    answer = await front.http.post("/v1/recall", content=b"a=1", headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert_problem(answer, 415, "Content-Type: application/json")
    silent = await front.http.post("/v1/recall", content=b'{"user_id": "a", "query": "q"}')
    assert silent.status_code == 200


async def test_too_large_requests_and_turns_are_413_and_nothing_is_kept(front: Front) -> None:
    big = turns_body({"role": "user", "content": "x" * (256 * 1024 + 1)})
    assert_problem(await front.post("/v1/sessions/s1/turns", big), 413, "turns[0]", "262144")
    huge = turns_body(*({"role": "user", "content": "x" * 200_000} for _ in range(30)))
    assert_problem(await front.post("/v1/sessions/s1/turns", huge), 413, "5242880")

    async def endless() -> Any:
        for _ in range(100):
            yield b"x" * 100_000

    assert_problem(await front.http.post("/v1/hooks/dify", content=endless()), 413)
    assert (await front.http.get("/v1/sessions/s1")).status_code == 404
    fits = turns_body({"role": "user", "content": "x" * (256 * 1024 - 2)})
    assert (await front.post("/v1/sessions/s1/turns", fits)).status_code == 200


async def test_a_turn_of_exactly_the_limit_is_kept(front: Front) -> None:
    for words in ("x" * 256 * 1024, "退" * (256 * 1024 // 3)):
        answer = await front.post("/v1/sessions/s1/turns", turns_body({"role": "user", "content": words}))
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("broken", [b"a\\ud800", b"a\\ud801", "a\ufffd".encode()])
async def test_ids_of_broken_characters_are_refused_so_that_no_two_users_become_one(front: Front, broken: bytes) -> None:
    body = b'{"user_id": "%s", "content": "Prefers tea"}' % broken
    assert_problem(await front.http.post("/v1/memories", content=body), 422, "user_id", "UTF-8")
    assert_problem(await front.http.get("/v1/memories?user_id=a%FF"), 422, "user_id", "UTF-8")


async def test_more_than_a_thousand_turns_in_one_request_are_refused(front: Front) -> None:
    body = turns_body(*({"role": "user", "content": str(n)} for n in range(1_001)))
    assert_problem(await front.post("/v1/sessions/s1/turns", body), 422, "1000")


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "wizard", "content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": "x", "turn_id": "~x"},
        {"role": "user", "content": "x", "turn_id": "y" * 201},
        {"role": "user", "content": "x", "occurred_at": "2026-01-01T00:00:00"},
        {"role": "user", "content": "x", "occurred_at": "0001-01-01T00:00:00+14:00"},
        {"role": "user", "content": "x", "occurred_at": 1e300},
        {"role": "user", "content": "x", "occurred_at": 2026},
        {"role": "user", "content": "x", "occurred_at": "20261130"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "x" * 201}}]},
        {"content": "x"},
        "text",
        None,
    ],
)
async def test_turns_that_cannot_be_kept_are_422(front: Front, turn: Any) -> None:
    assert_problem(await front.post("/v1/sessions/s1/turns", {"user_id": "a", "turns": [turn]}), 422, "turns[0]")


@pytest.mark.parametrize(
    "path", ["/v1/episodes/x", "/v1/reflections/x", "/v1/recalls/x", "/v1/memories/x", "/v1/sessions/x", "/v1/sessions/x/context"]
)
async def test_unknown_ids_are_404(front: Front, path: str) -> None:
    assert_problem(await front.http.get(path), 404)


def _cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


_NO_IDS = (r'[1,"\u0000"]', r'[1,"\ud800"]', '[1,"编号"]', f'[1,"{"a" * 301}"]')


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "!!!",
        "MQ",
        "你好",
        *map(_cursor, (f'[{10**20},"a"]', '[true,"a"]', '[1.5,"a"]', "[1,2]", '[1,"a",2]', "{}", "[" * 90, *_NO_IDS)),
    ],
)
async def test_a_cursor_that_is_not_ours_is_422(front: Front, cursor: str) -> None:
    assert_problem(await front.http.get("/v1/episodes", params={"user_id": "a", "cursor": cursor}), 422, "cursor")


@pytest.mark.parametrize("path", ["/v1/episodes", "/v1/memories", "/v1/memories/review", "/v1/sessions", "/v1/reflections"])
@pytest.mark.parametrize("year", [1, 9999])
async def test_a_cursor_of_the_first_or_last_instant_is_answered(front: Front, path: str, year: int) -> None:
    at = datetime(year, 12, 31, 23, 59, 59, 999_999, UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    owner = {} if path in {"/v1/sessions", "/v1/reflections"} else {"user_id": "a"}
    answer = await front.http.get(path, params={**owner, "cursor": _cursor(f'[{at // timedelta(microseconds=1)},""]')})
    assert (answer.status_code, answer.json()["items"]) == (200, [])


async def test_our_own_faults_tell_no_words_to_the_caller_or_the_log(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("CANARY-words of a user")

    monkeypatch.setattr(front.services.recaller, "recall", broken)
    with capture_logs() as logs:
        answer = await front.post("/v1/recall", {"user_id": "ann", "query": "CANARY-query"})
    assert_problem(answer, 500, answer.headers["x-request-id"])
    assert "CANARY" not in answer.text
    assert [log["event"] for log in logs] == ["request.failed"]
    assert "CANARY" not in repr(logs)
    assert "ValueError" in repr(logs)


async def test_logs_hold_ids_but_no_contents(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as logs:
        async with open_front(tmp_path) as front:
            front.starter.down = True
            body = {"turn_id": "CANARY-id", "role": "user", "content": "CANARY-text"}
            await front.post("/v1/sessions/CANARY-s/turns", turns_body(body, user_id="CANARY-user"))
            await front.post("/v1/sessions/CANARY-s/turns", turns_body({**body, "content": "CANARY-2"}, user_id="CANARY-user"))
            await front.post("/v1/sessions/CANARY-s/complete", {"goal": "CANARY-goal", "CANARY-field": 1})
            await front.post("/v1/hooks/dify", {"status": "failed", "error": "CANARY-error"})
            await front.post("/v1/recall", {"user_id": "CANARY-user", "query": "CANARY-query"})
            await front.post("/memory", {"content": "CANARY-memory"})
            await front.settled()
    told = repr(logs) + caplog.text + "".join(capfd.readouterr())
    assert "turns.queued" in told
    assert "CANARY" not in told


async def test_a_full_disk_is_told_before_anything_is_refused(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await front.http.get("/readyz")).json()["status"] == "ready"
    monkeypatch.setattr(files, "NO_ROOM_BYTES", 2**62)
    answer = await front.http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert "full" in answer.json()["note"]
