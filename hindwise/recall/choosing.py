"""From the finds to what is told: rows of the best ones, judged, and chosen from. On a ledger thread.

A row read costs more than one found, so that only the best finds are read. Where something else than the question kept memories out (a
slot that is taken, too much of one origin, what may not be told any more), it is said, and more is found and all of it read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.index.base import Candidate
from hindwise.ledger import embeddings
from hindwise.recall import queries
from hindwise.recall.candidates import Found, cosine_of, score_rows
from hindwise.recall.finding import Asked, Finds, best_of, ms_since
from hindwise.recall.judge import Judge, Sifted
from hindwise.recall.rows import Raw, is_over
from hindwise.recall.select import Scored, select

_SPARE = 12
"""Of each space's finds so many more than are wanted are read; measured together with the number of finds."""
_MANY_GONE = 0.25
"""More of what is read of a space than this, in all spaces: what may not be told any more hides what may. One or two are nothing unusual
(drafts beside a head)."""
_DEGRADED_ROWS = 2_000
"""Newest rows that a recall without an index looks through."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is told, the best first, and what it was chosen from."""

    sifted: Sifted
    chosen: Sequence[Scored]
    is_short: bool
    """Fewer are told than are wanted, and not only since others do not answer the question; and there is more to look through."""
    read_ms: float
    judged_ms: float

    @property
    def rows(self) -> dict[str, Raw]:
        """The rows that were weighed, by memory id."""
        return {hopeful.found.row.id: hopeful.found.row for hopeful in self.sifted.hopeful}


def choose(conn: Connection, asked: Asked, finds: Finds, judge: Judge, model: str) -> Choice:
    """Read, judge and choose; only what may be told, whatever the index holds.

    model: of whose vectors rows are compared of which the index does not say how near they are.
    """
    at = perf_counter()
    numbers = list(finds.survey.numbers.values())
    most = max(map(len, finds.lists), default=0)
    keep = most if finds.are_all else asked.query.limit + _SPARE
    candidates: dict[str, Candidate] = {}
    vectors: Mapping[str, Vector] = {}
    if finds.down:
        rows = queries.newest_rows(conn, numbers, _DEGRADED_ROWS)
        standing = queries.rows_and_standing(conn, numbers, (), finds.survey.standing).standing
    else:
        candidates = best_of(finds.lists, keep, finds.per_pool)
        wanted = list({**candidates, **dict.fromkeys(finds.survey.unapplied)})
        far = [] if asked.vector is None else [name for name, known in candidates.items() if known.cosine is None]
        rows, standing, vectors = queries.rows_and_standing(conn, numbers, wanted, finds.survey.standing, queries.Vectors(far, model))
    found = [
        Found(row, known.lexical, cosine_of(vectors.get(row.id), asked.vector) if known.cosine is None else known.cosine)
        for row in rows
        if (known := candidates.get(row.id)) is not None and not is_over(row, judge.now)
    ]
    gone = len(candidates) - len(found)
    found += _by_ledger(conn, asked, numbers, model, [row for row in rows if row.id not in candidates])
    read_ms = ms_since(at)
    at = perf_counter()
    sifted = judge.sift(found, [Found(row, 0.0, None) for row in standing])
    chosen = select(judge.score(sifted), asked.query.limit)
    is_short = most > keep and len(chosen) < asked.query.limit and (gone > keep * _MANY_GONE or _are_refused(sifted, chosen))
    return Choice(sifted, chosen, is_short, read_ms, ms_since(at))


def _are_refused(sifted: Sifted, chosen: Sequence[Scored]) -> bool:
    return sifted.relevant > sum(item.relevant for item in chosen)


def _by_ledger(conn: Connection, asked: Asked, numbers: Sequence[int], model: str, rows: Sequence[Raw]) -> list[Found]:
    """Rows that the index does not know, scored by the ledger's own words and vectors."""
    if not rows:
        return []
    vectors: Mapping[tuple[int, str], Vector] = {}
    if asked.vector is not None:
        vectors = embeddings.load(conn, numbers, model, [row.text_hash for row in rows])
    return score_rows(rows, asked.question.tokens, vectors, asked.vector)
