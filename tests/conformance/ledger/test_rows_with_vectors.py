"""Rows of a recall with the vectors of some: of their own space and of the model that is asked for, the same on every database."""

import numpy as np

from hindwise.index.document import document_of
from hindwise.ledger import embeddings, memory_changes, spaces
from hindwise.model.ids import derive
from hindwise.model.memory import Kind, Memory
from hindwise.recall import queries
from tests.build import NOON, TENANT

TEXTS = ("Keeps the violin in the attic", "小提琴放在阁楼", "Rents the canoe in May")


def vector(space: int, at: int) -> np.ndarray:
    """Small whole numbers, which are kept as they are, however many spaces the database has had."""
    first = 10 * (space % 100) + at
    return np.arange(first, first + 4, dtype=np.float32)


def keep(conn) -> dict[str, int]:
    """Each text once in each of two spaces; of the last one no vector is known."""
    numbers = {name: row.no for name, row in spaces.lock(conn, TENANT, ["agent:x", "user:a"]).items()}
    for name, no in numbers.items():
        for at, text in enumerate(TEXTS):
            kept = Memory(
                id=derive(name, at), tenant_id=TENANT, space=name, kind=Kind.LESSON, conclusion=text, valid_from=NOON, recorded_at=NOON
            )
            memory_changes.insert_memory(conn, no, kept, actor="test", why="test")
            if at < 2:
                embeddings.store(conn, no, "m", {document_of(kept).text_hash: vector(no, at)})
    return numbers


async def test_vectors_come_with_the_rows_that_they_are_wanted_of(ledger):
    numbers = await ledger.write(keep)
    user = numbers["user:a"]
    every = [derive(name, at) for name in numbers for at in range(3)]
    wanted = [derive("user:a", 0), derive("user:a", 2), derive("agent:x", 0), "nobody"]
    for more in ((), ("nobody",)):

        def ask(conn, of, more=more):
            return queries.rows_and_standing(conn, [user], every, more, of)

        rows, _, known = await ledger.read(lambda conn, ask=ask: ask(conn, queries.Vectors(wanted, "m")))
        assert sorted(row.id for row in rows) == sorted(derive("user:a", at) for at in range(3))
        assert {name: list(known[name]) for name in known} == {derive("user:a", 0): list(vector(user, 0))}, "of one text none is known"
        for other in (queries.Vectors(wanted, "another"), queries.Vectors()):
            rows, _, known = await ledger.read(lambda conn, ask=ask, other=other: ask(conn, other))
            assert (len(rows), known) == (3, {})
