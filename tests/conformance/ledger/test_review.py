"""What a person says of a memory, on every database: confirm, edit, reject."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from hindwise.errors import NotAllowed
from hindwise.ledger import memories, review, upkeep
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.ledger.schema import outbox
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.memory import Status
from tests.build import NOON, TENANT, make_draft, make_evidence

DAY = timedelta(days=1)


def resolve(reflection_id, *drafts, day=0, replaces=()):
    def work(conn):
        resolution = Resolution(
            conn,
            TENANT,
            reflection_id,
            actor=f"reflection:{reflection_id}",
            now=NOON + day * DAY,
            rules=AgingRules(),
            min_confidence=0.4,
            default_valid_from=NOON + day * DAY,
        )
        placed = [Placement(n, draft, "user:u1") for n, draft in enumerate(drafts)]
        return resolution.run(placed, replaces=replaces, replaces_why="looked at again")

    return work


def confirm(memory_id, day=1):
    return lambda conn: review.confirm(conn, TENANT, memory_id, actor="api:k1", now=NOON + day * DAY, why="on the phone")


def reject(memory_id, day=1):
    return lambda conn: review.reject(conn, TENANT, memory_id, actor="api:k1", now=NOON + day * DAY, reason="不对")


def edit(memory_id, day=1, **words):
    return lambda conn: review.edit(conn, TENANT, memory_id, words, actor="api:k1", now=NOON + day * DAY)


async def held(ledger, memory_id):
    return (await ledger.read(lambda conn: memories.load(conn, TENANT, memory_id)))[0]


async def history(ledger, memory_id):
    return [(e.action, e.actor, e.why) for e in await ledger.read(lambda conn: memories.history(conn, memory_id))]


async def test_a_confirmed_guess_takes_the_slot_from_the_head_and_never_expires(ledger):
    (head,) = await ledger.write(resolve("r1", make_draft("window", kind="fact")))
    (guess,) = await ledger.write(resolve("r2", make_draft("aisle", kind="fact", confidence=0.2), day=1))
    assert (await held(ledger, guess.memory_id)).status is Status.PENDING
    confirmed, replaced = await ledger.write(confirm(guess.memory_id))
    assert (confirmed.status, confirmed.head, confirmed.confirmed_by, replaced) == (Status.ACTIVE, True, "api:k1", (head.memory_id,))
    older = await held(ledger, head.memory_id)
    assert (older.status, older.head, older.superseded_by) == (Status.SUPERSEDED, False, confirmed.id)
    assert (await history(ledger, confirmed.id))[-1] == ("confirmed", "api:k1", "on the phone")
    assert await ledger.write(lambda conn: upkeep.expire(conn, NOON + 4000 * DAY, 100)) == 0
    await ledger.write(confirm(guess.memory_id, day=2))
    assert len(await history(ledger, confirmed.id)) == 2, "said again, it changes nothing"


def marks(conn):
    return {row.memory_id: row.mark for row in conn.execute(select(outbox))}


async def test_the_index_is_told_of_every_judgement_at_once(ledger):
    made = await ledger.write(
        resolve("r1", make_draft("window"), make_draft("烧烤", attribute="food"), make_draft("tea", attribute="drink"))
    )
    ids = [decision.memory_id for decision in made]
    before = await ledger.read(marks)
    await ledger.write(confirm(ids[0]))
    await ledger.write(reject(ids[1]))
    new, _ = await ledger.write(edit(ids[2], value="green tea", conclusion="Drinks green tea"))
    after = await ledger.read(marks)
    assert all(after[memory_id] > before[memory_id] for memory_id in ids)
    assert new.id in after


async def test_a_rejected_memory_is_history_and_what_it_had_replaced_stands_again(ledger):
    (old,) = await ledger.write(resolve("r1", make_draft("window")))
    (new,) = await ledger.write(resolve("r2", make_draft("aisle"), day=1))
    await ledger.write(reject(new.memory_id, day=2))
    rejected, again = await held(ledger, new.memory_id), await held(ledger, old.memory_id)
    assert (rejected.status, rejected.head, rejected.close_reason) == (Status.RETRACTED, False, "rejected: 不对")
    assert (again.status, again.head, again.superseded_by, again.valid_to) == (Status.ACTIVE, True, "", None)
    with pytest.raises(NotAllowed, match="history"):
        await ledger.write(confirm(new.memory_id, day=3))


async def test_what_a_person_rejected_is_not_learned_again_from_what_was_said_before(ledger):
    lesson = make_draft("Ask for the number first", kind="lesson")
    made = await ledger.write(resolve("r1", make_draft("window"), lesson))
    for decision in made:
        await ledger.write(reject(decision.memory_id))
    again = await ledger.write(resolve("r2", make_draft("window"), lesson, day=0))
    assert [(d.action, d.memory_id) for d in again] == [("rejected", ""), ("rejected", "")]
    later = await ledger.write(resolve("r3", make_draft("window"), lesson, day=5))
    assert [d.action for d in later] == ["add", "rejected"], "who says it again means it; a lesson in the same words stays rejected"


async def test_an_edit_is_a_new_memory_with_the_same_evidence_that_a_later_look_does_not_take_back(ledger):
    (old,) = await ledger.write(resolve("r1", make_draft("靠窗", evidence=(make_evidence("e1", "我喜欢靠窗"),), language="zh")))
    new, replaced = await ledger.write(edit(old.memory_id, conclusion="喜欢靠过道的座位", value="靠过道"))
    assert (replaced, new.head, new.version, new.confirmed_by) == ((old.memory_id,), True, 2, "api:k1")
    assert [item.quote for item in (await held(ledger, new.id)).evidence] == ["我喜欢靠窗"]
    repeated, _ = await ledger.write(edit(old.memory_id, conclusion="喜欢靠过道的座位", value="靠过道"))
    assert repeated.id == new.id
    await ledger.write(resolve("r2", make_draft("cheap", attribute="price"), day=2, replaces=["r1"]))
    assert (await held(ledger, new.id)).status is Status.ACTIVE
    with pytest.raises(NotAllowed, match="same"):
        await ledger.write(edit(new.id, value="靠过道"))


async def test_an_edit_that_moves_to_another_slot_takes_that_slot_too(ledger):
    made = await ledger.write(resolve("r1", make_draft("window"), make_draft("vegan", attribute="food")))
    new, replaced = await ledger.write(edit(made[0].memory_id, attribute="food", value="vegetarian", conclusion="Eats vegetarian"))
    assert set(replaced) == {made[0].memory_id, made[1].memory_id}
    assert (new.head, new.version) == (True, 2)


async def test_examples_are_what_people_confirmed_in_one_language_and_the_queue_is_what_waits(ledger):
    made = await ledger.write(
        resolve(
            "r1",
            make_draft("window", evidence=(make_evidence("e1", "window please"),)),
            make_draft("素食", attribute="food", language="zh"),
            make_draft("tea", attribute="drink", confidence=0.1),
        )
    )
    for decision in made[:2]:
        await ledger.write(confirm(decision.memory_id))
    english = await ledger.read(lambda conn: review.confirmed_examples(conn, TENANT, "en", 3, own="user:u1"))
    chinese = await ledger.read(lambda conn: review.confirmed_examples(conn, TENANT, "zh", 3, own="user:u1"))
    assert await ledger.read(lambda conn: review.confirmed_examples(conn, TENANT, "en", 3, own="user:u2")) == []
    assert [(m.conclusion, m.evidence[0].quote) for m in english] == [("window", "window please")]
    assert [m.conclusion for m in chinese] == ["素食"]
    everybody = await ledger.read(lambda conn: review.waiting(conn, TENANT, None, limit=10))
    nobody = await ledger.read(lambda conn: review.waiting(conn, TENANT, ["user:u2"], limit=10))
    assert ([row.conclusion for row in everybody], nobody) == (["tea"], [])
