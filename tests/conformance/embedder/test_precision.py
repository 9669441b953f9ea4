"""The numbers in which vectors are kept: rounded once, and from then on the same to the bit wherever they go."""

import numpy as np

from hindwise.embed.none import NoEmbedder
from hindwise.embed.precision import HALF, as_kept, kept_passages, of_length_one
from hindwise.ledger import embeddings
from hindwise.testing import HashedEmbedder


def directions(count: int, dim: int, *, peaked: bool = False) -> np.ndarray:
    found = np.random.default_rng(3).standard_normal((count, dim)).astype(np.float32)
    return of_length_one(found**5 if peaked else found)


def test_what_is_kept_lies_where_it_lay():
    exact = directions(500, 384)
    kept = as_kept(exact)
    assert np.abs(np.linalg.norm(kept, axis=1) - 1).max() < 1e-4
    assert np.einsum("ij,ij->i", exact, of_length_one(kept)).min() > 1 - 1e-6


def test_keeping_again_changes_no_bit_also_by_way_of_half_precision():
    for dim in (2, 8, 64, 384, 1536):
        for exact in (directions(300, dim), directions(300, dim, peaked=True)):
            kept = as_kept(exact)
            assert as_kept(kept).tobytes() == kept.tobytes()
            assert kept.astype(HALF).astype(np.float32).tobytes() == kept.tobytes()


def test_zeros_stay_zeros():
    assert not of_length_one(as_kept(np.zeros((1, 8), dtype=np.float32))).any()


async def test_what_the_ledger_gives_back_is_what_was_embedded():
    embedder = HashedEmbedder(dim=64)
    await embedder.start()
    texts = ["Likes green tea", "喜欢绿茶", "喜歡綠茶"]
    kept, exact = await kept_passages(embedder, texts), await embedder.passages(texts)
    expected = [one.tobytes() for one in kept if one is not None]
    assert len(expected) == len(texts)
    # What is exact was written by an earlier version, which did not round.
    for stored in (kept, exact):
        found = embeddings.read_vectors([one.tobytes() for one in stored if one is not None])
        assert [one.tobytes() for one in found] == expected


async def test_without_an_embedder_there_is_nothing_to_keep():
    assert await kept_passages(NoEmbedder(), ["Likes green tea", "喜欢绿茶"]) == [None, None]
