"""Erasing a user over HTTP: accepted whatever is down, told by a receipt that names nobody, and gone also from what was kept beside it."""

import json
from datetime import timedelta

from sqlalchemy import select

from api.sweeper import Sweeper
from hindwise.ledger import erasures, keys
from hindwise.ledger.schema import idempotency_keys
from hindwise.privacy import erase_user
from tests.api.front import Front, turns_body


async def _asked(front: Front, user: str = "ann", **headers: str) -> dict[str, str]:
    answer = await front.post("/v1/erasures", {"user_id": user}, **headers)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == answer.json()["status_url"]
    told: dict[str, str] = answer.json()
    return told


async def _receipt(front: Front, erasure_id: str) -> dict[str, object]:
    answer = await front.http.get(f"/v1/erasures/{erasure_id}")
    assert answer.status_code == 200, answer.text
    told: dict[str, object] = answer.json()
    return told


async def test_an_erasure_is_accepted_started_and_told(front: Front) -> None:
    await front.post("/v1/sessions/s1/turns", turns_body())
    asked = await _asked(front)
    await front.settled()
    assert asked["status"] == "queued"
    assert asked["workflow_id"] == f"erase/{asked['erasure_id']}"
    assert [told.erasure_id for told in front.starter.erasures] == [asked["erasure_id"]]
    assert (await _receipt(front, asked["erasure_id"]))["status"] == "queued"
    await erase_user.erase(front.engine, asked["erasure_id"])
    receipt = await _receipt(front, asked["erasure_id"])
    assert receipt["status"] == "completed"
    assert receipt["ledger"]["turns"] == receipt["ledger"]["sessions"] == 1  # type: ignore[index]
    assert set(receipt["found_again"].values()) == {0}  # type: ignore[attr-defined]
    assert "ann" not in json.dumps(receipt)
    assert (await front.http.get("/v1/sessions/s1")).status_code == 404


async def test_an_unknown_user_gets_a_receipt_with_zeros(front: Front) -> None:
    """Nobody learns by asking who is known here; and whoever is erased twice gets such a second receipt."""
    await front.post("/v1/sessions/s1/turns", turns_body())
    first, stranger = await _asked(front), await _asked(front, "nobody-here")
    assert set(first) == set(stranger)
    for asked in (first, stranger):
        await erase_user.erase(front.engine, asked["erasure_id"])
    second = await _asked(front)
    assert second["erasure_id"] != first["erasure_id"]
    await erase_user.erase(front.engine, second["erasure_id"])
    for asked in (stranger, second):
        ledger = (await _receipt(front, asked["erasure_id"]))["ledger"]
        assert {name: number for name, number in ledger.items() if number} == {"spaces": 1}  # type: ignore[attr-defined]


async def test_asked_again_before_it_is_wiped_the_same_erasure_answers(front: Front) -> None:
    """And is told to Temporal again, which lets one that waits go on."""
    first, again = await _asked(front), await _asked(front)
    await front.settled()
    assert first["erasure_id"] == again["erasure_id"]
    assert [told.erasure_id for told in front.starter.erasures] == [first["erasure_id"]] * 2


async def test_an_erasure_is_accepted_while_temporal_is_down_and_started_by_the_sweep(front: Front) -> None:
    front.starter.down = True
    asked = await _asked(front)
    await front.settled()
    assert front.starter.erasures == []
    front.starter.down = False
    front.engine.clock.advance(seconds=10)  # type: ignore[attr-defined]
    sweeper = Sweeper(front.services.dispatch)
    assert await sweeper.sweep() == 1
    assert [told.erasure_id for told in front.starter.erasures] == [asked["erasure_id"]]
    assert await sweeper.sweep() == 0
    front.engine.clock.advance(timedelta(minutes=20))  # type: ignore[attr-defined]
    assert await sweeper.sweep() == 1  # its workflow may be lost
    await erase_user.erase(front.engine, asked["erasure_id"])
    front.engine.clock.advance(timedelta(minutes=20))  # type: ignore[attr-defined]
    assert await sweeper.sweep() == 0


async def test_a_key_may_erase_if_it_may_write_and_only_in_its_tenant(front: Front) -> None:
    now = front.engine.clock.now()
    made = {name: keys.new_key() for name in ("reader", "writer", "stranger")}

    def add(conn):  # type: ignore[no-untyped-def]
        keys.add(conn, "default", "reader", ["read"], now, made["reader"])
        keys.add(conn, "default", "writer", ["write", "read"], now, made["writer"])
        keys.add(conn, "other", "stranger", ["admin"], now, made["stranger"])

    await front.engine.ledger.write(add)
    bearer = {name: {"Authorization": f"Bearer {key}"} for name, key in made.items()}
    assert (await front.post("/v1/erasures", {"user_id": "ann"}, **bearer["reader"])).status_code == 403
    asked = await _asked(front, **bearer["writer"])
    path = f"/v1/erasures/{asked['erasure_id']}"
    assert (await front.http.get(path, headers=bearer["stranger"])).status_code == 404
    await front.post("/v1/sessions/s1/turns", turns_body())
    other = await _asked(front, **bearer["stranger"])
    await erase_user.erase(front.engine, other["erasure_id"])
    assert (await front.http.get("/v1/sessions/s1")).status_code == 200


