"""Two machines write one space, and their clocks differ by more than two writes lie apart: whoever asks finds what either wrote."""

import secrets
import time

import pytest

from hindwise.index import factory, weaviate_tenants
from hindwise.index.base import Filters
from hindwise.settings import Settings
from hindwise.text.tokens import tokens
from tests.conformance.index.reference import DIM, make_item

GENERATION = 6


@pytest.fixture
async def two(weaviate_server):
    """The index as two processes have it open."""
    settings = Settings(_env_file=None, index_timeout_s=15, **weaviate_server.env())
    secret = secrets.token_bytes(16)
    opened = [await factory.open_index(settings, "weaviate", GENERATION, DIM, secret) for _ in range(2)]
    yield opened
    for one in opened:
        await one.close()
    await factory.remove_index(settings, "weaviate", GENERATION, secret)


async def _found(index, text: str) -> set[str]:
    return {one.memory_id for one in await index.candidates("user:a", tokens(text), None, Filters())}


@pytest.mark.parametrize("behind_s", [45, 86_400 * 400])
async def test_a_write_by_a_clock_that_lags_is_noticed_by_who_asked_before(two, monkeypatch, behind_s: int) -> None:
    ours, other = two
    await ours.upsert([make_item("m1", "cancel the seat 靠窗")])
    assert await _found(ours, "cancel") == {"m1"}

    real = time.time_ns
    monkeypatch.setattr(weaviate_tenants, "time_ns", lambda: real() - behind_s * 10**9)
    await other.upsert([make_item("m2", "zebra crossing 斑马")])
    assert await _found(ours, "zebra") == {"m2"}
    assert await _found(ours, "斑马") == {"m2"}

    await other.delete("user:a", ["m1"])
    await other.upsert([make_item("m3", "walrus")])
    assert await _found(ours, "walrus cancel") == {"m3"}
