"""How fast is a recall, next to a plain exact search? `python -m bench.recall [--sizes 1000,10000] [--queries 200]`

The floor is what any exact search by words and meaning must do, in plain numpy over the same texts: one product of the question with all
vectors (float32 [n, 384]), the postings of its words looked up and added up as BM25 (k1, b, lengths), the best 50 of each in order, and
one list of both with ids and scores. Its arrays lie in memory, as the index's do; it reads no file, stores nothing, tells nothing.
Ours is `Recaller.recall` from the query to the brief over one space: ledger, index file, judging, evidence and log included; no HTTP, and
the question's vector is looked up. Both are asked in turn within one run, so that each finds the caches as the other left them.

Processor time is that of all threads, on one BLAS thread. Prints medians and their ratio; judges nothing.
"""

import argparse
import math
import random
import statistics
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time, thread_time

import numpy as np
import uvloop

from bench.settled import settled
from hindwise.embed.base import Vector
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
_K1, _B = 1.2, 0.75
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


def questions(corpus: list[str], count: int, rng: random.Random | None = None) -> list[str]:
    """Six words each, three of them of one memory: a question that has an answer."""
    rng = rng or random.Random(11)
    return [" ".join(rng.sample(rng.choice(corpus).split(), 3) + words(3, rng)) for _ in range(count)]


class Floor:
    """A plain exact search: a matrix, lengths, and a dictionary of arrays."""

    def __init__(self, corpus: list[str]) -> None:
        self.ids = [derive("bench", at) for at in range(len(corpus))]
        self.matrix = np.stack([hashed_vector(text, DIM) for text in corpus])
        documents = [Counter(tokens(text)) for text in corpus]
        lengths = np.array([document.total() for document in documents], dtype=np.float64)
        self.norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, document in enumerate(documents):
            for token, times in document.items():
                postings.setdefault(token, []).append((row, times))
        self.postings = {
            token: (np.array([row for row, _ in rows]), np.array([times for _, times in rows], dtype=np.float64))
            for token, rows in postings.items()
        }

    def ask(self, vector: Vector, asked: list[str]) -> list[tuple[str, float, float]]:
        """Both scans; id, BM25 and cosine of the best of either."""
        near = self.matrix @ vector
        total = len(self.matrix)
        scores = np.zeros(total)
        for token in asked:
            found = self.postings.get(token)
            if found is not None:
                rows, times = found
                weight = math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += weight * times * (_K1 + 1) / (times + self.norm[rows])
        union = {*_best(near), *_best(scores)}
        return [(self.ids[row], float(scores[row]), float(near[row])) for row in union]


def _best(scores: np.ndarray[tuple[int], np.dtype[np.floating]]) -> list[int]:
    """The rows of the 50 highest, in order."""
    rows = np.argpartition(scores, -K)[-K:]
    best: list[int] = rows[np.argsort(-scores[rows])].tolist()
    return best


class Remembered(HashedEmbedder):
    """An embedder that costs nothing: it has seen every question."""

    def __init__(self, asked: dict[str, Vector]) -> None:
        super().__init__(DIM)
        self._known = asked

    async def query(self, text: str) -> Vector | None:
        """Return the question's vector."""
        return self._known[text]


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


@dataclass(slots=True)
class Sample:
    """Milliseconds per question, ours and the floor's in the same order; `stages`: ours by stage; `cpu`: ours, on average."""

    ours: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)
    ours_cpu: list[float] = field(default_factory=list)
    floor_cpu: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        """Our processor time per question, on average, with what is written behind the answer."""
        return sum(self.ours_cpu) / len(self.ours_cpu)


async def sample(size: int, count: int) -> Sample:
    """Fill one space with `size` memories and ask `count` questions both ways in turn."""
    corpus = texts(size)
    floor = Floor(corpus)
    asked = questions(corpus, count + _WARM)
    vectors = {text: hashed_vector(text, DIM) for text in asked}
    found = Sample()
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data=Path(directory), embed="none")
        async with open_engine(settings, embedder=Remembered(vectors)) as engine:
            await fill(engine, corpus)
            recaller = Recaller(engine)
            await recaller.start()
            with settled():
                for text in asked[:_WARM]:
                    await _both(floor, recaller, text, vectors[text], Sample())
                for text in asked[_WARM:]:
                    await _both(floor, recaller, text, vectors[text], found)
            await recaller.close()
    return found


async def _both(floor: Floor, recaller: Recaller, text: str, vector: Vector, into: Sample) -> None:
    words_asked = query_tokens(text)
    began, used = perf_counter(), thread_time()
    floor.ask(vector, words_asked)
    into.floor.append((perf_counter() - began) * 1000)
    into.floor_cpu.append((thread_time() - used) * 1000)
    query = RecallQuery(agent_id="bench", query=text)
    began, used = perf_counter(), process_time()
    answer = await recaller.recall("default", query)
    into.ours.append((perf_counter() - began) * 1000)
    into.ours_cpu.append((process_time() - used) * 1000)
    for stage, ms in answer.timings.items():
        into.stages.setdefault(stage, []).append(ms)


async def measure(size: int, count: int) -> None:
    """Take a sample and print it."""
    found = await sample(size, count)
    for name, floor, ours in (("wall", found.floor, found.ours), ("CPU", found.floor_cpu, found.ours_cpu)):
        low, mine = statistics.median(floor), statistics.median(ours)
        p95 = statistics.quantiles(ours, n=20)[-1]
        print(
            f"recall at {size:>6} memories, {name:<4}: floor {low:6.2f} ms   ours {mine:6.2f} ms (p95 {p95:6.2f})   ratio {mine / low:5.2f}"
        )
    print("    by stage, ms: " + "  ".join(f"{stage} {statistics.median(values):.2f}" for stage, values in found.stages.items()))


def main() -> None:
    """Read the arguments and measure each size."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description="Recall next to a bare scan of the same texts.")
    parser.add_argument("--sizes", default="1000,10000", help="memories in the space, with commas between")
    parser.add_argument("--queries", type=int, default=200, help="questions per size")
    arguments = parser.parse_args()
    for size in arguments.sizes.split(","):
        uvloop.run(measure(int(size), arguments.queries))


if __name__ == "__main__":
    main()
