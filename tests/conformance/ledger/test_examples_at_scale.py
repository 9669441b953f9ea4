"""What people confirmed is found in its language however much else they confirmed, by reading no row that is not told."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import event, text

from hindwise.ledger import memory_changes, review, spaces
from hindwise.ledger.databases import read_in_order
from hindwise.model.memory import Status
from tests.build import NOON, TENANT, make_memory

OTHER = {"en": "zh", "zh": "en"}
WORDS = {"en": "Ask for the number {}", "zh": "先问编号 {}"}


def keep(conn, space, lang, numbers, *, kind="lesson", tenant=TENANT, **fields):
    space_no = spaces.lock(conn, tenant, [space])[space].no
    for number in numbers:
        name = f"{space}-{lang}-{kind}-{number}"
        fields = {"confirmed_by": "api:k", "status": Status.ACTIVE, "attribute": name, **fields}
        at = NOON + timedelta(minutes=number)
        kept = make_memory(WORDS[lang].format(number), id=name[:36], kind=kind, space=space, tenant_id=tenant, language=lang, **fields)
        memory_changes.insert_memory(conn, space_no, kept.model_copy(update={"recorded_at": at}), actor="test", why="set up")


def told(conn, lang, *, own="user:ann", most=4):
    return [memory.id for memory in review.confirmed_examples(conn, TENANT, lang, most, own=own)]


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_newer_ones_in_the_other_language_hide_none(ledger, lang):
    def work(conn):
        keep(conn, "user:ann", lang, [1, 3], kind="preference")
        keep(conn, "agent:desk", lang, [2, 4])
        keep(conn, "user:ann", OTHER[lang], range(100, 170), kind="preference")
        keep(conn, "agent:desk", OTHER[lang], range(100, 170))

    await ledger.write(work)
    expected = [f"agent:desk-{lang}-lesson-4", f"user:ann-{lang}-preference-3"]
    expected += [f"agent:desk-{lang}-lesson-2", f"user:ann-{lang}-preference-1"]
    assert await ledger.read(lambda conn: told(conn, lang)) == expected
    assert await ledger.read(lambda conn: told(conn, lang, own="")) == expected[::2]
    assert await ledger.read(lambda conn: told(conn, lang, most=1)) == expected[:1]


async def test_what_is_of_others_or_not_confirmed_or_history_is_not_told(ledger):
    def work(conn):
        keep(conn, "user:ben", "en", [1], kind="preference")
        keep(conn, "agent:desk", "en", [2], kind="preference")
        keep(conn, "agent:desk", "en", [3], status=Status.SUPERSEDED)
        keep(conn, "agent:desk", "en", [4], confirmed_by="")
        keep(conn, "agent:desk", "en", [5], tenant="another")

    await ledger.write(work)
    assert await ledger.read(lambda conn: told(conn, "en")) == []


@pytest.mark.parametrize("ledger_url", ["postgres"], indirect=True)  # SQLite walks anyway
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_both_are_asked_where_postgres_may_not_sort(ledger, lang):
    """Of a table whose rows lie scattered it may find that cheaper, and would read all."""
    asked = []
    event.listen(ledger.engine, "before_cursor_execute", lambda conn, cursor, statement, *rest: asked.append(statement))
    assert await ledger.read(lambda conn: told(conn, lang)) == []
    [begun] = [place for place, statement in enumerate(asked) if "enable_sort = off" in statement]
    questions = [place for place, statement in enumerate(asked) if "LIMIT" in statement]
    assert questions == [begun + 1, begun + 2]
    assert asked[begun + 3] == "COMMIT"


async def test_neither_question_reads_or_sorts_more_than_it_tells(ledger):
    """However many there are: both walk an index of exactly these, in order."""

    def work(conn):
        keep(conn, "agent:desk", "en", range(300))
        keep(conn, "agent:desk", "zh", range(300))
        keep(conn, "user:ann", "zh", range(300), kind="preference")
        conn.execute(text("ANALYZE"))

    await ledger.write(work)
    asked = {"tenant": TENANT, "lang": "zh", "most": 3, "own": "user:ann"}
    for question, index in ((review._OWN_EXAMPLES, "ix_memories_confirmed"), (review._SHARED_EXAMPLES, "ix_memories_examples")):

        def plan(conn, question=question):
            how = "EXPLAIN QUERY PLAN " if not ledger.is_shared else "EXPLAIN ANALYZE "
            compiled = question.statement.compile(conn)
            given = {name: asked.get(name, value) for name, value in compiled.params.items()}
            values = tuple(given[name] for name in compiled.positiontup) if compiled.positional else given
            with read_in_order(conn):
                return "\n".join(str(tuple(row)) for row in conn.exec_driver_sql(how + str(compiled), values))

        found = await ledger.read(plan)
        assert index in found, found
        assert "B-TREE" not in found and "Sort" not in found and not re.search(r"Removed by Filter: \d\d", found), found
