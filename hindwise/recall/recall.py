"""A recall from the question to the brief. No model is asked but the embedder, and nothing goes through a workflow.

    question → its vector → outbox of its spaces → index → ledger: rows, standing items → judge → brief

All after the vector is one hop to a ledger thread where the index lies in this process. Where it does not, it is three: what stands in
any case is read while the index is asked. Where the index or the embedder does not answer, the ledger alone does, and the answer says
`degraded`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from uuid import uuid4

from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import DimensionMismatch, IndexUnavailable, ModelRefused, ModelUnavailable
from hindwise.index.base import Candidate, Filters, InProcessIndex, LeanIndex
from hindwise.index.live import LiveIndex
from hindwise.index.projection import index_space
from hindwise.ledger import embeddings
from hindwise.ledger.prepared import look_again
from hindwise.model.assembled import assembled
from hindwise.model.brief import QuotedEvidence, Recalled, RecallItem, RecallQuery
from hindwise.model.memory import Memory
from hindwise.model.space import user_space
from hindwise.recall import queries, wording
from hindwise.recall.brief import Brief, Tier, write_brief
from hindwise.recall.candidates import Found, cosine_of, score_rows
from hindwise.recall.fusion import fuse
from hindwise.recall.judge import Judge, Sifted
from hindwise.recall.log import RecallLog
from hindwise.recall.profiles import explained
from hindwise.recall.queries import Raw, Survey
from hindwise.recall.question import Question, read_question
from hindwise.recall.select import Scored, select
from hindwise.recall.yardstick import Yardstick
from hindwise.safety.masking import mask

CANDIDATES = 50
"""Per pool and space."""
_SPARE = 32
"""Of each space's candidates so many more than are wanted are read, for what is not told; a row read costs more than one found."""
_INDEX_LIMIT_S = 1.5
_SPARE_S = 0.5
"""An index keeps its own limit; this one is for an index that does not."""
_EMBED_LIMIT_S = 5.0
_YARDSTICK_LIMIT_S = 20.0
_DEGRADED_ROWS = 2_000
"""Newest rows that a recall without an index looks through."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query on its way. `vector`: None where there is no embedder, or none that answers (`embedder_down`)."""

    tenant_id: str
    query: RecallQuery
    question: Question
    vector: Vector | None
    embedder_down: bool

    @property
    def filters(self) -> Filters:
        return Filters(frozenset(str(kind) for kind in self.query.kinds))


@dataclass(frozen=True, slots=True)
class _Finds:
    """What the index says, of the spaces of a survey. `down`: it did not answer for each of them."""

    survey: Survey
    lists: Sequence[Sequence[Candidate]]
    """By space; empty where it is down."""
    down: bool
    survey_ms: float
    ms: float


@dataclass(frozen=True, slots=True)
class _Told:
    """What is answered, but for its form."""

    finds: _Finds
    sifted: Sifted
    chosen: Sequence[Scored]
    memories: Sequence[Memory]
    """The chosen ones, read whole."""
    brief: Brief
    evidence: Mapping[str, tuple[QuotedEvidence, ...]]
    hydrate_ms: float
    score_ms: float


