"""What is not validated again on the way of a recall is still what it would be: outlines next to memories, items next to their model."""

from hindwise.ledger import memories
from hindwise.model.brief import RecallItem
from hindwise.recall import queries
from hindwise.recall.rows import outline_of, telling_of
from hindwise.recall.survey import survey
from tests.engine.recall import pinned
from tests.engine.recall.helpers import TENANT, ask, fact, keep, quoting


async def test_an_outline_says_what_the_whole_memory_says(running) -> None:
    engine, _ = running
    await pinned.fill(engine)

    def read(conn):
        numbers = list(survey(conn, TENANT, ["user:a", "agent:x"]).numbers.values())
        rows = queries.newest_rows(conn, numbers, 1_000)
        return [(outline_of(row), telling_of(row), memories.load(conn, TENANT, row.id)[0]) for row in rows]

    found = await engine.ledger.read(read)
    assert len(found) > 300
    for outline, told, kept in found:
        assert outline._asdict() == {name: getattr(kept, name) for name in outline._fields}
        assert told._replace(retrospective={})._asdict() == {name: getattr(kept, name) for name in told._fields} | {"retrospective": {}}
        assert told.retrospective == kept.retrospective.model_dump()
    assert len({outline.origin for outline, _, _ in found}) == 3


async def test_an_item_is_a_valid_one_in_both_languages(running) -> None:
    engine, recaller = running
    await pinned.fill(engine)
    await keep(engine, "user:a", fact("The camera is booked for May", evidence=quoting("e-1", "camera in May")))
    await keep(engine, "user:a", fact("港口酒店的预算已经批准", evidence=quoting("e-2", "预算已经批准")))
    for text in ("Where is the camera booking near the window", "港口酒店的预算是多少，火车座位靠窗吗"):
        answer = await ask(recaller, text, user="a", explain=True, include_retrospective=True, limit=20)
        assert answer.items
        assert any(item.evidence for item in answer.items)
        for item in answer.items:
            assert RecallItem.model_validate(item.model_dump()) == item
            assert RecallItem.model_validate_json(item.model_dump_json()) == item
