"""Vectors by memory, without reading the memories: of the spaces and the model that are asked for, the same on every database."""

import numpy as np

from hindwise.index.document import document_of
from hindwise.ledger import embeddings, memory_changes, spaces
from hindwise.model.ids import derive
from hindwise.model.memory import Kind, Memory
from tests.build import NOON, TENANT

TEXTS = ("Keeps the violin in the attic", "小提琴放在阁楼", "Rents the canoe in May")


def vector(number: int) -> np.ndarray:
    return np.arange(number, number + 4, dtype=np.float32)


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
                embeddings.store(conn, no, "m", {document_of(kept).text_hash: vector(10 * no + at)})
    return numbers


async def test_vectors_come_by_memory_of_the_asked_spaces_and_model(ledger):
    numbers = await ledger.write(keep)
    every = [derive(name, at) for name in numbers for at in range(3)]
    user = numbers["user:a"]
    found = await ledger.read(lambda conn: embeddings.of_memories(conn, [user], "m", every))
    assert {name: list(value) for name, value in found.items()} == {derive("user:a", at): list(vector(10 * user + at)) for at in range(2)}
    both = await ledger.read(lambda conn: embeddings.of_memories(conn, list(numbers.values()), "m", every))
    assert len(both) == 4
    for spaces_asked, model, ids in (([user], "another", every), ([], "m", every), ([user], "m", [])):
        assert await ledger.read(lambda conn, given=(spaces_asked, model, ids): embeddings.of_memories(conn, *given)) == {}
