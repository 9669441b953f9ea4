"""The same Idempotency-Key: the first answer again, whatever failed in between; another body is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, text

from api import kept_answers
from hindwise.ledger.schema import erasures, idempotency_keys, memories, turns
from hindwise.privacy import erase_user
from tests.api.front import Front, open_front, turns_body

MEMORY = {"user_id": "ann", "content": "The gate code changes every Monday"}


async def count(front: Front, table: Any) -> int:
    number: int = await front.engine.ledger.read(lambda conn: conn.execute(select(func.count()).select_from(table)).scalar_one())
    return number


async def test_ten_at_once_have_one_effect_and_one_answer(front: Front) -> None:
    answers = await asyncio.gather(*(front.post("/v1/memories", MEMORY, **{"Idempotency-Key": "k"}) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert await count(front, memories) == 1


async def test_another_body_or_path_under_a_known_key_is_refused(front: Front) -> None:
    await front.post("/v1/memories", MEMORY, **{"Idempotency-Key": "k"})
    for path, body in (("/v1/memories", {**MEMORY, "content": "x"}), ("/memory", {"content": "x"})):
        answer = await front.post(path, body, **{"Idempotency-Key": "k"})
        assert (answer.status_code, answer.json()["type"]) == (422, "idempotency-mismatch")


async def test_a_refused_request_may_be_corrected_under_the_same_key(front: Front) -> None:
    bad = await front.post("/v1/memories", {**MEMORY, "kind": "nonsense"}, **{"Idempotency-Key": "k"})
    good = await front.post("/v1/memories", MEMORY, **{"Idempotency-Key": "k"})
    assert (bad.status_code, good.status_code) == (422, 201)


async def test_an_answer_that_was_not_kept_is_found_again_by_the_writing_itself(front: Front) -> None:
    first = await front.post("/v1/memories", MEMORY, **{"Idempotency-Key": "k"})
    await front.engine.ledger.write(lambda conn: conn.execute(idempotency_keys.delete()))  # as if the process had died in between
    again = await front.post("/v1/memories", MEMORY, **{"Idempotency-Key": "k"})
    assert again.json()["id"] == first.json()["id"]
    assert await count(front, memories) == 1


async def test_an_erasure_whose_answer_was_lost_does_not_erase_what_came_since(front: Front) -> None:
    """The process died before it kept the answer, the erasure ended, and the user came back before the request was repeated."""
    asked = {"user_id": "ann"}
    await front.post("/v1/memories", MEMORY)
    first = await front.post("/v1/erasures", asked, **{"Idempotency-Key": "e"})
    await front.engine.ledger.write(lambda conn: conn.execute(idempotency_keys.delete()))
    await erase_user.erase(front.engine, first.json()["erasure_id"])
    await front.post("/v1/memories", MEMORY)
    again = await front.post("/v1/erasures", asked, **{"Idempotency-Key": "e"})
    assert again.json()["erasure_id"] == first.json()["erasure_id"]
    assert again.json()["status"] == "completed"
    await erase_user.erase(front.engine, again.json()["erasure_id"])
    assert await count(front, memories) == 1
    other = await front.post("/v1/erasures", asked, **{"Idempotency-Key": "later"})
    assert other.json()["erasure_id"] != first.json()["erasure_id"]


async def test_two_processes_that_are_asked_at_once_under_one_key_do_it_once(front: Front, tmp_path: Path) -> None:
    """Each process lets one in at a time; between two the writing itself decides."""
    body = turns_body({"role": "user", "content": "yes"})
    async with open_front(tmp_path) as other:
        for path, asked in (("/v1/memories", MEMORY), ("/v1/erasures", {"user_id": "bo"}), ("/v1/sessions/s/turns", body)):
            answers = await asyncio.gather(*(each.post(path, asked, **{"Idempotency-Key": path}) for each in (front, other) * 4))
            assert {answer.status_code // 100 for answer in answers} == {2}
    assert [await count(front, table) for table in (memories, erasures, turns)] == [1, 1, 1]


async def test_an_erasure_takes_along_what_began_and_never_ended(front: Front) -> None:
    """The process died under the request: the user's name and key are left by it."""
    await front.post("/v1/memories", MEMORY)
    begun = kept_answers.Kept("ann's key", "/v1/memories", "digest", "ann")
    await front.engine.ledger.write(lambda conn: kept_answers.begin(conn, front.engine, "default", begun))
    assert await count(front, idempotency_keys) == 1
    asked = await front.post("/v1/erasures", {"user_id": "ann"})
    await erase_user.erase(front.engine, asked.json()["erasure_id"])
    assert await count(front, idempotency_keys) == 0


