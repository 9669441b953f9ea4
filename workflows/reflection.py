"""One look back over one finished task, readable as a list of steps: gather, reflect and ground, resolve, index, credit, finish.

A model that does not answer, or answers without ground, is replaced by the rules, and that is marked. What cannot go on after its
retries parks and waits for a person's signal; then it goes on from the step that failed. It never ends as an empty success.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate
from temporalio.exceptions import ActivityError, CancelledError

with workflow.unsafe.imports_passed_through():
    from workflows import contracts, policies
    from workflows.contracts import (
        CreditResult,
        Done,
        FinishInput,
        FinishResult,
        GatherResult,
        GroundInput,
        GroundResult,
        IndexResult,
        Message,
        ParkInput,
        ReflectInput,
        ReflectionInput,
        ReflectionReport,
        ReflectResult,
        ResolveInput,
        ResolveResult,
        StepInput,
    )
    from workflows.steps import run_step, upsert
    from workflows.told import detail_of, ending_of, model_is_away, note_of, type_of

T = TypeVar("T")
R = TypeVar("R", bound=Message)

RULES = "rules"
_GONE = frozenset({"not-found", "space-erased"})
"""What a step worked on is no more. Where its space was erased nothing is left to do; anything else may be read anew."""
_TOLD_APART = "vanished-is-not-erased"
"""Before this patch both ended as erased, at once."""

_NEXT_STEP = "Send the signal `retry` (after mending the cause), `use_rules` (go on without a model) or `skip` (keep nothing more)."


class _Skipped(Exception):
    """Leaves the story: nothing is kept. `code` as in GatherResult.skip_code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Vanished(Exception):
    """Leaves the story: `step` found gone what it needs, however often it looked."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step


class _RulesWanted(Exception):
    """A person wants rules instead of the model."""


class _Chosen:
    """The answer to keep, and where rules stood in, for whom and why. No dataclass: the sandbox would make one for each workflow."""

    def __init__(self, attempt: int, reflector: str, fallback_from: str = "", cause: str = "") -> None:
        self.attempt = attempt
        self.reflector = reflector
        self.fallback_from = fallback_from
        self.cause = cause


@workflow.defn(name=contracts.REFLECTION_WORKFLOW)
class Reflection:
    """The story of one reflection."""

    @workflow.init
    def __init__(self, start: ReflectionInput) -> None:
        self._start = start
        self._gathered = GatherResult()
        self._attempt = 0
        self._released = False
        self._rules_wanted = False
        self._skip_wanted = False

    @workflow.run
    async def run(self, start: ReflectionInput) -> ReflectionReport:
        """Tell the story; see the module."""
        try:
            return await self._story()
        except _Skipped as skipped:
            return await self._finish(ReflectionReport(status="skipped", skip_code=skipped.code, reflector=self._gathered.reflector))
        except _Vanished as vanished:
            report = ReflectionReport(status="failed", skip_code="vanished", reflector=self._gathered.reflector)
            return await self._finish(report, step=vanished.step)

    async def _story(self) -> ReflectionReport:
        workflow.set_current_details("Reading the task.")
        self._gathered = await self._step("gather", self._gather)
        if self._gathered.skip_code == "final":
            # A duplicate start, however late: the ledger knows the result, nothing is touched.
            return ReflectionReport(status="skipped", skip_code="final")
        if self._gathered.skip:
            raise _Skipped(self._gathered.skip_code)
        chosen = await self._reflect()
        resolved = await self._step("resolve", lambda: self._resolve(chosen))
        if resolved.skipped:
            raise _Skipped("newer-verdict")
        indexed = await self._index()
        credited = await self._credit()
        return await self._finish(_report(chosen, resolved, indexed), note=note_of(resolved, credited))

    # ---- signals ---------------------------------------------------------------------------------------------------------

    @workflow.signal(name=contracts.SIGNAL_RETRY, description="Try the failed step again, after you mended what it names.")
    def retry(self) -> None:
        """Try the failed step again; without effect while nothing waits."""
        self._released = True

    @workflow.signal(name=contracts.SIGNAL_USE_RULES, description="Go on with the rule reflector instead of the model; marked as fallback.")
    def use_rules(self) -> None:
        """Go on with rules; while nothing waits, from the next question to a model on."""
        self._rules_wanted = self._released = True

    @workflow.signal(name=contracts.SIGNAL_SKIP, description="Give up: nothing more is kept; the task itself stays in the ledger.")
    def skip(self) -> None:
        """Give up; while nothing waits, at the next question to a model or failure."""
        self._skip_wanted = True

    # ---- reflect and ground ----------------------------------------------------------------------------------------------

    async def _reflect(self) -> _Chosen:
        asked = self._gathered.reflector
        if asked == RULES:
            return await self._by_rules("", "")
        if self._gathered.over_budget:
            return await self._by_rules(asked, "budget")
        try:
            chosen, cause = await self._by_model(asked)
        except _RulesWanted:
            return await self._by_rules(asked, "person")
        return chosen or await self._by_rules(asked, cause)

    async def _by_model(self, asked: str) -> tuple[_Chosen | None, str]:
        """Ask until an answer has no complaint, or earns the same complaints again; at most GROUND_TRIES times.

        Then what stands of the best answer stands; None, with the cause, where nothing does.
        """
        best, best_accepted, cause = 0, 0, "unusable"
        for _ in range(policies.GROUND_TRIES):
            self._attempt += 1
            try:
                answer = await self._step("reflect", lambda: self._ask(asked), asks_model=True)
            except ActivityError:
                cause = "unavailable"
                break
            if answer.over_budget:
                cause = "budget"
                break
            if answer.same_again:
                break
            if not answer.usable:
                cause = "unusable"
                continue
            ground = await self._step("ground", self._ground)
            if ground.gave_up:
                break
            if not ground.complaints:
                return _Chosen(self._attempt, asked), ""
            cause = "ungrounded"
            if ground.accepted and ground.accepted >= best_accepted:
                best, best_accepted = self._attempt, ground.accepted
        return (_Chosen(best, asked) if best else None), cause

    async def _by_rules(self, fallback_from: str, cause: str) -> _Chosen:
        self._attempt += 1
        await self._step("reflect", lambda: self._ask(RULES))
        await self._step("ground", self._ground)
        return _Chosen(self._attempt, RULES, fallback_from, cause)

    async def _ask(self, reflector: str) -> ReflectResult:
        by_rules = reflector == RULES
        if self._skip_wanted:
            raise _Skipped("person")
        if self._rules_wanted and not by_rules:
            raise _RulesWanted
        again = f", attempt {self._attempt}" if self._attempt > 1 else ""
        workflow.set_current_details(
            f"Reflecting with {reflector} over {self._gathered.turns} turns, outcome {self._gathered.outcome}{again}."
        )
        prefix = self._start.queue_prefix
        return await self._do(
            "reflect",
            ReflectInput(reflection_id=self._start.reflection_id, attempt=self._attempt, reflector=reflector),
            ReflectResult,
            policies.LEDGER_STEP if by_rules else policies.MODEL_STEP,
            queue=policies.store_queue(prefix) if by_rules else policies.llm_queue(prefix),
            budget=None if by_rules else timedelta(seconds=self._gathered.budget_s),
            start_to_close=None if by_rules else timedelta(seconds=self._gathered.step_s),
            summary=f"{reflector}{again}",
        )

    async def _ground(self) -> GroundResult:
        message = GroundInput(reflection_id=self._start.reflection_id, attempt=self._attempt)
        return await self._do("ground", message, GroundResult, policies.LEDGER_STEP, summary=f"check the answer of attempt {self._attempt}")

    # ---- the other steps -------------------------------------------------------------------------------------------------

    async def _gather(self) -> GatherResult:
        return await self._do("gather", self._this(), GatherResult, policies.LEDGER_STEP, summary="is there anything to learn?")

    async def _resolve(self, chosen: _Chosen) -> ResolveResult:
        workflow.set_current_details("Settling the conclusions with what is known.")
        message = ResolveInput(
            reflection_id=self._start.reflection_id,
            attempt=chosen.attempt,
            fallback_from=chosen.fallback_from,
            fallback_cause=chosen.cause,
        )
        return await self._do("resolve", message, ResolveResult, policies.LEDGER_STEP, summary="settle with what is known, one transaction")

    async def _index(self) -> IndexResult:
        """Never parks: the ledger has it, and the dispatcher brings the index up to date later."""
        try:
            return await self._do("index", self._this(), IndexResult, policies.INDEX_STEP, summary="make it recallable")
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise
            return IndexResult(pending=True)

    async def _credit(self) -> CreditResult:
        """A person who skips here skips the crediting only, and so does what is gone: the conclusions are kept already."""

        async def credit() -> CreditResult:
            return await self._do("credit", self._this(), CreditResult, policies.CREDIT_STEP, summary="credit what the task was told")

        try:
            return await self._step("credit", credit)
        except _Skipped as skipped:
            if skipped.code != "person":
                raise
            self._skip_wanted = False
            return CreditResult()
        except _Vanished:
            return CreditResult()

    async def _finish(self, report: ReflectionReport, note: str = "", *, step: str = "") -> ReflectionReport:
        message = FinishInput(
            reflection_id=self._start.reflection_id,
            status=report.status,
            index_pending=report.index_pending,
            skip_code=report.skip_code,
            began=self._gathered.began,
            step=step,
        )
        self._skip_wanted = False
        try:
            done = await self._step(
                "finish", lambda: self._do("finish", message, FinishResult, policies.LEDGER_STEP, summary=report.status)
            )
            if done.gone:
                report = report.model_copy(update={"status": "skipped", "skip_code": "erased"})
        except _Vanished:
            report = report.model_copy(update={"status": "skipped", "skip_code": "erased"})
        except _Skipped as skipped:
            # Erased meanwhile, or a person gave up on a ledger that takes no last word: either way nothing is left to do here.
            report = report.model_copy(update={"status": "skipped", "skip_code": skipped.code})
        self._upsert(
            policies.PHASE.value_set(report.status),
            policies.OUTCOME.value_set(self._gathered.outcome),
            policies.REFLECTOR.value_set(report.reflector),
        )
        workflow.set_current_details(ending_of(report, note))
        return report

    # ---- one step, and what happens when it cannot go on -----------------------------------------------------------------

    async def _step(self, name: str, attempt: Callable[[], Awaitable[T]], *, asks_model: bool = False) -> T:
        """Run a step until it succeeds; after its retries wait for a person.

        asks_model: a model that is away raises ActivityError to the caller; a person may answer with rules (raises _RulesWanted).
        """
        pauses = iter(policies.GONE_PAUSES)
        while True:
            try:
                return await attempt()
            except ActivityError as error:
                if isinstance(error.cause, CancelledError) or (asks_model and model_is_away(error)):
                    raise
                if type_of(error) in _GONE:
                    await self._look_anew(name, error, next(pauses, None))
                else:
                    await self._park(name, error, asks_model=asks_model)

    async def _look_anew(self, step: str, error: ActivityError, pause: timedelta | None) -> None:
        """Wait before the step is tried again. Raises _Skipped where the space was erased, _Vanished where it was tried often enough."""
        if type_of(error) == "space-erased" or not workflow.patched(_TOLD_APART):
            raise _Skipped("erased") from error
        if pause is None:
            raise _Vanished(step) from error
        await workflow.sleep(pause)

    async def _park(self, step: str, error: ActivityError, *, asks_model: bool) -> None:
        """Say what is wrong and wait for a signal. Raises _Skipped or _RulesWanted where that is the person's wish."""
        self._released = asks_model and self._rules_wanted
        if not (self._released or self._skip_wanted):
            await self._show_parked(step, type_of(error), detail_of(error))
            await workflow.wait_condition(lambda: self._released or self._skip_wanted)
            self._upsert(policies.PHASE.value_set("running"))
            workflow.set_current_details(f"Going on with {step}.")
        if self._skip_wanted:
            raise _Skipped("person")
        if asks_model and self._rules_wanted:
            raise _RulesWanted

    async def _show_parked(self, step: str, cause: str, detail: str) -> None:
        workflow.set_current_details(f"**Needs attention**: the step `{step}` failed ({cause}). {detail}\n\n{_NEXT_STEP}")
        self._upsert(policies.PHASE.value_set("needs_attention"))
        message = ParkInput(reflection_id=self._start.reflection_id, step=step, cause=cause, detail=detail)
        try:
            await self._do("park", message, Done, policies.PARK_STEP, summary=f"{step} needs a person: {cause}")
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise
            # The ledger is down too: then only Temporal shows it.
            workflow.logger.warning("could not note in the ledger that a reflection waits for a person")

    async def _do(
        self,
        name: str,
        message: Message,
        result: type[R],
        policy: policies.Policy,
        *,
        summary: str,
        queue: str = "",
        budget: timedelta | None = None,
        start_to_close: timedelta | None = None,
    ) -> R:
        queue = queue or policies.store_queue(self._start.queue_prefix)
        if start_to_close:
            policy = replace(policy, start_to_close=start_to_close)
        return await run_step(name, message, result, policy, queue=queue, summary=summary, budget=budget)

    def _this(self) -> StepInput:
        return StepInput(reflection_id=self._start.reflection_id)

    def _upsert(self, *updates: SearchAttributeUpdate[Any]) -> None:
        upsert(self._start.search_attributes, *updates)


def _report(chosen: _Chosen, resolved: ResolveResult, indexed: IndexResult) -> ReflectionReport:
    kept = resolved.added + resolved.agreed + resolved.superseded
    return ReflectionReport(
        status="completed" if kept else "skipped",
        skip_code="" if kept else "nothing-kept",
        reflector=chosen.reflector,
        fallback_cause=chosen.cause,
        added=resolved.added,
        agreed=resolved.agreed,
        superseded=resolved.superseded,
        rejected=resolved.rejected,
        index_pending=indexed.pending,
    )
