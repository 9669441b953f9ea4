"""Memories by hand, recall, feedback and erasure over HTTP."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from hindwise.index.projection import index_space
from hindwise.ledger import memory_changes, memory_erasure, spaces
from hindwise.ledger.schema import memories
from hindwise.testing import FixedClock
from tests.api.front import Front, open_front
from tests.build import make_evidence, make_memory


async def made(front: Front, content: str, **fields: Any) -> dict[str, Any]:
    answer = await front.post("/v1/memories", {"user_id": "ann", "content": content, **fields})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_sentence_is_found_by_the_next_search_with_the_outbox_untouched(front: Front) -> None:
    added = await front.post("/memory", {"content": "User prefers replies in Chinese", "type": "preference"})
    assert (added.status_code, added.json()["status"]) == (201, "active")
    found = (await front.http.get("/memory/search", params={"q": "which language for replies"})).json()["results"]
    assert [(item["id"], item["content"]) for item in found] == [(added.json()["id"], "User prefers replies in Chinese")]
    zh = await front.post("/memory", {"content": "用户喜欢靠窗的座位", "user_id": "李雷"})
    hits = (await front.http.get("/memory/search", params={"q": "订靠窗座位", "user_id": "李雷"})).json()["results"]
    assert [item["id"] for item in hits] == [zh.json()["id"]]


async def test_a_new_value_of_a_property_replaces_the_older_and_history_shows_it(front: Front) -> None:
    old = await made(front, "Prefers aisle seats", kind="preference", attribute="seat", value="aisle")
    new = await made(front, "Prefers window seats", kind="preference", attribute="seat", value="window")
    assert (new["action"], new["supersedes"]) == ("supersede", [old["id"]])
    older = (await front.http.get(f"/v1/memories/{old['id']}")).json()
    assert (older["status"], older["superseded_by"]) == ("superseded", new["id"])
    listed = (await front.http.get("/v1/memories", params={"user_id": "ann", "status": "active"})).json()["items"]
    assert [item["memory_id"] for item in listed] == [new["id"]]


async def test_a_repeated_writing_under_one_key_has_one_effect(front: Front) -> None:
    body = {"user_id": "ann", "content": "The gate code changes every Monday"}
    answers = [await front.post("/v1/memories", body, **{"Idempotency-Key": "w1"}) for _ in range(3)]
    assert {answer.json()["id"] for answer in answers} == {answers[0].json()["id"]}
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", "true"]
    assert len((await front.http.get("/v1/memories", params={"user_id": "ann"})).json()["items"]) == 1


async def test_a_long_statement_is_kept_whole_behind_its_conclusion(front: Front) -> None:
    told = await made(front, "Always check the fare rules. " + "Detail follows. " * 80)
    memory = (await front.http.get(f"/v1/memories/{told['id']}")).json()
    assert len(memory["conclusion"]) <= 160
    assert memory["retrospective"]["what_happened"].count("Detail follows.") == 80


async def test_a_lesson_for_an_agent_is_told_to_all_who_use_it_and_a_users_memory_to_nobody_else(front: Front) -> None:
    await front.post("/v1/memories", {"agent_id": "bot", "kind": "lesson", "content": "Check the refund window before promising a refund"})
    await made(front, "I prefer a refund to my card")
    brief = (await front.post("/v1/recall", {"user_id": "bob", "agent_id": "bot", "query": "customer asks for a refund"})).json()
    assert [item["space"] for item in brief["items"]] == ["agent:bot"]
    assert "refund window" in brief["brief"]


async def test_recall_gives_the_brief_as_text_where_asked(front: Front) -> None:
    await made(front, "I prefer window seats")
    asked = {"user_id": "ann", "query": "book a seat by the window", "format": "text"}
    text = await front.post("/v1/recall", asked)
    by_url = await front.http.get("/v1/recall", params={"user_id": "ann", "q": "book a seat by the window", "format": "text"})
    assert text.headers["content-type"].startswith("text/plain")
    assert "window seats" in text.text
    assert text.text == by_url.text
    whole = (await front.post("/v1/recall", {**asked, "format": "json"})).json()
    assert text.text == f"{whole['brief']}\n", "it ends its last line, for terminals; the brief and its tokens are counted without"
    nothing = await front.post("/v1/recall", {**asked, "user_id": "ben", "query": "订靠窗的座位"})
    assert (nothing.status_code, nothing.text) == (200, "")
    assert text.headers["x-recall-id"]


async def test_nothing_relevant_is_an_empty_brief_that_says_why(front: Front) -> None:
    answer = (await front.post("/v1/recall", {"user_id": "nobody", "query": "anything at all"})).json()
    assert (answer["brief"], answer["items"]) == ("", [])
    assert answer["reason"]


async def test_feedback_counts_at_once_and_a_changed_mind_replaces_the_first(front: Front) -> None:
    told = await made(front, "I prefer window seats")
    recalled = (await front.post("/v1/recall", {"user_id": "ann", "query": "a seat by the window please"})).json()
    await front.settled()
    url = f"/v1/recalls/{recalled['recall_id']}"
    assert (await front.http.get(url)).json()["memory_ids"] == [told["id"]]
    for verdict, expected in (("helpful", (1, 0)), ("helpful", (1, 0)), ("harmful", (0, 1))):
        assert (await front.post(f"{url}/feedback", {"verdict": verdict})).json()["counted"] == 1
        memory = (await front.http.get(f"/v1/memories/{told['id']}")).json()
        assert (memory["helpful"], memory["harmful"]) == expected
    stranger = await front.post(f"{url}/feedback", {"verdict": "helpful", "memory_id": "0" * 8})
    assert stranger.status_code == 404


async def test_an_erased_memory_is_gone_from_ledger_index_and_recall(front: Front) -> None:
    told = await made(front, "I prefer window seats")
    await front.engine.projection.one_space()
    space = index_space("default", "user:ann")
    assert await front.engine.index.ids(space) == {told["id"]}
    assert (await front.http.delete(f"/v1/memories/{told['id']}")).status_code == 204
    assert await front.engine.index.ids(space) == set()
    assert (await front.http.get(f"/v1/memories/{told['id']}")).status_code == 404
    assert (await front.http.delete(f"/v1/memories/{told['id']}")).status_code == 404
    assert (await front.post("/v1/recall", {"user_id": "ann", "query": "window seats"})).json()["items"] == []


async def test_no_file_holds_a_word_of_an_erased_memory_while_everything_runs(front: Front) -> None:
    told = await made(front, "I prefer canary-7391 seats", retrospective={"what_happened": "canary-7391 又说了一遍"})
    await front.engine.projection.one_space()
    files = [path for path in front.engine.settings.data.iterdir() if path.is_file()]
    assert any(b"canary-7391" in path.read_bytes() for path in files)
    assert (await front.http.delete(f"/v1/memories/{told['id']}")).status_code == 204
    assert [path.name for path in files if b"canary-7391" in path.read_bytes()] == []


async def test_a_secret_in_a_statement_or_a_question_is_masked(front: Front) -> None:
    told = await made(front, "My API key is sk-live4f9a8b7c6d5e4f3a2b1c, keep it")
    assert "sk-live4f9a" not in (await front.http.get(f"/v1/memories/{told['id']}")).text
    recalled = (await front.post("/v1/recall", {"user_id": "ann", "query": "use sk-live4f9a8b7c6d5e4f3a2b1c to log in"})).json()
    await front.settled()
    assert "sk-live4f9a" not in (await front.http.get(f"/v1/recalls/{recalled['recall_id']}")).text


@pytest.mark.parametrize("content", ["", "   ", "\u200b\x00", "\n\t"])
async def test_a_statement_without_words_is_refused_or_kept_but_never_a_fault(front: Front, content: str) -> None:
    assert (await front.post("/v1/memories", {"user_id": "ann", "content": content})).status_code in {201, 422}


async def test_a_list_tells_where_each_memory_stands_and_quotes_only_to_its_user(front: Front) -> None:
    turns = [
        {"turn_id": "t1", "role": "user", "content": "From now on always answer in French, please."},
        {"turn_id": "t2", "role": "assistant", "content": "D'accord."},
    ]
    body = {"user_id": "ann", "agent_id": "desk", "run_id": "r1", "turns": turns, "outcome": {"status": "success"}}
    told = (await front.post("/v1/episodes", body)).json()
    episode = make_evidence(told["episode_id"], "always answer in French", turn_id="t1")

    def keep(conn: Connection) -> None:
        for space, memory_id in (("user:ann", "own"), ("agent:desk", "shared")):
            number = spaces.lock(conn, "default", [space])[space].no
            memory_changes.insert_memory(
                conn, number, make_memory("Answers in French", id=memory_id, space=space, evidence=(episode,)), actor="test", why="set up"
            )

    await front.engine.ledger.write(keep)
    for owner, quote in (({"user_id": "ann", "agent_id": "desk"}, "always answer in French"), ({"agent_id": "desk"}, "")):
        listed = (await front.http.get("/v1/memories", params=owner)).json()["items"]
        places = {item["memory_id"]: [(place["episode_id"], place["quote"]) for place in item["evidence"]] for item in listed}
        assert places.pop("shared") == [(told["episode_id"], quote)]
        assert all(place == [(told["episode_id"], quote)] for place in places.values())


async def test_a_memory_tells_what_happened_to_it_oldest_first(front: Front) -> None:
    seat = {"user_id": "ann", "kind": "preference", "attribute": "seat"}
    first = (await front.post("/v1/memories", {**seat, "content": "Prefers window seats", "value": "window"})).json()
    front.engine.clock.advance(hours=1)  # type: ignore[attr-defined]
    await front.post("/v1/memories", {**seat, "content": "Prefers aisle seats", "value": "aisle"})
    history = (await front.http.get(f"/v1/memories/{first['id']}")).json()["history"]
    assert [event["action"] for event in history] == ["recorded", "superseded"]
    assert "aisle" in history[1]["why"]
    assert history[0]["at"] < history[1]["at"]
    assert all(event["actor"] for event in history)
    listed = (await front.http.get("/v1/memories", params={"user_id": "ann"})).json()["items"]
    assert all("history" not in item for item in listed)


async def test_a_person_confirms_rejects_and_words_anew_and_the_next_recall_follows(front: Front) -> None:
    tea = await made(front, "I prefer green tea")
    seat = await made(front, "I prefer window seats")
    confirmed = await front.post(f"/v1/memories/{tea['id']}/confirm")
    assert (confirmed.status_code, confirmed.json()["action"]) == (200, "confirmed")
    kept = (await front.http.get(f"/v1/memories/{tea['id']}")).json()
    assert kept["confirmed_by"].startswith("api:")
    assert kept["expires_at"] is None
    edited = await front.http.patch(f"/v1/memories/{seat['id']}", json={"conclusion": "Prefers aisle seats", "reason": "座位记错了"})
    assert (edited.status_code, edited.json()["supersedes"]) == (200, [seat["id"]]), edited.text
    asked = {"user_id": "ann", "query": "book a seat", "format": "text"}
    assert "aisle" in (await front.post("/v1/recall", asked)).text
    new = (await front.http.get(f"/v1/memories/{edited.json()['id']}")).json()
    assert (new["value"], new["history"][0]["why"]) == ("aisle", "座位记错了")
    rejected = await front.post(f"/v1/memories/{edited.json()['id']}/reject", {"reason": "she never flies"})
    assert rejected.json()["status"] == "retracted"
    assert "aisle" not in (await front.post("/v1/recall", asked)).text
    again = await front.post(f"/v1/memories/{edited.json()['id']}/confirm", {})
    assert again.status_code in {403, 409}
    assert "history" in again.json()["detail"]


async def test_what_waits_is_listed_for_admins_or_for_the_one_who_is_named(front: Front) -> None:
    await made(front, "I prefer window seats")

    def doubt(conn: Connection) -> None:
        number = spaces.lock(conn, "default", ["user:ann"])["user:ann"].no
        waits = make_memory("Prefers tea", id="m-waits", space="user:ann", attribute="drink", status="pending", evidence=(make_evidence(),))
        memory_changes.insert_memory(conn, number, waits, actor="test", why="not sure enough")

    await front.engine.ledger.write(doubt)
    everybody = (await front.http.get("/v1/memories/review")).json()["items"]
    nobody = (await front.http.get("/v1/memories/review", params={"user_id": "bob"})).json()["items"]
    assert ([item["memory_id"] for item in everybody], nobody) == (["m-waits"], [])


async def test_what_is_erased_page_by_page_is_erased_whole(front: Front) -> None:
    """All of one instant: those of a page are gone when the next is asked for."""
    for number in range(7):
        await front.post("/v1/memories", {"user_id": "ann", "content": f"Gate {number} of the depot is shut. {number} 号门已经关闭。"})
    cursor, erased = "", 0
    for _ in range(9):
        told = (await front.http.get("/v1/memories", params={"user_id": "ann", "limit": 3, "cursor": cursor})).json()
        for memory in told["items"]:
            erased += (await front.http.delete(f"/v1/memories/{memory['memory_id']}")).status_code == 204
        cursor = told["next_cursor"] or ""
        if not cursor:
            break
    assert erased == 7


async def test_a_clock_that_was_wrong_for_a_while_leaves_nothing_that_lasts(tmp_path: Path) -> None:
    clock = FixedClock()
    async with open_front(tmp_path, clock=clock) as front:
        for step, content in ((timedelta(days=400), "I prefer window seats."), (timedelta(days=-400), "I prefer aisle seats.")):
            clock.advance(step)
            await front.post("/v1/memories", {"user_id": "ann", "content": content})
        told = (await front.post("/v1/recall", {"user_id": "ann", "query": "which seat?"})).json()
        assert [item["conclusion"] for item in told["items"]] == ["I prefer aisle seats."]
        [old] = (await front.http.get("/v1/memories", params={"user_id": "ann", "status": "superseded"})).json()["items"]
        assert old["valid_from"] <= old["valid_to"]


@pytest.mark.parametrize(("content", "kept"), [("\u200b\u200d\u2060", False), ("\u0301\u3000", False), ("👍", True), ("好", True)])
async def test_what_nobody_could_read_is_no_memory(front: Front, content: str, kept: bool) -> None:
    for path in ("/v1/memories", "/memory"):
        answer = await front.post(path, {"user_id": "ann", "content": content})
        assert answer.status_code == (201 if kept else 422)


@pytest.mark.parametrize("door", ["/v1/memories", "/memory"])
@pytest.mark.parametrize("content", ["I prefer window seats.", "我喜欢靠窗的座位。"])
async def test_what_an_erasure_takes_in_the_moment_after_it_was_kept_was_kept(
    front: Front, monkeypatch: pytest.MonkeyPatch, door: str, content: str
) -> None:
    ledger, erased = front.engine.ledger, []
    write = ledger.write

    async def then_erased(work: Any, **options: Any) -> Any:
        done = await write(work, **options)
        for memory_id in await ledger.read(lambda conn: conn.execute(select(memories.c.id)).scalars().all()):
            await write(lambda conn, one=memory_id: memory_erasure.erase(conn, front.engine.settings.tenant, one, front.engine.clock.now()))
            erased.append(memory_id)
        return done

    monkeypatch.setattr(ledger, "write", then_erased)
    answer = await front.post(door, {"user_id": "ann", "content": content})
    assert (answer.status_code, answer.json()["status"], [answer.json()["id"]]) == (201, "active", erased), answer.text