class Recaller:
    """Answers recalls, and logs them behind the answer. One per process; `close` it, so that the last logs are written."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._yardstick = Yardstick(engine.embedder)
        self._index_here = engine.index if isinstance(engine.index, InProcessIndex) else None
        self._live = engine.index if isinstance(engine.index, LiveIndex) else None
        self.log = RecallLog(engine.ledger, engine.secret)

    async def start(self) -> None:
        """Measure the embedder's yardstick (a second with the local one), which else the first recall does. Never fails."""
        await self._levels_ready()

    async def recall(self, tenant_id: str, query: RecallQuery) -> Recalled:
        """Return the brief and its items.

        Raises InvalidInput where no owner is named, LedgerUnavailable. An index or embedder that does not answer degrades the answer.
        """
        began = perf_counter()
        question = read_question(query)
        vector, embedder_down, embed_ms = await self._embed(question)
        asked = _Asked(tenant_id, query, question, vector, embedder_down)
        read = self._engine.ledger.read
        first = await read(lambda conn: self._at_once(conn, asked))
        if isinstance(first, _Told):
            told = first
        else:
            numbers = list(first[0].numbers.values())
            finds, stands = await asyncio.gather(self._find(asked, *first), read(lambda conn: queries.standing_ids(conn, numbers)))
            told = await read(lambda conn: self._tell(conn, asked, finds, stands))
        answer = _answer(asked, told, self._engine.settings.relevance_gate)
        answer.timings.update(
            survey=told.finds.survey_ms,
            embed=embed_ms,
            candidates=told.finds.ms,
            hydrate=told.hydrate_ms,
            score=told.score_ms,
            total=_ms(began),
        )
        own = told.finds.survey.numbers.get(user_space(query.user_id), 0) if query.user_id else 0
        self._note(asked, answer, own)
        return answer

    async def flush(self) -> None:
        """Write the waiting log rows now."""
        await self.log.flush()

    async def close(self) -> None:
        """Write the waiting log rows and stop. The engine stays open."""
        await self.log.close()

    def _at_once(self, conn: Connection, asked: _Asked) -> _Told | tuple[Survey, float]:
        """The whole way on one ledger thread, where the index can be asked from there; else only its first step, the survey."""
        at = perf_counter()
        survey = queries.survey(conn, asked.tenant_id, asked.question.spaces)
        survey_ms = _ms(at)
        if self._index_here is None:
            return survey, survey_ms
        if survey.behind:
            return self._tell(conn, asked, _Finds(survey, (), True, survey_ms, 0.0))
        at = perf_counter()
        ask = partial(self._index_here.candidates_here, k=CANDIDATES)
        try:
            lists = [ask(index_space(asked.tenant_id, name), asked.question.tokens, asked.vector, asked.filters) for name in survey.numbers]
        except (IndexUnavailable, DimensionMismatch):
            return survey, survey_ms
        # What the index found may be younger than the survey.
        look_again(conn)
        return self._tell(conn, asked, _Finds(survey, lists, False, survey_ms, _ms(at)))

    async def _embed(self, question: Question) -> tuple[Vector | None, bool, float]:
        """The question's vector, whether the embedder failed to give one, and how long it took in ms."""
        at = perf_counter()
        embedder = self._engine.embedder
        if not embedder.dim:
            return None, False, 0.0
        if self._live is not None and self._live.words_only:
            # Another embedder is being moved to: no vector of this one can be compared until the new index serves.
            return None, True, 0.0
        try:
            async with asyncio.timeout(_EMBED_LIMIT_S):
                vector = await embedder.query(question.text)
        except (TimeoutError, ModelUnavailable, ModelRefused):
            return None, True, _ms(at)
        if not self._yardstick.ready:
            await self._levels_ready()
        return vector, False, _ms(at)

    async def _levels_ready(self) -> None:
        try:
            async with asyncio.timeout(_YARDSTICK_LIMIT_S):
                await self._yardstick.start()
        except (TimeoutError, ModelUnavailable, ModelRefused):
            # The embedder's general calibration stands in; the next recall tries again.
            return

    async def _find(self, asked: _Asked, survey: Survey, survey_ms: float) -> _Finds:
        """Ask the index about each space that exists, side by side."""
        if survey.behind:
            return _Finds(survey, (), True, survey_ms, 0.0)
        at = perf_counter()
        index = self._engine.index
        # The cosines that a lean answer leaves out are computed beside the rows, from the ledger's vectors.
        ask = index.candidates_lean if isinstance(index, LeanIndex) else index.candidates
        calls = [
            ask(index_space(asked.tenant_id, name), asked.question.tokens, asked.vector, asked.filters, k=CANDIDATES)
            for name in survey.numbers
        ]
        try:
            async with asyncio.timeout(max(_INDEX_LIMIT_S, self._engine.settings.index_timeout_s + _SPARE_S)):
                lists = await asyncio.gather(*calls)
        except (TimeoutError, IndexUnavailable, DimensionMismatch):
            # A mismatch means that another embedder is being moved to: until the index is rebuilt, the ledger answers.
            return _Finds(survey, (), True, survey_ms, _ms(at))
        return _Finds(survey, lists, False, survey_ms, _ms(at))

    def _tell(self, conn: Connection, asked: _Asked, finds: _Finds, stands: Sequence[str] | None = None) -> _Told:
        """The last hop: read all that can be told, judge it, and read the evidence of what is told. Runs on a ledger thread.

        stands: ids of the standing items, where they were read before.
        """
        at = perf_counter()
        found, standing = self._read(conn, asked, finds, stands)
        hydrate_ms = _ms(at)
        at = perf_counter()
        judge = self._judge_of(asked)
        sifted = judge.sift(found, standing)
        chosen = select(judge.score(sifted), asked.query.limit)
        score_ms = _ms(at)
        at = perf_counter()
        rows = {hopeful.found.row.id: hopeful.found.row for hopeful in sifted.hopeful}
        memories = [queries.memory_of(rows[item.memory.id]) for item in chosen]
        # A first version replaced nothing: mostly nobody has to be asked.
        slots = zip(memories, (item.slot for item in chosen), strict=True)
        heads = {memory.id: slot for memory, slot in slots if slot is not None and memory.version > 1}
        earlier = queries.earlier_values(conn, list(finds.survey.numbers.values()), heads)
        brief = write_brief(memories, earlier, asked.question.lang, asked.query.budget_tokens)
        evidence = _evidence(conn, asked, [memory.id for memory in memories])
        return _Told(finds, sifted, chosen, memories, brief, evidence, hydrate_ms + _ms(at), score_ms)

    def _judge_of(self, asked: _Asked) -> Judge:
        engine = self._engine
        levels = None if asked.vector is None else self._yardstick.levels(asked.vector)
        return Judge(asked.query, asked.question, levels, engine.settings.relevance_gate, engine.rules, engine.clock.now())

    def _read(self, conn: Connection, asked: _Asked, finds: _Finds, stands: Sequence[str] | None) -> tuple[list[Found], list[Found]]:
        """What the question is compared with, and the standing items; only what may be told, whatever the index holds."""
        numbers = list(finds.survey.numbers.values())
        if finds.down:
            rows, candidates, standing = queries.newest_rows(conn, numbers, _DEGRADED_ROWS), {}, queries.standing_rows(conn, numbers)
        else:
            candidates = _best_of(self._with_cosines(conn, asked, numbers, finds.lists), asked.query.limit + _SPARE)
            wanted = {**candidates, **dict.fromkeys(finds.survey.unapplied)}
            # With what stood when the index was asked: it may have been superseded or erased since, and one brief must not tell both.
            there = queries.live_rows(conn, numbers, list({**wanted, **dict.fromkeys(stands or ())}))
            rows = [row for row in there if row.id in wanted]
            standing = queries.standing_rows(conn, numbers) if stands is None else _in_order(there, stands)
        found = [Found(row, known.lexical, known.cosine) for row in rows if (known := candidates.get(row.id)) is not None]
        found += self._from_ledger(conn, asked, numbers, [row for row in rows if row.id not in candidates])
        return found, [Found(row, 0.0, None) for row in standing]

    def _with_cosines(
        self, conn: Connection, asked: _Asked, numbers: Sequence[int], lists: Sequence[Sequence[Candidate]]
    ) -> Sequence[Sequence[Candidate]]:
        """Fill in what an index left out; where it gave no cosine at all, it has no vectors that may be compared.

        Before the rows are read: then those of the best are enough, and every index gives the same.
        """
        missing = [candidate.memory_id for found in lists for candidate in found if candidate.cosine is None]
        if asked.vector is None or not missing or len(missing) == sum(map(len, lists)):
            return lists
        vectors = embeddings.of_memories(conn, numbers, self._engine.embedder.model, missing)
        return [
            [
                candidate
                if candidate.cosine is not None
                else candidate._replace(cosine=cosine_of(vectors.get(candidate.memory_id), asked.vector))
                for candidate in found
            ]
            for found in lists
        ]

    def _from_ledger(self, conn: Connection, asked: _Asked, numbers: Sequence[int], rows: Sequence[Raw]) -> list[Found]:
        if not rows:
            return []
        vectors: Mapping[tuple[int, str], Vector] = {}
        if asked.vector is not None:
            vectors = embeddings.load(conn, numbers, self._engine.embedder.model, [row.text_hash for row in rows])
        return score_rows(rows, asked.question.tokens, vectors, asked.vector)

    def _note(self, asked: _Asked, answer: Recalled, own_space: int) -> None:
        query = asked.query
        self.log.add(
            {
                "id": answer.recall_id,
                "tenant_id": asked.tenant_id,
                "user_id": query.user_id,
                "agent_id": query.agent_id,
                "session_id": query.session_id,
                "run_id": query.run_id,
                "query": mask(asked.question.text).text,
                "memory_ids": [item.memory_id for item in answer.items if item.tier != "dropped"],
                "degraded": answer.degraded,
                "at": self._engine.clock.now(),
            },
            own_space,
        )


