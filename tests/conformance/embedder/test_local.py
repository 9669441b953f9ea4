"""What is particular to the local embedder."""

import asyncio
import subprocess
import sys
import time
import unicodedata

import numpy as np
import pytest

from hindwise.embed.calibration import E5_SMALL, measure
from hindwise.embed.local import LocalEmbedder
from hindwise.errors import ModelUnavailable


@pytest.fixture
async def embedder():
    embedder = LocalEmbedder()
    await embedder.start()
    yield embedder
    await embedder.close()


async def test_the_shipped_calibration_is_what_is_measured(embedder):
    async def questions(texts):
        return [await embedder.query(text) for text in texts]

    measured = await measure(embedder.passages, questions)
    assert (measured.mean, measured.std) == pytest.approx((E5_SMALL.mean, E5_SMALL.std), abs=2e-3)
    for language in ("en", "zh"):
        got, shipped = measured.of(language), E5_SMALL.of(language)
        assert (got.mean, got.std) == pytest.approx((shipped.mean, shipped.std), abs=2e-3)


async def test_a_question_asked_again_costs_nothing_and_cannot_be_changed_by_its_reader(embedder):
    first = await embedder.query("how do I cancel?")
    started = time.perf_counter()
    again = [await embedder.query("how do I cancel?") for _ in range(1_000)]
    assert time.perf_counter() - started < 5  # a thousand embeddings take half a minute
    assert all(vector is first for vector in again)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


async def test_a_question_does_not_wait_for_a_batch_of_passages(embedder):
    batch = asyncio.ensure_future(embedder.passages([f"a passage about topic number {i}" for i in range(60)]))
    await asyncio.sleep(0.05)
    await embedder.query("a question meanwhile")
    assert not batch.done()
    assert len(await batch) == 60


@pytest.mark.parametrize("times", [11, 480, 5_000])
def test_no_text_ends_the_process_whatever_its_characters_grow_to(times):
    """Of one Arabic character the engine's tokenizer makes eighteen, more than it has room for: the next process would meet it too."""
    script = (
        "import asyncio\n"
        "from hindwise.embed.local import LocalEmbedder\n"
        "async def main():\n"
        "    embedder = LocalEmbedder()\n"
        "    await embedder.start()\n"
        f"    text = chr(0xFDFA) * {times}\n"
        "    for _ in range(3):\n"
        "        print(len(await embedder.query(text + ' ')), len((await embedder.passages([text]))[0]))\n"
        "    await embedder.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["384"] * 6), done.stderr


async def test_a_phrase_in_one_character_means_what_its_letters_mean(embedder):
    [short, long] = await embedder.passages(["قال ﷺ", unicodedata.normalize("NFKC", "قال ﷺ")])
    assert np.array_equal(short, long)


async def test_before_the_start_and_after_the_end_it_says_so():
    embedder = LocalEmbedder()
    with pytest.raises(ModelUnavailable):
        await embedder.query("anything")
    await embedder.start()
    await embedder.close()
    with pytest.raises(ModelUnavailable):
        await embedder.passages(["anything"])
