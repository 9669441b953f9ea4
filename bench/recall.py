"""How fast is a recall, next to the least that any exact search must do? `python -m bench.recall [--sizes 1000,10000] [--queries 200]`

The floor: one numpy product of the question with all vectors (float32 [n, 384]) and one scan of the postings of its words, each with the
choice of the best 50, over the same texts in plain arrays. Ours: `Recaller.recall` from the query to the brief, ledger and log included,
over one space; no HTTP, hashed vectors instead of a model. Both are asked in turn within one run, so that a busy machine slows both.
Prints medians and their ratio; judges nothing.
"""

import argparse
import asyncio
import math
import random
import statistics
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from hindwise.engine import Engine, open_engine
from hindwise.ledger import memory_changes, outbox, spaces
from hindwise.model.brief import RecallQuery
from hindwise.model.ids import derive
from hindwise.model.memory import Kind, Memory
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.testing import HashedEmbedder, hashed_vector
from hindwise.text.tokens import query_tokens, tokens

DIM = 384
K = 50
_VOCABULARY = 6_000
_WORDS_PER_TEXT = 14
_BATCH = 1_000
_WARM = 20


def words(count: int, rng: random.Random) -> list[str]:
    """Draw words as a language has them: few common, many rare."""
    return [f"word{int(_VOCABULARY ** rng.random())}x" for _ in range(count)]


def texts(count: int) -> list[str]:
    """Texts of a memory's length."""
    rng = random.Random(7)
    return [" ".join(words(_WORDS_PER_TEXT, rng))[:160] for _ in range(count)]


def questions(corpus: list[str], count: int) -> list[str]:
    """Six words each, three of them of one memory: a question that has an answer."""
    rng = random.Random(11)
    return [" ".join(rng.sample(rng.choice(corpus).split(), 3) + words(3, rng)) for _ in range(count)]


class Floor:
    """The least: a matrix and a dictionary of arrays."""

    def __init__(self, corpus: list[str]) -> None:
        self.matrix = np.stack([hashed_vector(text, DIM) for text in corpus])
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, text in enumerate(corpus):
            for token, times in Counter(tokens(text)).items():
                postings.setdefault(token, []).append((row, times))
        self.postings = {
            token: (np.array([row for row, _ in rows]), np.array([times for _, times in rows], dtype=np.float64))
            for token, rows in postings.items()
        }

    def ask(self, vector: np.ndarray, asked: list[str]) -> int:
        """Both scans; returns how many were chosen."""
        near = self.matrix @ vector
        by_meaning = np.argpartition(near, -K)[-K:]
        total = len(self.matrix)
        scores = np.zeros(total)
        for token in asked:
            found = self.postings.get(token)
            if found is not None:
                rows, times = found
                scores[rows] += math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5)) * times * 2.2 / (times + 1.2)
        by_words = np.argpartition(scores, -K)[-K:]
        return len(by_meaning) + len(by_words)


async def fill(engine: Engine, corpus: list[str]) -> None:
    """Write the texts as lessons of one space, and bring the index up to date."""
    now = engine.clock.now()
    for start in range(0, len(corpus), _BATCH):
        batch = corpus[start : start + _BATCH]

        def write(conn: object, start: int = start, batch: list[str] = batch) -> None:
            space = spaces.lock(conn, "default", ["agent:bench"])["agent:bench"]  # type: ignore[arg-type]
            kept = [
                Memory(
                    id=derive("bench", start + at),
                    tenant_id="default",
                    space="agent:bench",
                    kind=Kind.LESSON,
                    conclusion=text,
                    valid_from=now,
                    recorded_at=now,
                )
                for at, text in enumerate(batch)
            ]
            for memory in kept:
                memory_changes.insert_memory(conn, space.no, memory, actor="bench", why="bench")  # type: ignore[arg-type]
            mark = spaces.bump(conn, space.no)  # type: ignore[arg-type]
            outbox.mark_dirty(conn, space.no, [memory.id for memory in kept], mark, now)  # type: ignore[arg-type]

        await engine.ledger.write(write)
        while await engine.projection.one_space() is not None:
            pass


@dataclass(frozen=True, slots=True)
class Sample:
    """Milliseconds per question, ours and the floor's in the same order; `stages`: ours by stage; `cpu`: ours, on average."""

    ours: list[float]
    floor: list[float]
    stages: dict[str, list[float]]
    cpu: float


async def sample(size: int, count: int) -> Sample:
    """Fill one space with `size` memories and ask `count` questions both ways in turn."""
    corpus = texts(size)
    floor = Floor(corpus)
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data=Path(directory), embed="none")
        async with open_engine(settings, embedder=HashedEmbedder(DIM)) as engine:
            await fill(engine, corpus)
            recaller = Recaller(engine)
            await recaller.start()
            least: list[float] = []
            ours: list[float] = []
            stages: dict[str, list[float]] = {}
            cpu = 0.0
            for at, text in enumerate(questions(corpus, count + _WARM)):
                vector, asked = hashed_vector(text, DIM), query_tokens(text)
                began = perf_counter()
                floor.ask(vector, asked)
                between = perf_counter()
                used = process_time()
                answer = await recaller.recall("default", RecallQuery(agent_id="bench", query=text))
                ended = perf_counter()
                if at < _WARM:
                    continue
                cpu += process_time() - used
                least.append((between - began) * 1000)
                ours.append((ended - between) * 1000)
                for stage, ms in answer.timings.items():
                    stages.setdefault(stage, []).append(ms)
            await recaller.close()
    return Sample(ours, least, stages, cpu / count * 1000)


async def measure(size: int, count: int) -> None:
    """Take a sample and print it."""
    found = await sample(size, count)
    low, mine = statistics.median(found.floor), statistics.median(found.ours)
    p95 = statistics.quantiles(found.ours, n=20)[-1]
    print(
        f"recall at {size:>6} memories: floor {low:6.2f} ms   ours {mine:6.2f} ms (p95 {p95:6.2f})   ratio {mine / low:5.2f}   "
        f"CPU {found.cpu:6.2f} ms"
    )
    print("    by stage, ms: " + "  ".join(f"{stage} {statistics.median(values):.2f}" for stage, values in found.stages.items()))


def main() -> None:
    """Read the arguments and measure each size."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description="Recall next to a bare scan of the same texts.")
    parser.add_argument("--sizes", default="1000,10000", help="memories in the space, with commas between")
    parser.add_argument("--queries", type=int, default=200, help="questions per size")
    arguments = parser.parse_args()
    for size in arguments.sizes.split(","):
        asyncio.run(measure(int(size), arguments.queries))


if __name__ == "__main__":
    main()