def _in_order(rows: Sequence[Raw], ids: Sequence[str]) -> list[Raw]:
    """The rows of these ids that are there, in the order of the ids."""
    by_id = {row.id: row for row in rows}
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id]


def _best_of(lists: Sequence[Sequence[Candidate]], keep: int) -> dict[str, Candidate]:
    return {candidate.memory_id: candidate for found in lists for candidate in _best(found, keep)}


def _best(found: Sequence[Candidate], keep: int) -> Sequence[Candidate]:
    """The best of a space's union: two pools that agree have fewer, and the ends of two that do not are no answer."""
    if len(found) <= keep:
        return found
    fused = fuse([candidate.lexical for candidate in found], [candidate.cosine for candidate in found])
    # They come in order of id, which decides between equal ones.
    order = sorted(range(len(found)), key=fused.__getitem__, reverse=True)
    return [found[at] for at in order[:keep]]


def _evidence(conn: Connection, asked: _Asked, ids: Sequence[str]) -> dict[str, tuple[QuotedEvidence, ...]]:
    """Where the told items stand."""
    if not ids:
        return {}
    return {
        memory_id: tuple(
            assembled(
                QuotedEvidence,
                {"episode_id": place.episode_id, "session_id": place.session_id, "turn_id": place.turn_id, "quote": place.quote},
            )
            for place in places
        )
        for memory_id, places in queries.evidence_of(conn, asked.tenant_id, ids, asked.query.user_id).items()
    }