BEGUN = {
    "named by the body": kept_answers.Kept("k", "/v1/memories", "digest", "ann"),
    "of a known session": kept_answers.Kept("k", "/v1/sessions/安/complete", "digest", None, {"session_id": "安"}),
    "of a path that names nothing": kept_answers.Kept("k", "/v1/recall", "digest"),
}


@pytest.mark.parametrize("which", BEGUN)
async def test_a_process_of_the_version_before_takes_what_began_for_the_same_request(front: Front, which: str) -> None:
    """It compares path and digest, and runs where no answer stands; another path would be a 422 for a repeated request."""
    await front.post("/v1/sessions/安/turns", turns_body({"role": "user", "content": "好"}, user_id="ann"))
    begun = BEGUN[which]
    await front.engine.ledger.write(lambda conn: kept_answers.begin(conn, front.engine, "default", begun))
    row = await front.engine.ledger.read(lambda conn: conn.execute(select(idempotency_keys)).one())
    owner = "" if which == "of a path that names nothing" else "ann"
    assert (row.path, row.body_digest, row.response, row.owner) == (begun.path, "digest", None, owner)


async def test_a_path_that_names_what_is_not_there_is_not_noted_before_the_answer(front: Front) -> None:
    """Whose it will be is not known: an erasure could not find it."""
    begun = kept_answers.Kept("k", "/v1/sessions/s/turns", "digest", None, {"session_id": "s"})
    await front.engine.ledger.write(lambda conn: kept_answers.begin(conn, front.engine, "default", begun))
    assert await front.engine.ledger.read(lambda conn: conn.execute(select(idempotency_keys.c.path)).scalar_one()) == ""


async def test_whose_a_request_is_that_names_no_user_is_noted_when_it_begins(front: Front) -> None:
    await front.post("/v1/sessions/s/turns", turns_body({"role": "user", "content": "yes"}, user_id="ann"))

    def watch(conn: Connection) -> None:
        conn.execute(text("CREATE TABLE seen (path TEXT, owner TEXT)"))
        told = "INSERT INTO seen VALUES (NEW.path, NEW.owner)"
        conn.execute(text(f"CREATE TRIGGER watch AFTER INSERT ON idempotency_keys BEGIN {told}; END"))

    await front.engine.ledger.write(watch)
    answer = await front.post("/v1/sessions/s/complete", {"outcome": {"status": "success"}}, **{"Idempotency-Key": "c"})
    seen = await front.engine.ledger.read(lambda conn: [tuple(row) for row in conn.execute(text("SELECT path, owner FROM seen"))])
    assert (answer.status_code, seen) == (202, [("/v1/sessions/s/complete", "ann")])


async def test_a_request_that_fails_leaves_nothing_under_its_key(front: Front) -> None:
    for path, body in (("/v1/memories", {**MEMORY, "kind": "nonsense"}), ("/v1/memories/none/pin", {})):
        assert (await front.post(path, body, **{"Idempotency-Key": "k"})).status_code >= 400
        assert await count(front, idempotency_keys) == 0


async def test_answers_of_recalls_are_not_kept_but_their_key_is(front: Front) -> None:
    await front.post("/v1/memories", MEMORY)
    asked = {"user_id": "ann", "query": "what is the gate code"}
    for _ in range(2):
        assert (await front.post("/v1/recall", asked, **{"Idempotency-Key": "r"})).status_code == 200
    assert (await front.post("/v1/recall", {**asked, "limit": 1}, **{"Idempotency-Key": "r"})).status_code == 422
    kept = await front.engine.ledger.read(lambda conn: repr(conn.execute(select(idempotency_keys)).all()))
    assert "gate code" not in kept


async def test_turns_under_a_key_are_answered_as_the_first_time(front: Front) -> None:
    body = turns_body({"role": "user", "content": "yes"})
    answers = [await front.post("/v1/sessions/s/turns", body, **{"Idempotency-Key": "t"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["recorded"] == 1


async def test_a_key_that_cannot_be_one_is_refused(front: Front) -> None:
    for key in ("x" * 256, "tab\tinside"):
        assert (await front.post("/v1/memories", MEMORY, **{"Idempotency-Key": key})).status_code == 422
