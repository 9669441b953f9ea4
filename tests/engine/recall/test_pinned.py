"""What is recalled from a fixed corpus stays the same: ids, order, scores and bytes, in both languages, with vectors and without."""

import json

import pytest

from hindwise.embed.none import NoEmbedder
from tests.engine.recall import pinned


def _numbers(answer: dict) -> list[float]:
    return [float(value) for item in answer["items"] for value in (item[-1] or {}).values()]


def _rest(answer: dict) -> dict:
    return {**answer, "items": [item[:-1] for item in answer["items"]]}


@pytest.mark.parametrize("embed", ["hashed", "none"])
async def test_what_is_recalled_from_a_fixed_corpus_stays_the_same(tmp_path, open_at, embed: str) -> None:
    expected = json.loads(pinned.ANSWERS.read_text(encoding="utf-8"))[embed]
    async with open_at(tmp_path, NoEmbedder() if embed == "none" else None) as (engine, recaller):
        await recaller.start()
        await pinned.fill(engine)
        found = await pinned.all_answers(recaller)
    assert len(found) == len(expected)
    for mine, pinned_answer in zip(found, expected, strict=True):
        assert _rest(mine) == _rest(pinned_answer)
        # The last digit of a cosine may depend on the machine's arithmetic.
        assert _numbers(mine) == pytest.approx(_numbers(pinned_answer), abs=2e-4)
