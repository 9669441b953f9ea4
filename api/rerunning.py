"""Another look back: computed and compared here, or queued as a run of its own."""

import asyncio
from uuid import uuid4

from sqlalchemy import Connection

from api.answers import ChangedConclusion, Conclusion, RerunAnswer
from api.bodies import RerunBody
from api.services import Services
from hindwise.engine import Engine
from hindwise.errors import AnswerUnusable, InvalidInput, ModelUnavailable
from hindwise.ledger import episodes, reflections, refusals, reruns
from hindwise.ledger.intake import Accepted, ReflectorId
from hindwise.ledger.reruns import Before
from hindwise.ledger.spending import hold_id
from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Memory
from hindwise.model.reflection import Answer, Usage
from hindwise.reflect.base import Known
from hindwise.reflect.budget import estimate
from hindwise.reflect.judged import judge
from hindwise.reflect.kept_words import masked_judgement
from hindwise.reflect.known import earlier_of, examples_of, with_memories
from hindwise.reflect.llm import LlmReflector
from hindwise.reflect.llm.prompt import PROMPT_VERSION
from hindwise.reflect.metered import Meter
from hindwise.reflect.placing import placements_of
from hindwise.reflect.rerun import compare
from hindwise.reflect.rules import RuleReflector, reflect_by_rules

_COMPARING = "comparing-by-a-model"
"""Name of the lock; other locks are named by tenant and key."""


def wanted(engine: Engine, body: RerunBody) -> ReflectorId:
    """Who looks back again. Raises InvalidInput where this installation has no such reflector, model or prompt."""
    name = body.reflector or engine.reflector_id().name
    if name == "rules":
        chosen = ReflectorId("rules", "", RuleReflector.prompt_version)
    elif not engine.settings.llm_model:
        raise InvalidInput("reflector: no model is set; set LLM_BASE_URL and LLM_MODEL, or take `rules`")
    else:
        chosen = ReflectorId("llm", engine.settings.llm_model, PROMPT_VERSION)
    for field, asked, held in (("model", body.model, chosen.model), ("prompt_version", body.prompt_version, chosen.prompt_version)):
        if asked is not None and asked != held:
            raise InvalidInput(f"{field}: this installation reflects with {held or 'none'!r}; change the setting, then ask again")
    return chosen


async def rerun(services: Services, tenant_id: str, reflection_id: str, body: RerunBody) -> RerunAnswer:
    """Compare or queue. Raises NotFound, NotAllowed, InvalidInput, ModelUnavailable, ModelRefused; BudgetSpent, then nothing is queued."""
    engine = services.engine
    await engine.ledger.read(lambda conn: reflections.row_of(conn, reflection_id, tenant_id=tenant_id))
    by = wanted(engine, body)
    written_by = " ".join(part for part in (by.name, by.model, by.prompt_version) if part)
    if body.apply:
        accepted = await _queued(engine, tenant_id, reflection_id, by)
        if not accepted.duplicate:  # else it belongs to whoever accepted it first, or to the sweep
            services.dispatch.reflection(tenant_id, accepted)
        told = {"episode_id": accepted.episode_id, "reflection_id": accepted.reflection_id, "duplicate": accepted.duplicate}
        return RerunAnswer(status="queued", written_by=written_by, **told)
    if by.name == "rules":
        return await _compared(engine, tenant_id, reflection_id, by.name, written_by)
    # A comparison is asked by this process, beside the workers' queue: one at a time, within the same day and the same minute.
    try:
        async with asyncio.timeout(engine.settings.llm_timeout_s):
            await services.locks.acquire(_COMPARING)
    except TimeoutError:
        raise ModelUnavailable("another comparison is under way here: ask again when it is done", retry_after_s=10) from None
    try:
        return await _compared(engine, tenant_id, reflection_id, by.name, written_by)
    finally:
        services.locks.release(_COMPARING)


