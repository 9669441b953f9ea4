"""A recall from the question to the brief. No model is asked but the embedder, and nothing goes through a workflow.

    question → its vector → survey of its spaces: outbox, standing items → index → ledger: rows → judge → brief

All after the vector is one hop to a ledger thread where the index lies in this process. Where it does not, it is two, the first of which,
the survey, goes beside the embedder; where that is quick and the spaces are known, beside the index, whose answer counts where nothing
changed since the last one (`ahead`). Where the index or the embedder does not answer, the ledger alone does, and the answer says
`degraded`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from uuid import uuid4

from sqlalchemy import Connection

from hindwise.embed.base import Vector
from hindwise.engine import Engine
from hindwise.errors import ModelRefused, ModelUnavailable
from hindwise.index.live import LiveIndex
from hindwise.ledger.databases import LONGEST_UNIT_S
from hindwise.ledger.prepared import look_again
from hindwise.model.assembled import assembled
from hindwise.model.brief import QuotedEvidence, Recalled, RecallItem, RecallQuery
from hindwise.model.space import user_space
from hindwise.recall import queries, wording
from hindwise.recall.ahead import Soon
from hindwise.recall.brief import Brief, Tier, write_brief
from hindwise.recall.choosing import choose
from hindwise.recall.finding import Asked, Finder, Finds, depths, ms_since
from hindwise.recall.judge import Judge, Sifted
from hindwise.recall.log import RecallLog
from hindwise.recall.profiles import explained
from hindwise.recall.question import Question, read_question
from hindwise.recall.rows import Telling, telling_of
from hindwise.recall.select import Scored
from hindwise.recall.survey import Survey, survey
from hindwise.recall.yardstick import Yardstick

_EMBED_LIMIT_S = 5.0
_YARDSTICK_LIMIT_S = 20.0
_QUICK_S = 0.002
"""An embedder that takes longer leaves time for the survey, which takes about so long."""
_LEDGER_LIMIT_S = 8.0
"""Of each hop to a server: an agent waits in front of its task. Longer where a connection is waited for longer, whose error says more."""
_BESIDES_CONNECTING_S = 3.0


@dataclass(frozen=True, slots=True)
class _Told:
    """What is answered, but for its form."""

    finds: Finds
    sifted: Sifted
    chosen: Sequence[Scored]
    tellings: Sequence[Telling]
    """Of the chosen ones."""
    brief: Brief
    evidence: Mapping[str, tuple[QuotedEvidence, ...]]
    hydrate_ms: float
    score_ms: float
    is_short: bool
    """See `Choice`."""


class Recaller:
    """Answers recalls, and logs them behind the answer. One per process; `close` it, so that the last logs are written."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._yardstick = Yardstick(engine.embedder)
        self._finder = Finder(engine)
        self._within_s = LONGEST_UNIT_S
        if engine.ledger.is_shared:
            self._within_s = max(_LEDGER_LIMIT_S, engine.settings.database_connect_timeout_s + _BESIDES_CONNECTING_S)
        self._live = engine.index if isinstance(engine.index, LiveIndex) else None
        self.log = RecallLog(engine.ledger, engine.secret, engine.settings.contacts())

    async def start(self) -> None:
        """Measure the embedder's yardstick (a second with the local one), which else the first recall does. Never fails."""
        await self._levels_ready()

    async def recall(self, tenant_id: str, query: RecallQuery) -> Recalled:
        """Return the brief and its items.

        Raises InvalidInput where no owner is named, LedgerUnavailable. An index or embedder that does not answer degrades the answer.
        """
        began = perf_counter()
        question = read_question(query)
        begun = self._survey(tenant_id, question) if self._finder.is_elsewhere else None
        try:
            vector, embedder_down, embed_ms = await self._embed(question)
        except BaseException:
            if begun is not None:
                await begun.drop()
            raise
        asked = Asked(tenant_id, query, question, vector, embedder_down)
        told = await (self._at_once(asked) if begun is None else self._beside(asked, begun))
        answer = _answer(asked, told, self._engine.settings.relevance_gate)
        answer.timings.update(
            survey=told.finds.survey_ms,
            embed=embed_ms,
            candidates=told.finds.ms,
            hydrate=told.hydrate_ms,
            score=told.score_ms,
            total=ms_since(began),
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

    async def _at_once(self, asked: Asked) -> _Told:
        """The whole way on one ledger thread, where the index can be asked from there."""

        def tell(conn: Connection) -> _Told | tuple[Survey, float]:
            judge = self._judge_of(asked)
            survey, survey_ms = _surveyed(conn, asked.tenant_id, asked.question)
            told: _Told | None = None
            for per_pool in depths(asked.query):
                finds = self._finder.here(asked, survey, survey_ms, per_pool)
                if finds is None:
                    return survey, survey_ms
                # What the index found may be younger than the survey.
                look_again(conn)
                told = self._tell(conn, asked, judge, finds)
                if not told.is_short:
                    break
            return told or (survey, survey_ms)

        first = await self._engine.ledger.read(tell, within_s=self._within_s)
        if isinstance(first, _Told):
            return first
        return await self._look_on(asked, self._judge_of(asked), await self._finder.find(asked, *first, depths(asked.query)[0]))

    async def _beside(self, asked: Asked, survey: Soon[tuple[Survey, float]]) -> _Told:
        """The way to an index that lies elsewhere: what can be done meanwhile is done while it works."""
        per_pool = depths(asked.query)[0]
        begun = self._finder.begin(asked, survey.task, per_pool)
        try:
            known, survey_ms = await survey.begun()
            self._finder.note(asked, known)
            judge = self._judge_of(asked)
            return await self._look_on(asked, judge, await self._finder.find(asked, known, survey_ms, per_pool, begun))
        finally:
            begun.drop()

    def _survey(self, tenant_id: str, question: Question) -> Soon[tuple[Survey, float]]:
        """The survey, for an index that lies elsewhere: the question is embedded meanwhile.

        Of known spaces the index is asked first where the embedder is quick: it takes longer, and the survey would take its time away.
        """

        def begin() -> "asyncio.Task[tuple[Survey, float]]":
            reading = self._engine.ledger.read(lambda conn: _surveyed(conn, tenant_id, question), within_s=self._within_s)
            return asyncio.create_task(reading, name="recall-survey")

        return Soon(begin, _QUICK_S if self._finder.knows(tenant_id, question) else 0)

    async def _look_on(self, asked: Asked, judge: Judge, first: Finds) -> _Told:
        """What is told of the first finds; of more where these fall short."""
        told = await self._told(asked, judge, first)
        for per_pool in depths(asked.query)[1:]:
            # An index that fails at the second look has answered the first.
            if told.is_short and not (finds := await self._finder.find(asked, first.survey, first.survey_ms, per_pool)).down:
                told = await self._told(asked, judge, finds)
        return told

    async def _told(self, asked: Asked, judge: Judge, finds: Finds) -> _Told:
        return await self._engine.ledger.read(lambda conn: self._tell(conn, asked, judge, finds), within_s=self._within_s)

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
            return None, True, ms_since(at)
        if not self._yardstick.ready:
            await self._levels_ready()
        return vector, False, ms_since(at)

    async def _levels_ready(self) -> None:
        try:
            async with asyncio.timeout(_YARDSTICK_LIMIT_S):
                await self._yardstick.start()
        except (TimeoutError, ModelUnavailable, ModelRefused):
            # The embedder's general calibration stands in; the next recall tries again.
            return

    def _tell(self, conn: Connection, asked: Asked, judge: Judge, finds: Finds) -> _Told:
        """The last hop: read all that can be told, judge it, and read the evidence of what is told. Runs on a ledger thread."""
        choice = choose(conn, asked, finds, judge, self._engine.embedder.model)
        at = perf_counter()
        chosen, rows = choice.chosen, choice.rows
        of_chosen = [rows[item.memory.id] for item in chosen]
        # A first version replaced nothing: mostly nobody has to be asked.
        heads = {row.id: row.slot_key for row in of_chosen if row.slot_key is not None and row.version > 1}
        earlier = queries.earlier_values(conn, list(finds.survey.numbers.values()), heads)
        with queries.evidence_sent(conn, asked.tenant_id, [row.id for row in of_chosen], asked.query.user_id) as places:
            tellings = [telling_of(row) for row in of_chosen]
            brief = write_brief(tellings, earlier, asked.question.lang, asked.query.budget_tokens)
            evidence = _quoted(places())
        return _Told(
            finds, choice.sifted, chosen, tellings, brief, evidence, choice.read_ms + ms_since(at), choice.judged_ms, choice.is_short
        )

    def _judge_of(self, asked: Asked) -> Judge:
        engine = self._engine
        levels = None if asked.vector is None else self._yardstick.levels(asked.vector)
        return Judge(asked.query, asked.question, levels, engine.settings.relevance_gate, engine.rules, engine.clock.now())

    def _note(self, asked: Asked, answer: Recalled, own_space: int) -> None:
        query = asked.query
        self.log.add(
            {
                "id": answer.recall_id,
                "tenant_id": asked.tenant_id,
                "user_id": query.user_id,
                "agent_id": query.agent_id,
                "session_id": query.session_id,
                "run_id": query.run_id,
                "query": asked.question.text,
                "memory_ids": [item.memory_id for item in answer.items if item.tier != "dropped"],
                "degraded": answer.degraded,
                "at": self._engine.clock.now(),
            },
            own_space,
        )


def _surveyed(conn: Connection, tenant_id: str, question: Question) -> tuple[Survey, float]:
    """The survey, and how long it took in ms."""
    at = perf_counter()
    return survey(conn, tenant_id, question.spaces), ms_since(at)


def _quoted(evidence: queries.Evidence) -> dict[str, tuple[QuotedEvidence, ...]]:
    """Where the told items stand."""
    return {
        memory_id: tuple(
            assembled(
                QuotedEvidence,
                {"episode_id": place.episode_id, "session_id": place.session_id, "turn_id": place.turn_id, "quote": place.quote},
            )
            for place in places
        )
        for memory_id, places in evidence.items()
    }


def _answer(asked: Asked, told: _Told, gate: float) -> Recalled:
    chosen = zip(told.chosen, told.tellings, told.brief.tiers, strict=True)
    items = tuple(_item(scored, telling, tier, asked, told) for scored, telling, tier in chosen)
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


def _item(scored: Scored, telling: Telling, tier: Tier, asked: Asked, told: _Told) -> RecallItem:
    return assembled(
        RecallItem,
        {
            "memory_id": telling.id,
            "kind": telling.kind,
            "tier": tier,
            "score": scored.parts.score,
            "conclusion": telling.conclusion,
            "space": telling.space,
            "status": str(telling.status),
            "language": telling.language,
            "recorded_at": telling.recorded_at,
            "evidence": told.evidence.get(telling.id, ()),
            "retrospective_url": f"/v1/memories/{telling.id}",
            "retrospective": dict(telling.retrospective) if asked.query.include_retrospective else None,
            "why": explained(scored.parts) if asked.query.explain else None,
        },
    )


def _reason(asked: Asked, told: _Told, gate: float) -> str:
    lang = asked.question.lang
    if told.chosen:
        return wording.no_room(told.brief.needed, asked.query.budget_tokens, lang)
    if told.sifted.seen:
        return wording.nothing_relevant(told.sifted.best, gate, lang)
    if asked.query.kinds or asked.query.topics:
        return wording.nothing_of_that_sort(lang)
    return wording.nothing_known(lang)
