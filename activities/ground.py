"""Validate a stored answer, then let the gate decide what is kept at all."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from hindwise.engine import Engine
from hindwise.ledger import attempts, episodes, reflections
from hindwise.ledger.attempts import Attempt
from hindwise.ledger.recent import RecentEpisodes
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer
from hindwise.reflect.judged import judge, own_share
from hindwise.reflect.kept_words import masked_answer, masked_judgement
from hindwise.reflect.validators import Grounded
from hindwise.safety.contacts import Contacts
from workflows.contracts import GroundInput, GroundResult


async def ground(engine: Engine, message: GroundInput) -> GroundResult:
    """Judge an answer once; called again it tells what was judged. What the gate refuses is recorded and not complained about.

    What code puts beside a model's answer is kept with it and not counted as accepted: it is no reason to stop asking.
    """
    judged = await engine.ledger.read(lambda conn: attempts.judged(conn, message.reflection_id, message.attempt))
    if judged is not None:
        return _result(message, judged["accepted"], judged["rejected"], judged["complaints"])
    attempt, episode, created_at = await engine.ledger.read(lambda conn: _load(conn, message, engine.recent))
    judged_now, clean = await asyncio.to_thread(_judged, episode, attempt.answer, engine.settings.contacts())
    accepted, complaints = judged_now.accepted, judged_now.complaints
    rejected = [item for _, item in judged_now.rejected]

    def keep(conn: Connection) -> None:
        reflections.same(conn, message.reflection_id, created_at)
        attempts.store_grounded(
            conn,
            message.reflection_id,
            message.attempt,
            accepted=accepted,
            rejected=rejected,
            complaints=complaints,
            without_secrets=None if clean is attempt.answer else clean,
        )

    await engine.ledger.write(keep)
    return _result(message, accepted, rejected, complaints)


def _judged(episode: Episode, answer: Answer, contacts: Contacts) -> tuple[Grounded, Answer]:
    """What was judged, and the answer, as both are kept: a model may invent a secret, and a turn of before may hold a number."""
    return masked_judgement(judge(episode, answer), contacts), masked_answer(answer, contacts)


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
    attempt = attempts.get(conn, message.reflection_id, message.attempt)
    row = reflections.row_of(conn, message.reflection_id)
    return attempt, episodes.load(conn, row.tenant_id, row.episode_id, recent=recent), row.created_at