async def _queued(engine: Engine, tenant_id: str, reflection_id: str, by: ReflectorId) -> Accepted:
    """Queue the next run, once. A model's tokens are kept free for it at once: of many queued together none falls back to rules."""
    now, meter, tokens = engine.clock.now(), Meter(engine, by.model), 0
    if (known := await engine.ledger.read(lambda conn: reruns.repeated(conn, tenant_id, reflection_id, by))) is not None:
        return known
    if by.name != "rules" and meter.ceiling:
        before = await engine.ledger.read(lambda conn: reruns.before(conn, tenant_id, reflection_id))
        episode = await engine.ledger.read(lambda conn: episodes.assemble(conn, before.episode, engine.recent))
        tokens = await asyncio.to_thread(estimate, episode.turns)

    def queue(conn: Connection) -> Accepted:
        accepted = reruns.queue(conn, tenant_id, reflection_id, by, now)
        if tokens and not accepted.duplicate:
            meter.plan(conn, tenant_id, hold_id(accepted.reflection_id, 1), tokens)
        return accepted

    return await engine.ledger.write(queue)


async def _compared(engine: Engine, tenant_id: str, reflection_id: str, name: str, written_by: str) -> RerunAnswer:
    def read(conn: Connection) -> tuple[Before, Episode, Known]:
        found = reruns.before(conn, tenant_id, reflection_id)
        episode = episodes.assemble(conn, found.episode, engine.recent)
        known = Known(earlier=earlier_of(conn, episode, found.episode.task_key))
        return found, episode, known.model_copy(update={"examples": examples_of(conn, episode)}) if name == "llm" else known

    found, episode, known = await engine.ledger.read(read)
    answer = await _answer(engine, name, episode, found.episode.task_key, known)
    judged = await asyncio.to_thread(lambda: masked_judgement(judge(episode, answer), engine.settings.contacts()))
    to_agent = engine.settings.lessons == "agent"
    placed, ownerless = await asyncio.to_thread(placements_of, judged.accepted, episode, lessons_to_agent=to_agent)
    refused = [*(item for _, item in judged.rejected), *ownerless]
    told = compare(found.concluded, placed)
    return RerunAnswer(
        episode_id=episode.id,
        status="compared",
        written_by=written_by,
        added=[_conclusion(draft) for draft in told.added],
        changed=[ChangedConclusion(before=_conclusion(old), after=_conclusion(draft)) for old, draft in told.changed],
        dropped=[_conclusion(memory) for memory in told.dropped],
        same=told.same,
        rejected=[refusals.as_told(item, attempt=1, written_by=written_by) for item in refused],
        nothing_because=answer.nothing_because,
        usage=answer.usage,
    )


async def _answer(engine: Engine, name: str, episode: Episode, task_key: str, known: Known) -> Answer:
    if name == "rules":
        return await asyncio.to_thread(reflect_by_rules, episode, known)
    reflector, meter = LlmReflector(engine.settings, engine.ledger, engine.clock), Meter(engine, engine.settings.llm_model)
    try:
        near = await with_memories(engine.ledger, engine.index, engine.embedder, episode, task_key, known)
        await meter.place(engine.settings.llm_timeout_s)
        async with meter.question(episode.tenant_id, str(uuid4()), episode.turns, placed=True) as held:
            try:
                answer, fault = await reflector.reflect(episode, near), ""
            except AnswerUnusable as error:
                answer, fault = Answer(usage=Usage(**error.usage)), error.detail
        usage = meter.accounted(answer.usage)
        await engine.ledger.write(lambda conn: meter.settle(conn, held, usage))
    finally:
        await reflector.close()
    if fault:
        raise ModelUnavailable(f"the model's answer cannot be used: {fault}"[:300])
    return answer.model_copy(update={"usage": usage})


def _conclusion(words: Draft | Memory) -> Conclusion:
    return Conclusion(
        memory_id=words.id if isinstance(words, Memory) else "",
        kind=words.kind,
        conclusion=words.conclusion,
        value=words.value,
        applies_when=words.applies_when,
    )
