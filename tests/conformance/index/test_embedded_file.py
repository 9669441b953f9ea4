"""What is particular to the embedded index: its file."""

import sqlite3

import pytest

from hindwise.embed.precision import HALF
from hindwise.errors import IndexUnavailable
from hindwise.index.base import Filters
from hindwise.index.embedded import open_embedded
from tests.conformance.index.reference import DIM, make_item, unit


async def test_a_dropped_space_leaves_no_bytes_in_the_files(tmp_path):
    index = open_embedded(tmp_path / "i.db", dim=DIM, cache_mb=8)
    vector = unit(99)
    await index.upsert([make_item("canary-memory", "secret", space="user:canary", vector=vector), make_item("m2", space="user:b")])
    held = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert b"canary" in held
    assert vector.astype(HALF).tobytes() in held
    await index.drop("user:canary")
    held = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert b"canary" not in held
    assert vector.astype(HALF).tobytes() not in held
    assert await index.ids("user:b") == {"m2"}
    await index.close()


def test_a_file_that_is_no_database_is_told_as_such(tmp_path):
    path = tmp_path / "i.db"
    path.write_bytes(b"this is no database at all, only some words" * 50)
    with pytest.raises(IndexUnavailable, match="restart"):
        open_embedded(path, dim=DIM, cache_mb=8)


def test_a_file_of_another_tokenizer_is_refused(tmp_path):
    path = tmp_path / "i.db"
    open_embedded(path, dim=DIM, cache_mb=8)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'tokenizer'")
    connection.close()
    with pytest.raises(IndexUnavailable, match="restart"):
        open_embedded(path, dim=DIM, cache_mb=8)


async def test_a_file_that_vanished_is_not_healthy(tmp_path):
    path = tmp_path / "i.db"
    index = open_embedded(path, dim=DIM, cache_mb=8)
    await index.health()
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(IndexUnavailable, match=r"gone|unable to open"):
        await index.health()
    await index.close()


async def test_a_reader_far_behind_the_list_of_removed_keys_catches_up(tmp_path, monkeypatch):
    monkeypatch.setattr("hindwise.index.embedded_schema.GONE_KEPT", 3)
    writer, reader = (open_embedded(tmp_path / "i.db", dim=DIM, cache_mb=8) for _ in range(2))
    await writer.upsert([make_item(f"m{i:02d}") for i in range(20)])
    assert len(await reader.candidates("user:a", ["cancel"], None, Filters())) == 20
    for i in range(10):
        await writer.delete("user:a", [f"m{i:02d}"])
    found = await reader.candidates("user:a", ["cancel"], None, Filters())
    assert [c.memory_id for c in found] == [f"m{i:02d}" for i in range(10, 20)]
    await writer.close()
    await reader.close()
