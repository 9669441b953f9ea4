"""What every embedder promises."""

import asyncio

import numpy as np
import pytest

from hindwise.embed.none import NoEmbedder

ODD = ["", " ", "\0", "a\0b", "\ud83d alone", "退款" * 2_000, "word " * 5_000, "\n\t", "😀" * 50]
"""Texts that break embedders: empty, NUL, half a surrogate pair, far too long, no words."""


async def test_there_is_one_answer_per_text(any_embedder):
    assert len(await any_embedder.passages(["one", "两个", "three"])) == 3
    assert await any_embedder.passages([]) == []


async def test_a_model_has_a_name_and_closing_twice_is_fine(any_embedder):
    assert any_embedder.model
    await any_embedder.close()
    await any_embedder.close()


async def test_without_a_model_there_are_no_vectors():
    embedder = NoEmbedder()
    await embedder.start()
    assert embedder.dim == 0
    assert await embedder.passages(["one", "two"]) == [None, None]
    assert await embedder.query("one") is None


async def test_vectors_are_float32_of_length_one(embedder):
    for vector in [*await embedder.passages(["cancel the booking", "取消预订"]), await embedder.query("取消预订")]:
        assert vector.dtype == np.float32
        assert vector.shape == (embedder.dim,)
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)


async def test_odd_texts_are_embedded_too(embedder):
    async with asyncio.timeout(60):
        for vector in [*await embedder.passages(ODD), *[await embedder.query(text) for text in ODD]]:
            assert np.isfinite(vector).all()
            assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)


async def test_what_stands_behind_a_nul_is_read(embedder):
    [with_nul, clean, cut] = await embedder.passages(["refund\0 the ticket", "refund the ticket", "refund"])
    assert with_nul @ clean == pytest.approx(1.0, abs=1e-4)
    assert with_nul @ cut < 0.999


async def test_the_same_text_gives_the_same_vector(embedder):
    [one] = await embedder.passages(["the refund was late"])
    [other, _] = await embedder.passages(["the refund was late", "something else"])
    assert one @ other == pytest.approx(1.0, abs=1e-5)


async def test_order_is_kept_over_many_texts(embedder):
    texts = [f"refund number {i} for flight {i * 7}" for i in range(25)]
    vectors = await embedder.passages(texts)
    [last] = await embedder.passages([texts[-1]])
    assert int(np.argmax(np.stack(vectors) @ last)) == 24


@pytest.mark.parametrize(
    ("question", "related", "unrelated"),
    [
        ("how do I cancel a flight booking", "cancel the booking of a flight", "tomatoes grow on the balcony"),
        ("怎么取消航班预订", "取消航班预订的步骤", "阳台上种了西红柿"),
    ],
)
async def test_related_texts_are_nearer_than_unrelated_ones(embedder, question, related, unrelated):
    asked = await embedder.query(question)
    near, far = await embedder.passages([related, unrelated])
    assert asked @ near > asked @ far + 0.02


async def test_many_questions_at_once_get_their_own_answers(embedder):
    texts = [f"question about topic {i}" for i in range(12)]
    alone = [await embedder.query(text) for text in texts[:3]]
    together = await asyncio.gather(*(embedder.query(text) for text in texts))
    for one, other in zip(alone, together, strict=False):
        assert np.array_equal(one, other)


async def test_calibration_is_known_after_the_start(embedder):
    level = embedder.calibration
    assert -0.2 < level.mean < 0.95
    assert 0 < level.std < 0.5
    assert set(level.by_language) == {"en", "zh"}
    assert level.of("fr") is level


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_related_texts_stand_out_from_the_background(embedder, language):
    text = {"en": "Cancel the booking before the payment", "zh": "付款之前先取消预订"}[language]
    asked = await embedder.query(text)
    [told] = await embedder.passages([text])
    level = embedder.calibration.of(language)
    assert (asked @ told - level.mean) / level.std > 2
