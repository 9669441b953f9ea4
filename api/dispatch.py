"""From ledger to Temporal: a bounded wait for turns, background work for reflections, and the marks that say what arrived.

What does not arrive here is found by the sweeper; so nothing in this module may fail a request.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy import Connection

from api.temporal import Starter
from hindwise.engine import Engine
from hindwise.errors import HindwiseError
from hindwise.ledger import erasures, reflections, sessions
from hindwise.ledger.erasures import Erasure
from hindwise.ledger.intake import Accepted
from hindwise.ledger.sessions import Recorded, SessionRow
from hindwise.model.ids import keyed_hash
from hindwise.model.space import spaces_of
from hindwise.model.turn import Turn
from hindwise.reflect.live import has_cue
from hindwise.text.remembered import remembered
from workflows.contracts import ReflectionInput, SessionInput, TaskCompleted, TurnsRecorded
from workflows.erase_messages import EraseInput

_log = structlog.get_logger("hindwise.api")

_MAX_BACKGROUND = 500
"""Beyond this the sweeper does it: a burst must not pile up work in memory."""
_AT_ONCE = 32
_LAST_WAIT_S = 2.0
_READ_AT_ONCE = 4_000
"""Characters of turns that are searched for cues without another thread."""
_NOTE_AFTER_S = 0.1
"""Acknowledgements of turns are noted together after this time: no caller waits for it, and one transaction serves many."""


_name_of = remembered(4_096)(keyed_hash)
"""Tenants and spaces come again with every turn."""


@dataclass(slots=True)
class Dispatch:
    """Tells Temporal what was accepted, and the ledger that Temporal knows."""

    engine: Engine
    starter: Starter
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _acknowledged: dict[str, int] = field(default_factory=dict)
    """Session handle -> last turn that its workflow acknowledged, until the ledger has noted it. Lost in a crash, the sweep tells again."""
    _noting: asyncio.Task[None] | None = None
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    def session_input(self, session: SessionRow) -> SessionInput:
        """What a session's workflow is started with: hashes only."""
        settings = self.engine.settings
        return SessionInput(
            handle=session.handle,
            tenant_hash=self._name("tenant", session.tenant_id),
            space_hash=self._space_hash(session.tenant_id, spaces_of(session.user_id, session.agent_id)),
            idle_minutes=settings.session_idle_minutes,
            queue_prefix=settings.task_queue_prefix,
        )

    def reflection_input(self, tenant_id: str, reflection_id: str, spaces: tuple[str, ...]) -> ReflectionInput:
        """What a reflection's workflow is started with."""
        return ReflectionInput(
            reflection_id=reflection_id,
            tenant_hash=self._name("tenant", tenant_id),
            space_hash=self._space_hash(tenant_id, spaces),
            queue_prefix=self.engine.settings.task_queue_prefix,
        )

    def _space_hash(self, tenant_id: str, spaces: tuple[str, ...]) -> str:
        return self._name("space", tenant_id, spaces[0])

    def _name(self, *parts: str) -> str:
        return _name_of(self.engine.secret, *parts)

    def _hash(self, *parts: str) -> str:
        return keyed_hash(self.engine.secret, *parts)

    async def turns(self, recorded: Recorded, *, capture: bool = False) -> bool:
        """Tell the session's workflow of new turns; False when it could not be told now. Waits at most the RPC timeout.

        capture: one of them asks for something to be remembered now.
        """
        session = recorded.session
        if not recorded.recorded:
            return max(session.seen_seq, self._acknowledged.get(session.handle, 0)) >= session.last_seq
        if not await self._told(session, recorded.first_seq, recorded.last_seq, capture):
            return False
        self._acknowledged[session.handle] = max(recorded.last_seq, self._acknowledged.get(session.handle, 0))
        if self._noting is None or self._noting.done():
            self._noting = self._task(self._note_acknowledged())
        return True

    async def turn_range(self, session: SessionRow, first: int, last: int) -> bool:
        """Tell the session's workflow of turns first..last (inclusive) and note it; False when it could not be told now."""
        # What asks to be remembered waits for no reflection, also where Temporal was away when it came.
        turns = await self.engine.ledger.read(lambda conn: sessions.turns_of(conn, session.tenant_id, session.session_id, first, last))
        if not await self._told(session, first, last, await self.asks_to_remember(session, turns)):
            return False
        await self.engine.ledger.write(lambda conn: sessions.mark_seen(conn, session.handle, last))
        return True

    async def asks_to_remember(self, session: SessionRow, turns: Sequence[Turn]) -> bool:
        """Whether something in these turns is to be kept at once. A task that names no user has nobody to keep it for."""
        if not (self.engine.settings.live_capture and session.user_id):
            return False
        small = sum(len(turn.content) for turn in turns) < _READ_AT_ONCE
        return has_cue(turns) if small else await asyncio.to_thread(has_cue, turns)

    async def _told(self, session: SessionRow, first: int, last: int, capture: bool) -> bool:
        update_id = self._hash("turns", session.handle, str(first), str(last))
        told = TurnsRecorded(update_id=update_id, first_seq=first, last_seq=last, count=last - first + 1, capture=capture)
        try:
            await self.starter.send_turns(self.session_input(session), told)
        except HindwiseError as error:
            _log.info("turns.queued", session=session.handle, last_seq=last, error=error.type)
            return False
        return True

    async def _note_acknowledged(self) -> None:
        """Until nothing is left to note. Entries go when the ledger has them, so that a duplicate is never called queued in between."""
        while self._acknowledged:
            await asyncio.sleep(_NOTE_AFTER_S)
            noted = dict(self._acknowledged)

            def work(conn: Connection, noted: dict[str, int] = noted) -> None:
                for handle, seq in noted.items():
                    sessions.mark_seen(conn, handle, seq)

            try:
                await self.engine.ledger.write(work)
            except HindwiseError as error:
                _log.info("acknowledged.lost", sessions=len(noted), error=error.type)
            self._acknowledged = {handle: seq for handle, seq in self._acknowledged.items() if seq > noted.get(handle, 0)}

    def completion(self, session: SessionRow, accepted: Accepted, *, close: bool) -> None:
        """Tell the session's workflow, in the background, that its task ended."""
        task = TaskCompleted(
            update_id=self._hash("complete", session.handle, accepted.reflection_id, str(close)),
            reflection_id=accepted.reflection_id,
            last_seq=accepted.last_seq,
            close=close,
        )
        self._in_background(self._complete(session, task))

    async def _complete(self, session: SessionRow, task: TaskCompleted) -> None:
        await self.starter.send_completion(self.session_input(session), task)
        now = self.engine.clock.now()
        await self.engine.ledger.write(lambda conn: reflections.set_dispatched(conn, task.reflection_id, now))

    def reflection(self, tenant_id: str, accepted: Accepted) -> None:
        """Start a queued reflection in the background."""
        self._in_background(self.start(tenant_id, accepted.reflection_id, accepted.spaces))

    async def start(self, tenant_id: str, reflection_id: str, spaces: tuple[str, ...]) -> None:
        """Start a reflection and note it. Raises WorkflowsUnavailable, LedgerUnavailable."""
        await self.starter.start_reflection(self.reflection_input(tenant_id, reflection_id, spaces))
        now = self.engine.clock.now()
        await self.engine.ledger.write(lambda conn: reflections.set_dispatched(conn, reflection_id, now))

    def erasure(self, erasure: Erasure) -> None:
        """Start an erasure in the background; one that waits tries again."""
        self._in_background(self.start_erasure(erasure))

    async def start_erasure(self, erasure: Erasure) -> None:
        """Start an erasure and note it. Raises WorkflowsUnavailable, LedgerUnavailable."""
        await self.starter.start_erasure(
            EraseInput(
                erasure_id=erasure.id,
                tenant_hash=self._name("tenant", erasure.tenant_id),
                space_hash=erasure.user_hash,
                queue_prefix=self.engine.settings.task_queue_prefix,
            )
        )
        now = self.engine.clock.now()
        await self.engine.ledger.write(lambda conn: erasures.set_dispatched(conn, erasure.id, now))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._tasks) >= _MAX_BACKGROUND:
            work.close()
            return
        self._task(self._guarded(work))

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            async with self._slots:
                await work
        except HindwiseError as error:
            _log.info("dispatch.later", error=error.type)
        finally:
            work.close()

    async def idle(self) -> None:
        """Wait until the background work of this moment is done."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Give the background work a moment, then end it: the sweeper of the next start does the rest."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_LAST_WAIT_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