def _answer(asked: _Asked, told: _Told, gate: float) -> Recalled:
    chosen = zip(told.chosen, told.memories, told.brief.tiers, strict=True)
    items = tuple(_item(scored, memory, tier, asked, told) for scored, memory, tier in chosen)
    return assembled(
        Recalled,
        {
            "recall_id": str(uuid4()),
            "brief": told.brief.text,
            "lang": asked.question.lang,
            "tokens": told.brief.tokens,
            "degraded": told.finds.down or asked.embedder_down,
            "reason": "" if told.brief.text else _reason(asked, told, gate),
            "items": items,
            "timings": {},
        },
    )


def _item(scored: Scored, memory: Memory, tier: Tier, asked: _Asked, told: _Told) -> RecallItem:
    return assembled(
        RecallItem,
        {
            "memory_id": memory.id,
            "kind": memory.kind,
            "tier": tier,
            "score": scored.parts.score,
            "conclusion": memory.conclusion,
            "space": memory.space,
            "status": str(memory.status),
            "language": memory.language,
            "recorded_at": memory.recorded_at,
            "evidence": told.evidence.get(memory.id, ()),
            "retrospective_url": f"/v1/memories/{memory.id}",
            "retrospective": memory.retrospective.model_dump() if asked.query.include_retrospective else None,
            "why": explained(scored.parts) if asked.query.explain else None,
        },
    )


def _reason(asked: _Asked, told: _Told, gate: float) -> str:
    lang = asked.question.lang
    if told.chosen:
        return wording.no_room(told.brief.needed, asked.query.budget_tokens, lang)
    if told.sifted.seen:
        return wording.nothing_relevant(told.sifted.best, gate, lang)
    if asked.query.kinds or asked.query.topics:
        return wording.nothing_of_that_sort(lang)
    return wording.nothing_known(lang)


def _ms(since: float) -> float:
    return round((perf_counter() - since) * 1000, 3)
