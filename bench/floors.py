"""The floors: what Temporal alone takes for the same messages and steps. Workflows of the bench, as thin as ours, with nothing in them."""

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows import policies
    from workflows.contracts import RECORD_TURNS, Done, ReflectionInput, SessionAck, SessionInput, StepInput, TurnsRecorded

PREFIX = "floor"
"""Of the task queues."""
SESSION = "bench.Session"
STEPS = "bench.Steps"
STEP_NAMES = ("gather", "reflect", "ground", "resolve", "index", "credit", "finish")
"""As many activities, one after the other, as a reflection by rules has."""


@workflow.defn(name=SESSION)
class FloorSession:
    """Counts turns and keeps an idle deadline, as a session does; no details, attributes, dedupe, reflections."""

    @workflow.init
    def __init__(self, start: SessionInput) -> None:
        self._idle = timedelta(minutes=start.idle_minutes)
        self._count = 0
        self._last_seq = 0
        self._last_turn: datetime | None = None

    @workflow.run
    async def run(self, start: SessionInput) -> int:
        """Wait until the session is idle; returns its count."""
        while True:
            left = (self._last_turn or workflow.info().start_time) + self._idle - workflow.now()
            if left <= timedelta(0):
                return self._count
            try:
                await workflow.wait_condition(lambda: False, timeout=left)
            except TimeoutError:
                continue

    @workflow.update(name=RECORD_TURNS)
    def record_turns(self, turns: TurnsRecorded) -> SessionAck:
        """Count."""
        self._count += turns.count
        self._last_seq = max(self._last_seq, turns.last_seq)
        self._last_turn = workflow.now()
        return SessionAck(turn_count=self._count, last_seq=self._last_seq)


@workflow.defn(name=STEPS)
class FloorSteps:
    """The steps of a reflection, each an activity that returns at once, with the same limits, on the same queue as ours are."""

    @workflow.init
    def __init__(self, start: ReflectionInput) -> None:
        self._start = start

    @workflow.run
    async def run(self, start: ReflectionInput) -> Done:
        """One step after the other."""
        for name in STEP_NAMES:
            policy = policies.INDEX_STEP if name == "index" else policies.LEDGER_STEP
            await workflow.execute_activity(
                name,
                StepInput(reflection_id=start.reflection_id),
                result_type=Done,
                task_queue=policies.store_queue(start.queue_prefix),
                start_to_close_timeout=policy.start_to_close,
                schedule_to_close_timeout=policy.budget,
                heartbeat_timeout=policy.heartbeat,
                retry_policy=policy.retry,
            )
        return Done()
