"""A new index says so, and one that holds anything does not."""

from tests.conformance.index.reference import make_item


async def test_an_index_is_empty_until_something_is_kept_and_again_when_all_is_gone(index):
    assert await index.is_empty()
    await index.upsert([make_item("m1", space="user:a")])
    assert not await index.is_empty()
    await index.delete("user:a", ["m1"])
    assert await index.is_empty()
