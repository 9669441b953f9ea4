"""Two operating-system processes settle the same slots at once: one head per slot, always, and the history is complete."""

import itertools
import multiprocessing
import os
from collections import Counter, defaultdict

from sqlalchemy import select

from hindwise.ledger.schema import evidence, memories, memory_events, memory_links, outbox, spaces
from tests.conformance.ledger import rival

ROUNDS = int(os.environ.get("HINDWISE_TEST_ROUNDS", "500"))
USERS = max(1, ROUNDS // 10)
_LIMIT_S = 240.0


def let_two_run(url):
    """The ids that both processes were told, in all."""
    fresh = multiprocessing.get_context("spawn")
    together, told = fresh.Barrier(2), fresh.Queue()
    running = [fresh.Process(target=rival.run, args=(url, ROUNDS, USERS, together, told), daemon=True) for _ in range(2)]
    try:
        for process in running:
            process.start()
        answers = dict(told.get(timeout=_LIMIT_S) for _ in running)
        for process in running:
            process.join(30)
        assert [process.exitcode for process in running] == [0, 0]
        return answers
    finally:
        for process in running:
            process.kill()


async def test_two_processes_settle_the_same_slots_and_one_head_stands_in_each(ledger, ledger_url):
    answers = let_two_run(ledger_url)

    def look(conn):
        return (
            conn.execute(select(memories)).all(),
            conn.execute(select(memory_events).order_by(memory_events.c.no)).all(),
            conn.execute(select(memory_links)).all(),
            Counter(conn.execute(select(evidence.c.memory_id)).scalars()),
            set(conn.execute(select(outbox.c.memory_id)).scalars()),
            conn.execute(select(spaces.c.name)).scalars().all(),
        )

    rows, events, links, said, dirty, names = await ledger.read(look)
    by_id = {row.id: row for row in rows}
    assert sorted(names) == sorted([*(f"user:u{n}" for n in range(USERS)), rival.AGENT_SPACE])
    assert {memory_id for ids in answers.values() for memory_id in ids} == set(by_id) == dirty
    one_head_per_slot(rows)
    whole_chains(by_id, events)
    superseded = {(link.to_id, link.from_id) for link in links if link.kind == "supersedes"}
    assert superseded == {(row.id, row.superseded_by) for row in rows if row.superseded_by}
    # What both said is one memory with two tasks behind it; what they said differently is one each.
    assert Counter((row.attribute or row.kind, row.evidence_count) for row in rows) == {
        ("seat", 1): 2 * ROUNDS,
        ("city", 2): ROUNDS,
        ("lesson", 2): len(range(0, ROUNDS, rival.LESSON_EVERY)),
    }
    assert said == {row.id: row.evidence_count for row in rows}


def one_head_per_slot(rows):
    slots = defaultdict(list)
    for row in rows:
        if row.slot_key:
            slots[row.space, row.slot_key].append(row)
    assert len(slots) == 2 * USERS
    for slot in slots.values():
        [head] = [row for row in slot if row.head]
        assert (head.status, head.version) == ("active", len(slot))
        assert sorted(row.version for row in slot) == list(range(1, len(slot) + 1))
        assert all(row.status == "superseded" and row.superseded_by for row in slot if not row.head)


def whole_chains(by_id, events):
    """Each memory's events follow one another without a gap, and the last one says what the row says."""
    chains = defaultdict(list)
    for event in events:
        chains[event.memory_id].append(event)
    assert set(chains) == set(by_id)
    for memory_id, chain in chains.items():
        assert chain[0].action == "recorded"
        for earlier, later in itertools.pairwise(chain):
            assert later.before == earlier.after
        row, last = by_id[memory_id], chain[-1].after
        assert {name: last[name] for name in ("status", "head", "version", "superseded_by", "evidence_count")} == {
            "status": row.status,
            "head": row.head,
            "version": row.version,
            "superseded_by": row.superseded_by,
            "evidence_count": row.evidence_count,
        }
