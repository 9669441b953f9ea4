"""A new index says so, and one that holds anything does not: an index that is lost as a whole of itself, a server of each space."""

from hindwise.index.base import SpaceServer, WholeIndex
from tests.conformance.index.reference import make_item

SPACES = ["user:a", "user:b"]


async def without_anything(index) -> set[str]:
    """Those of two spaces that hold nothing; of an index that cannot tell them apart, both or none."""
    if isinstance(index, SpaceServer):
        return await index.without_anything(SPACES)
    assert isinstance(index, WholeIndex)
    return set(SPACES) if await index.is_empty() else {"user:b"}


async def test_an_index_is_empty_until_something_is_kept_and_again_when_all_is_gone(index):
    assert await without_anything(index) == {"user:a", "user:b"}
    await index.upsert([make_item("m1", space="user:a")])
    assert await without_anything(index) == {"user:b"}
    await index.delete("user:a", ["m1"])
    assert await without_anything(index) == {"user:a", "user:b"}
