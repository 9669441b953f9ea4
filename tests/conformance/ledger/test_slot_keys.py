"""A ledger whose slots an older lexicon named: the next writer names them anew, and nothing is closed by it."""

from datetime import timedelta

from sqlalchemy import select, update

from hindwise.ledger import memories, spaces
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.ledger.schema import memories as rows
from hindwise.ledger.schema import spaces as space_rows
from hindwise.lifecycle.aging import AgingRules
from hindwise.resolve.slots import key_version
from tests.build import NOON, TENANT, make_draft

SPACE = "user:u1"


def said(reflection_id, draft, day=0):
    """A unit of work that settles one draft as `reflection_id`."""
    at = NOON + timedelta(days=day)

    def work(conn):
        options = {"actor": reflection_id, "now": at, "rules": AgingRules(), "min_confidence": 0.4, "default_valid_from": at}
        return Resolution(conn, TENANT, reflection_id, **options).run([Placement(0, draft, SPACE)])

    return work


def liking(thing, value, conclusion):
    """A wish about a thing."""
    return make_draft(conclusion, attribute=thing, value=value)


async def named_by_older_words(ledger, *keys):
    """As if a lexicon that did not know these words had named the slots: `keys` by value."""

    def work(conn):
        for value, key in keys:
            conn.execute(update(rows).where(rows.c.value == value).values(slot_key=key))
        conn.execute(update(space_rows).values(slot_keys="an older lexicon"))

    await ledger.write(work)


async def kept(ledger):
    """Status, head and key by value."""

    def work(conn):
        return {row.value: (row.status, row.head, row.slot_key) for row in memories.page(conn, TENANT, [SPACE], limit=100)}

    return await ledger.read(work)


async def test_what_was_kept_under_an_older_key_is_met_in_the_other_language(ledger):
    """The key was the English words as they are."""
    await ledger.write(said("r1", liking("green tea", "likes", "Likes green tea")))
    await named_by_older_words(ledger, ("likes", "wish\x1fuser\x1fold words\x1f"))
    (decision,) = await ledger.write(said("r2", liking("绿茶", "不喜欢", "不喜欢绿茶"), day=1))
    assert decision.action == "supersede"
    found = await kept(ledger)
    assert [(status, head) for status, head, _ in found.values()].count(("active", True)) == 1
    assert len({key for _, _, key in found.values()}) == 1
    versions = select(space_rows.c.slot_keys).where(space_rows.c.name == SPACE)
    assert await ledger.read(lambda conn: conn.execute(versions).scalar_one()) == key_version()


async def test_two_heads_that_meet_both_stay_and_the_later_one_has_the_slot(ledger):
    """A lexicon closes nobody's memory; what is said next closes the one that was said last."""
    await ledger.write(said("r1", liking("green tea", "likes", "Likes green tea")))
    await ledger.write(said("r2", liking("tea of leaves", "不喜欢", "不喜欢绿茶"), day=1))
    await ledger.write(lambda conn: conn.execute(update(rows).where(rows.c.value == "不喜欢").values(attribute="绿茶")))
    await named_by_older_words(ledger)
    await ledger.write(lambda conn: spaces.lock(conn, TENANT, [SPACE]))
    found = await kept(ledger)
    assert {value: (status, head) for value, (status, head, _) in found.items()} == {"likes": ("active", True), "不喜欢": ("active", True)}
    slot = found["不喜欢"][2]
    assert found["likes"][2].startswith(f"{slot}\x1fbeside ")
    (decision,) = await ledger.write(said("r3", liking("green tea", "loves", "Loves green tea"), day=2))
    assert decision.action == "supersede"
    assert {value: status for value, (status, _, _) in (await kept(ledger)).items()} == {
        "likes": "active",
        "不喜欢": "superseded",
        "loves": "active",
    }


async def test_heads_may_change_places(ledger):
    """One comes where another one leaves."""
    await ledger.write(said("r1", liking("tea", "hot", "Likes hot tea")))
    await ledger.write(said("r2", liking("coffee", "cold", "Likes cold coffee")))
    before = await kept(ledger)
    await ledger.write(lambda conn: conn.execute(update(rows).values(slot_key=rows.c.id)))
    await named_by_older_words(ledger, ("hot", before["cold"][2]), ("cold", before["hot"][2]))
    await ledger.write(lambda conn: spaces.lock(conn, TENANT, [SPACE]))
    assert await kept(ledger) == before


async def test_a_space_whose_keys_are_of_today_is_left_alone(ledger):
    """Naming anew is for what differs."""
    await ledger.write(said("r1", liking("tea", "hot", "Likes hot tea")))
    await ledger.write(lambda conn: conn.execute(update(rows).values(slot_key="as it is")))
    await ledger.write(lambda conn: spaces.lock(conn, TENANT, [SPACE]))
    assert (await kept(ledger))["hot"][2] == "as it is"
