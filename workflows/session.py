"""A session: counts turns, keeps the idle deadline, starts reflections. Lives for days and holds no word of any turn.

Updates change state only and refuse nothing; all that takes time happens in the run loop. A turn after the end opens a new run.
"""

from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError, WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from workflows import contracts, ids, policies
    from workflows.contracts import (
        CaptureInput,
        CaptureResult,
        CloseIdleInput,
        CloseIdleResult,
        ReflectionInput,
        SessionAck,
        SessionInput,
        SessionState,
        TaskCompleted,
        TurnsRecorded,
    )
    from workflows.steps import run_step

_GONE = frozenset({"not-found", "space-erased"})


@workflow.defn(name=contracts.SESSION_WORKFLOW)
class Session:
    """One run of one session; `state` is carried across continue-as-new."""

    @workflow.init
    def __init__(self, start: SessionInput) -> None:
        self._start = start
        self._state = start.state
        # An idle check that the ledger could not answer is repeated then, without a turn having come.
        self._not_before: datetime | None = None
        self._ended = False

    @workflow.run
    async def run(self, start: SessionInput) -> SessionState:
        """Wait for turns until the session is closed or idle."""
        while not self._ended:
            await self._start_reflections()
            self._describe()
            if self._state.closing:
                break
            if self._state.updates_this_run >= policies.CONTINUE_AFTER_TURNS or workflow.info().is_continue_as_new_suggested():
                self._continue_as_new()
            if (due := self._capture_due()) is not None and due <= workflow.now():
                await self._capture()
                continue
            left = self._deadline() - workflow.now()
            if left <= timedelta(0):
                await self._close_idle()
            else:
                await self._wait(left, due)
        self._upsert_phase("closed")
        workflow.set_current_details(f"Ended after {_count(self._state.turn_count, 'turn')}. A later turn opens a new run.")
        return self._state

    # ---- messages: changes of state, nothing else ------------------------------------------------------------------------

    @workflow.update(name=contracts.RECORD_TURNS, description="Turns were written to the ledger; count them.")
    def record_turns(self, turns: TurnsRecorded) -> SessionAck:
        """Count turns that stand in the ledger. Numbers are the ledger's, so overlapping or repeated news changes nothing."""
        if self._is_new(turns.update_id) and turns.count:
            last_seq = max(self._state.last_seq, turns.last_seq)
            self._change(last_seq=last_seq, turn_count=last_seq, last_turn_at=workflow.now(), closing=False)
            if turns.capture and not self._state.capture_from:
                self._change(capture_from=turns.first_seq, capture_since=workflow.now())
        return self._ack()

    @workflow.update(name=contracts.COMPLETE_TASK, description="A task ended; start its reflection.")
    def complete_task(self, task: TaskCompleted) -> SessionAck:
        """Note that a task ended; the run loop starts its reflection."""
        if self._is_new(task.update_id):
            last_seq = max(self._state.last_seq, task.last_seq)
            self._change(
                last_seq=last_seq,
                turn_count=last_seq,
                last_turn_at=workflow.now(),
                closed_seq=max(self._state.closed_seq, task.last_seq),
                episodes=self._state.episodes + 1,
                to_start=(*self._state.to_start, task.reflection_id),
                closing=task.close or self._state.closing,
            )
            if self._state.capture_from <= task.last_seq:
                self._change(capture_from=0, capture_since=None)  # the look back reads those turns
        return self._ack()

    def _is_new(self, update_id: str) -> bool:
        if update_id in self._state.seen_updates:
            return False
        seen = (*self._state.seen_updates, update_id)[-policies.SEEN_UPDATES :]
        self._change(seen_updates=seen, updates_this_run=self._state.updates_this_run + 1)
        self._not_before = None
        return True

    def _change(self, **values: object) -> None:
        self._state = self._state.model_copy(update=values)

    def _ack(self) -> SessionAck:
        self._describe()
        return SessionAck(turn_count=self._state.turn_count, last_seq=self._state.last_seq)

    # ---- the loop --------------------------------------------------------------------------------------------------------

    def _deadline(self) -> datetime:
        """Absolute, so that a turn moves it without a new timer."""
        if self._not_before is not None:
            return self._not_before
        return (self._state.last_turn_at or workflow.info().start_time) + timedelta(minutes=self._start.idle_minutes)

    def _capture_due(self) -> datetime | None:
        """A pause after the last turn, at the latest a while after the first that asked; None where nothing is to be captured."""
        since = self._state.capture_since
        if not self._state.capture_from or since is None:
            return None
        return min((self._state.last_turn_at or since) + policies.CAPTURE_AFTER, since + policies.CAPTURE_AT_MOST)

    async def _wait(self, left: timedelta, capture_due: datetime | None) -> None:
        """Until there is something to do, or the time is over; a turn only moves the deadline, and the loop looks again."""
        waiting = self._state.capture_from
        summary = f"idle after {self._start.idle_minutes:g} min without a turn"
        if capture_due is not None and capture_due - workflow.now() < left:
            left, summary = capture_due - workflow.now(), "keeps what the user asked to remember after a pause"
        try:
            await workflow.wait_condition(
                lambda: (
                    bool(self._state.to_start)
                    or self._state.closing
                    or self._state.updates_this_run >= policies.CONTINUE_AFTER_TURNS
                    or self._state.capture_from != waiting
                ),
                timeout=left,
                timeout_summary=summary,
            )
        except TimeoutError:
            return

    async def _start_reflections(self) -> None:
        while self._state.to_start:
            await self._start_reflection(self._state.to_start[0])
            # Taken off after the start, so that a task completed meanwhile stays in line behind it.
            self._change(to_start=self._state.to_start[1:])

    async def _start_reflection(self, reflection_id: str) -> None:
        start = self._start
        attributes = [
            SearchAttributePair(policies.TENANT, start.tenant_hash),
            SearchAttributePair(policies.SPACE, start.space_hash),
            SearchAttributePair(policies.PHASE, "running"),
        ]
        try:
            await workflow.start_child_workflow(
                contracts.REFLECTION_WORKFLOW,
                ReflectionInput(
                    reflection_id=reflection_id,
                    tenant_hash=start.tenant_hash,
                    space_hash=start.space_hash,
                    queue_prefix=start.queue_prefix,
                    search_attributes=start.search_attributes,
                ),
                id=ids.reflection_workflow(reflection_id, start.queue_prefix),
                task_queue=policies.store_queue(start.queue_prefix),
                # It outlives this session's run; the default would kill it at the end and at continue-as-new.
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                # The ledger says whether it is final, not Temporal's retention: a second run finds that out and stops.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=TypedSearchAttributes(attributes) if start.search_attributes else None,
                static_summary=policies.REFLECTION_SUMMARY,
                priority=policies.REFLECTION_PRIORITY,
            )
        except WorkflowAlreadyStartedError:
            workflow.logger.debug("reflection runs already")

    async def _capture(self) -> None:
        """Keep what the user asked to remember. What fails is left to the look back over the task."""
        first = self._state.capture_from
        # Taken off before, so that what is asked for meanwhile waits for its own turn.
        self._change(capture_from=0, capture_since=None)
        try:
            await run_step(
                "capture",
                CaptureInput(handle=self._start.handle, first_seq=first, last_seq=self._state.last_seq),
                CaptureResult,
                policies.CAPTURE_STEP,
                queue=policies.session_queue(self._start.queue_prefix),
                summary="keep what the user asked to remember",
            )
        except ActivityError:
            workflow.logger.debug("capture left to the reflection")

    async def _close_idle(self) -> None:
        try:
            done = await run_step(
                "close_idle",
                CloseIdleInput(handle=self._start.handle, last_seq=self._state.last_seq),
                CloseIdleResult,
                policies.LEDGER_STEP,
                queue=policies.session_queue(self._start.queue_prefix),
                summary="close the open task of an idle session",
            )
        except ActivityError as error:
            if isinstance(error.cause, ApplicationError) and error.cause.type in _GONE:
                self._ended = True
                return
            self._not_before = workflow.now() + policies.LEDGER_RETRY
            return
        self._after_idle(done)

    def _after_idle(self, done: CloseIdleResult) -> None:
        waiting = [item for item in done.reflection_ids if item not in self._state.to_start]
        self._change(to_start=(*self._state.to_start, *waiting), episodes=self._state.episodes + len(waiting))
        if done.newer_turns:
            # Their update is on its way (or lost, and the sweep sends it): adopt their number and wait once more.
            last_seq = max(self._state.last_seq, done.last_seq)
            self._change(last_seq=last_seq, turn_count=last_seq, last_turn_at=workflow.now())
            return
        self._change(closed_seq=max(self._state.closed_seq, done.last_seq))
        # A turn may have come while the ledger closed what was there: then the session goes on.
        if self._state.last_seq <= done.last_seq:
            self._change(closing=True)

    def _continue_as_new(self) -> None:
        """Handlers change state only, so none is ever unfinished here: the carried state is whole."""
        workflow.continue_as_new(self._start.model_copy(update={"state": self._state.model_copy(update={"updates_this_run": 0})}))

    # ---- what people see -------------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        turns, tasks = _count(self._state.turn_count, "turn"), _count(self._state.episodes, "finished task")
        if self._not_before is not None:
            workflow.set_current_details(f"{turns}, {tasks}. The ledger did not answer when the session was idle; asked again soon.")
            return
        workflow.set_current_details(f"{turns}, {tasks}, waiting for the next turn or {self._start.idle_minutes:g} min idle.")

    def _upsert_phase(self, phase: str) -> None:
        if self._start.search_attributes:
            workflow.upsert_search_attributes([policies.PHASE.value_set(phase)])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
