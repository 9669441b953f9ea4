"""Finds what was accepted but never reached Temporal: erasures and reflections without a start, turns that no workflow has seen.

And what Temporal has lost since: reflections that run for long are started again, which changes nothing where their workflow runs.

One process at a time (a lease); what two of them did would still be the same work twice, not two works.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection, Row

from api.dispatch import Dispatch
from hindwise.errors import HindwiseError
from hindwise.ledger import episodes, erasures, leases, reflections, sessions
from hindwise.model.space import spaces_of

_log = structlog.get_logger("hindwise.api")

_BATCH = 100
_YOUNG = timedelta(seconds=3)
"""Younger work is being dispatched by whoever accepted it."""
_LOST_START = timedelta(minutes=2)
"""Dispatched this long ago and still without a start: told again, which changes nothing where the workflow exists."""
_LOST_RUN, _LOST_RUNS = timedelta(minutes=15), 20
"""Running for longer than this: its workflow may have been terminated by hand, or gone with Temporal's database. So many at once."""
_FIRST_REST, _LONGEST_REST = timedelta(seconds=10), timedelta(minutes=5)
_LEASE_S = 10.0
"""Not longer: after a crash of its holder, this long nobody sweeps."""


@dataclass(slots=True)
class Sweeper:
    """Call `run` as a task; it ends when cancelled."""

    dispatch: Dispatch
    _rests: dict[str, tuple[datetime, timedelta]] = field(default_factory=dict)
    """Session handle -> until when it is left alone, and for how long that is: one that no worker can take must not hold up the others."""

    async def run(self) -> None:
        """Sweep at the interval of the settings, for ever."""
        interval = self.dispatch.engine.settings.sweep_interval_s
        while True:
            await asyncio.sleep(interval)
            try:
                await self.sweep()
            except HindwiseError as error:
                _log.warning("sweep.later", error=error.type)
            except Exception as error:  # one bad pass must not end all later ones
                _log.error("sweep.failed", error=type(error).__name__)

    async def sweep(self) -> int:
        """Do one pass; return how many sessions and reflections were told. Raises LedgerUnavailable."""
        engine = self.dispatch.engine
        now = engine.clock.now()
        seconds = max(_LEASE_S, engine.settings.sweep_interval_s * 2)
        if not await engine.ledger.write(lambda conn: leases.take(conn, "sweep", engine.holder, now, seconds)):
            return 0
        if not self.dispatch.starter.available():
            return 0
        return await self._erasures(now) + await self._reflections(now) + await self._sessions(now)

    async def _erasures(self, now: datetime) -> int:
        waiting = await self.dispatch.engine.ledger.read(lambda conn: erasures.waiting(conn, now - _YOUNG, now - _LOST_RUN, _BATCH))
        told = 0
        for erasure in waiting:
            try:
                await self.dispatch.start_erasure(erasure)
                told += 1
            except HindwiseError as error:
                _log.info("sweep.erasure_later", erasure=erasure.id, error=error.type)
                break  # the next would wait for the same outage
        return told

    async def _reflections(self, now: datetime) -> int:
        waiting = await self.dispatch.engine.ledger.read(lambda conn: _waiting(conn, now))
        told = 0
        for row, spaces in waiting:
            try:
                await self.dispatch.start(row.tenant_id, row.id, spaces)
                told += 1
            except HindwiseError as error:
                _log.info("sweep.reflection_later", reflection=row.id, error=error.type)
                break  # the next would wait for the same outage
        return told

    async def _sessions(self, now: datetime) -> int:
        batch = _BATCH + len(self._rests)
        unseen = await self.dispatch.engine.ledger.read(lambda conn: sessions.unseen(conn, now - _YOUNG, batch))
        self._rests = {session.handle: self._rests[session.handle] for session in unseen if session.handle in self._rests}
        told = 0
        for session in unseen:
            until, length = self._rests.get(session.handle, (now, _FIRST_REST / 2))
            if until > now:
                continue
            if not await self.dispatch.turn_range(session, session.seen_seq + 1, session.last_seq):
                length = min(length * 2, _LONGEST_REST)
                self._rests[session.handle] = (now + length, length)
                break  # the next would most likely wait for the same outage
            told += 1
        return told


def _waiting(conn: Connection, now: datetime) -> list[tuple[Row[tuple[object, ...]], tuple[str, ...]]]:
    found = []
    lost = reflections.stalled(conn, now - _LOST_RUN, _LOST_RUNS)
    for row in [*reflections.waiting(conn, now, now - _YOUNG, now - _LOST_START, _BATCH), *lost]:
        episode = episodes.row_of(conn, row.tenant_id, row.episode_id)
        found.append((row, spaces_of(episode.user_id, episode.agent_id)))
    return found