async def test_a_user_who_comes_back_begins_anew(front: Front) -> None:
    """The same session id, the same run id, the same words: all of it is new."""
    run = {"user_id": "ann", "run_id": "r1", "turns": [{"role": "user", "content": "I always prefer window seats"}]}
    await front.post("/v1/sessions/s1/turns", turns_body())
    first = (await front.post("/v1/episodes", run)).json()
    asked = await _asked(front)
    await erase_user.erase(front.engine, asked["erasure_id"])
    assert (await front.post("/v1/sessions/s1/turns", turns_body())).json()["turn_count"] == 1
    again = (await front.post("/v1/episodes", run)).json()
    assert (again["episode_id"], again["duplicate"]) == (first["episode_id"], False)
    assert (await front.post("/v1/memories", {"user_id": "ann", "content": "My hotel is the Adlon"})).status_code == 201


async def test_kept_answers_belong_to_a_user_and_go_with_them(front: Front) -> None:
    """Also where only the path, or the answer, tells whose they are; the answer to the erasure itself stays."""

    async def kept() -> dict[str, str]:
        rows = await front.engine.ledger.read(lambda conn: conn.execute(select(idempotency_keys)).all())
        return {row.key: row.owner for row in rows}

    await front.post("/v1/sessions/s1/turns", turns_body(), **{"Idempotency-Key": "by-body"})
    await front.post("/v1/sessions/s1/checkpoint", {"done": "all"}, **{"Idempotency-Key": "by-path"})
    done = {"outcome": {"status": "failure", "source": "env"}}
    episode = (await front.post("/v1/sessions/s1/complete", done, **{"Idempotency-Key": "by-session"})).json()["episode_id"]
    verdict = {"status": "success", "source": "env"}
    await front.post(f"/v1/episodes/{episode}/outcome", verdict, **{"Idempotency-Key": "by-episode"})
    await front.post("/memory", {"content": "likes tea"}, **{"Idempotency-Key": "by-answer"})
    await front.post("/v1/memories", {"agent_id": "bot", "content": "Check the stock first"}, **{"Idempotency-Key": "of-agent"})
    assert await kept() == {
        **dict.fromkeys(("by-body", "by-path", "by-session", "by-episode"), "ann"),
        "by-answer": "default",
        "of-agent": "",
    }
    asked = await _asked(front, **{"Idempotency-Key": "erase"})
    assert (await _asked(front, **{"Idempotency-Key": "erase"}))["erasure_id"] == asked["erasure_id"]
    await erase_user.erase(front.engine, asked["erasure_id"])
    assert set(await kept()) == {"by-answer", "of-agent", "erase"}


async def test_what_was_asked_before_an_erasure_is_not_logged_after_it(front: Front) -> None:
    """The log of recalls is written behind the answer; what it still holds of an erased user is dropped. Who came back is logged again."""
    await front.post("/v1/memories", {"user_id": "ann", "content": "My hotel is the Adlon"})
    ask = {"query": "which hotel?"}
    recalled = [(await front.post("/v1/recall", {"user_id": user, **ask})).json()["recall_id"] for user in ("ann", "new-here")]
    for user in ("ann", "new-here"):
        await erase_user.erase(front.engine, (await _asked(front, user))["erasure_id"])
    await front.settled()
    assert [(await front.http.get(f"/v1/recalls/{one}")).status_code for one in recalled] == [404, 404]
    await front.post("/v1/memories", {"user_id": "ann", "content": "My hotel is the Adlon"})
    again = (await front.post("/v1/recall", {"user_id": "ann", **ask})).json()["recall_id"]
    other = (await front.post("/v1/recall", {"agent_id": "bot", **ask})).json()["recall_id"]
    await front.settled()
    assert [(await front.http.get(f"/v1/recalls/{one}")).status_code for one in (again, other)] == [200, 200]


async def test_the_receipt_knows_the_user_until_it_is_wiped_and_not_longer(front: Front) -> None:
    asked = await _asked(front)
    this = await front.engine.ledger.read(lambda conn: erasures.get(conn, asked["erasure_id"]))
    assert (this.user_id, this.user_hash) == ("ann", erasures.hash_of(front.engine.secret, "default", "ann"))
    await erase_user.erase(front.engine, this.id)
    assert (await front.engine.ledger.read(lambda conn: erasures.get(conn, this.id))).user_id == ""
