"""Validate a stored answer, then let the gate decide what is kept at all."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import episodes, reflections
from hindwise.ledger.recent import RecentEpisodes
from hindwise.ledger.reflections import Attempt
from hindwise.model.episode import Episode
from hindwise.model.memory import MAX_SNIPPET_CHARS, Draft
from hindwise.model.reflection import Answer, Rejected
from hindwise.reflect.judged import judge, own_share
from hindwise.safety.masking import mask, mask_json
from workflows.contracts import GroundInput, GroundResult


async def ground(engine: Engine, message: GroundInput) -> GroundResult:
    """Judge an answer once; called again it tells what was judged. What the gate refuses is recorded and not complained about.

    What code puts beside a model's answer is kept with it and not counted as accepted: it is no reason to stop asking.
    """
    judged = await engine.ledger.read(lambda conn: reflections.judged(conn, message.reflection_id, message.attempt))
    if judged is not None:
        return _result(message, judged["accepted"], judged["rejected"], judged["complaints"])
    attempt, episode, created_at = await engine.ledger.read(lambda conn: _load(conn, message, engine.recent))
    judged_now = await asyncio.to_thread(judge, episode, attempt.answer)
    accepted, complaints = judged_now.accepted, judged_now.complaints
    rejected = [item for _, item in judged_now.rejected]
    clean = _without_secrets(attempt.answer) if any(item.rule == "secret" for item in complaints) else None

    def keep(conn: Connection) -> None:
        reflections.same(conn, message.reflection_id, created_at)
        reflections.store_grounded(
            conn,
            message.reflection_id,
            message.attempt,
            accepted=accepted,
            rejected=rejected if clean is None else [_masked(item) for item in rejected],
            complaints=complaints,
            without_secrets=clean,
        )

    await engine.ledger.write(keep)
    return _result(message, accepted, rejected, complaints)


def _result(
    message: GroundInput, accepted: Sequence[Sequence[Any]], rejected: Sequence[object], complaints: Sequence[object]
) -> GroundResult:
    own = own_share([int(ordinal) for ordinal, _ in accepted])
    return GroundResult(
        accepted=own,
        rejected=len(rejected),
        complaints=len(complaints),
        gave_up=message.attempt > 1 and own == 0 and not complaints,
    )


def _load(conn: Connection, message: GroundInput, recent: RecentEpisodes) -> tuple[Attempt, Episode, datetime]:
    """The answer, the episode, and when the reflection was created."""
    attempt = reflections.attempt_of(conn, message.reflection_id, message.attempt)
    row = reflections.row_of(conn, message.reflection_id)
    return attempt, episodes.load(conn, row.tenant_id, row.episode_id, recent=recent), row.created_at


def _masked(item: Rejected) -> Rejected:
    return item.model_copy(update={"draft": _clean(item.draft)})


def _without_secrets(answer: Answer) -> Answer:
    """What is stored holds no secret, also where a model invented one or put it together."""
    return answer.model_copy(update={"drafts": tuple(_clean(draft) for draft in answer.drafts), "raw": mask(answer.raw).text})


def _clean(draft: Draft) -> Draft:
    """Masked; a mark may be longer than what it stands for, and no field outgrows its bounds."""
    masked = mask_json(draft.model_dump(mode="json"))
    for name, field in Draft.model_fields.items():
        limit = next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), None)
        if isinstance(masked[name], str) and limit:
            masked[name] = masked[name][:limit]
    for place in masked["evidence"]:
        place["quote"] = place["quote"][:MAX_SNIPPET_CHARS]
    return Draft(**masked)
