"""A new generation of the index beside the live one: begin, fill, check, compare, switch, drain. Writes and recalls go on meanwhile.

How far it came stands in the ledger, so a killed worker, a reset or a new run goes on from there. What differs, or does not get on
after its retries, waits for a person's signal; until then the live index serves as before.
"""

from datetime import timedelta
from typing import Any, NoReturn, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError

with workflow.unsafe.imports_passed_through():
    from workflows import contracts, policies
    from workflows.contracts import (
        CheckInput,
        CheckResult,
        CompareResult,
        Done,
        FillInput,
        FillResult,
        GenerationInput,
        Message,
        ReindexBegun,
        ReindexInput,
        ReindexParkInput,
        ReindexReport,
        SwitchInput,
        SwitchResult,
    )
    from workflows.steps import run_step, upsert

T = TypeVar("T")
R = TypeVar("R", bound=Message)

_NEXT_STEP = (
    "Send the signal `retry` (again, after mending the cause), `switch` (let the new index serve as it is, where only the comparison "
    "is in the way) or `drop` (give it up; the live index goes on serving)."
)


_WAIT = "Until this goes on, or is given up, changes and erasures wait for the new index too."
_MEANWHILE = {
    "index-refused": f"Mend it and restart the workers, which read settings when they start. {_WAIT}",
    "index-damaged": f"Give it up and ask for another one. {_WAIT}",
    "index-unavailable": _WAIT,
}
"""By what stopped it: what a person should know besides."""


class _GivenUp(Exception):
    """Leaves the story: the live index goes on serving."""


@workflow.defn(name=contracts.REINDEX_WORKFLOW)
class Reindex:
    """The build of one generation."""

    @workflow.init
    def __init__(self, start: ReindexInput) -> None:
        self._start = start
        self._this = GenerationInput(generation=start.generation)
        self._answers: list[str] = []

    @workflow.run
    async def run(self, start: ReindexInput) -> ReindexReport:
        """Tell the story; see the module."""
        try:
            return await self._story()
        except _GivenUp:
            self._upsert(policies.PHASE.value_set("skipped"))
            workflow.set_current_details(f"Generation {start.generation} was given up; the live index goes on serving.")
            return ReindexReport(status="abandoned", generation=start.generation)

    async def _story(self) -> ReindexReport:
        begun = await self._step("reindex_begin", self._this, ReindexBegun, summary="begin, or go on")
        if begun.gone:
            raise _GivenUp
        switched = SwitchInput(generation=self._start.generation)
        if not begun.serves:
            switched = await self._build()
            done = await self._step("reindex_switch", switched, SwitchResult, summary="let the new index serve")
            if done.gone:
                raise _GivenUp
        workflow.set_current_details(
            f"Generation {self._start.generation} serves. The one before still gets every change until all processes noticed."
        )
        await workflow.sleep(timedelta(seconds=self._start.drain_s), summary="until every process noticed the switch")
        await self._step("reindex_settle", self._this, Done, summary="the one before is kept as it is")
        self._upsert(policies.PHASE.value_set("completed"))
        report = _report(switched)
        workflow.set_current_details(_ending(report))
        return report

    # ---- signals ---------------------------------------------------------------------------------------------------------

    @workflow.signal(name=contracts.SIGNAL_RETRY, description="Try again, after you mended what it names; what differs is written anew.")
    def retry(self) -> None:
        """Try again; without effect while nothing waits."""
        self._answers.append(contracts.SIGNAL_RETRY)

    @workflow.signal(name=contracts.SIGNAL_SWITCH, description="Let the new index serve although it does not answer like the live one.")
    def switch(self) -> None:
        """Switch all the same; without effect while nothing waits, or where a step failed."""
        self._answers.append(contracts.SIGNAL_SWITCH)

    @workflow.signal(name=contracts.SIGNAL_DROP, description="Give the new index up and remove it; the live one goes on serving.")
    def drop(self) -> None:
        """Give up; while nothing waits, after the batch that is being written, or at the next failure or difference."""
        self._answers.append(contracts.SIGNAL_DROP)

    # ---- fill, check, compare --------------------------------------------------------------------------------------------

    async def _build(self) -> SwitchInput:
        again = False
        while True:
            await self._fill(again)
            checked = await self._check()
            compared = await self._compare()
            if not (trouble := _trouble(checked, compared)):
                return SwitchInput(generation=self._start.generation, checked=checked, compared=compared)
            if await self._park("differs", trouble) == contracts.SIGNAL_SWITCH:
                return SwitchInput(generation=self._start.generation, checked=checked, compared=compared)
            again = True

    async def _fill(self, again: bool) -> None:
        workflow.set_current_details(f"Filling generation {self._start.generation}.")
        for batch in range(1, policies.CONTINUE_AFTER_BATCHES + 1):
            message = FillInput(generation=self._start.generation, again=again)
            filled = await self._step("reindex_fill", message, FillResult, summary=f"write memories, batch {batch}")
            again = False
            if filled.gone:
                raise _GivenUp
            workflow.set_current_details(f"Filling generation {self._start.generation}: {_of(filled.done, filled.total)}.")
            if contracts.SIGNAL_DROP in self._answers:
                await self._give_up()
            if filled.end:
                return
        workflow.continue_as_new(self._start)

    async def _check(self) -> CheckResult:
        sum_of = CheckResult(end=False)
        while not sum_of.end:
            workflow.set_current_details(f"Checking generation {self._start.generation} against the ledger: {sum_of.spaces} spaces so far.")
            message = CheckInput(generation=self._start.generation, cursor=sum_of.cursor)
            found = await self._step("reindex_check", message, CheckResult, summary="compare with the ledger, id by id")
            sum_of = CheckResult(
                spaces=sum_of.spaces + found.spaces,
                memories=sum_of.memories + found.memories,
                missing=sum_of.missing + found.missing,
                removed=sum_of.removed + found.removed,
                cursor=found.cursor,
                end=found.end,
            )
        return sum_of

    async def _compare(self) -> CompareResult:
        workflow.set_current_details(f"Asking the live index and generation {self._start.generation} the same questions.")
        return await self._step("reindex_compare", self._this, CompareResult, summary="the same questions to both")

    # ---- one step, and what happens when it cannot go on -----------------------------------------------------------------

    async def _step(self, name: str, message: Message, result: type[R], *, summary: str) -> R:
        """Run a step until it succeeds; after its retries wait for a person. Raises _GivenUp."""
        refused = 0
        while True:
            try:
                return await self._do(name, message, result, policies.REINDEX_STEP, summary=summary)
            except ActivityError as error:
                if isinstance(error.cause, CancelledError):
                    raise
                cause = error.cause
                kind = cause.type or "internal" if isinstance(cause, ApplicationError) else "timeout"
                if kind == "not-found":
                    raise _GivenUp from error
                if kind == "index-refused" and refused < policies.REFUSED_TRIES:
                    refused += 1
                    await workflow.sleep(policies.REFUSED_PAUSE, summary="refused; another worker may be let in")
                    continue
                words = f"{cause.message}. " if isinstance(cause, ApplicationError) else ""
                await self._park(kind, f"The step `{name}` failed. {words}{_MEANWHILE.get(kind, '')}".rstrip())
                refused = 0

    async def _park(self, cause: str, detail: str) -> str:
        """Say what is wrong, wait for a signal and return it. Raises _GivenUp where that is the person's wish."""
        self._answers = [answer for answer in self._answers if answer == contracts.SIGNAL_DROP]
        if not self._answers:
            workflow.set_current_details(f"**Needs attention** ({cause}): {detail}\n\n{_NEXT_STEP}")
            self._upsert(policies.PHASE.value_set("needs_attention"))
            message = ReindexParkInput(generation=self._start.generation, cause=cause, detail=detail)
            try:
                await self._do("reindex_park", message, Done, policies.PARK_STEP, summary=f"needs a person: {cause}")
            except ActivityError as error:
                if isinstance(error.cause, CancelledError):
                    raise
                if isinstance(error.cause, ApplicationError) and error.cause.type == "not-found":
                    raise _GivenUp from error  # that is why it differs, or gets no answer
                # The ledger is down too: then only Temporal shows it.
                workflow.logger.warning("could not note in the ledger that a build waits for a person")
            await workflow.wait_condition(lambda: bool(self._answers))
            self._upsert(policies.PHASE.value_set("running"))
        answer = self._answers.pop(0)
        if answer == contracts.SIGNAL_DROP:
            await self._give_up()
        return answer

    async def _give_up(self) -> NoReturn:
        """Carry out a person's wish; raises _GivenUp. A ledger that does not answer is waited for: the wish must not be lost."""
        self._answers.clear()
        await self._step("reindex_drop", self._this, Done, summary="give it up")
        raise _GivenUp

    async def _do(self, name: str, message: Message, result: type[R], policy: policies.Policy, *, summary: str) -> R:
        return await run_step(name, message, result, policy, queue=policies.upkeep_queue(self._start.queue_prefix), summary=summary)

    def _upsert(self, *updates: SearchAttributeUpdate[Any]) -> None:
        upsert(self._start.search_attributes, *updates)


# ---- what people see -----------------------------------------------------------------------------------------------------


def _of(done: int, total: int) -> str:
    share = f" ({min(100, 100 * done // total)} %)" if total else ""
    return f"{done:,} of {total:,} memories{share}"


def _trouble(checked: CheckResult, compared: CompareResult) -> str:
    """What keeps the new index from serving; "" where nothing does."""
    found = []
    if checked.missing:
        found.append(f"It lacks {checked.missing} of {checked.memories} memories.")
    if compared.alike and compared.same < policies.SAME_ENOUGH * compared.asked:
        found.append(f"Of {compared.asked} questions only {compared.same} have the same first five answers in the live index.")
    return " ".join(found)


def _report(switched: SwitchInput) -> ReindexReport:
    return ReindexReport(
        status="switched",
        generation=switched.generation,
        memories=switched.checked.memories,
        removed=switched.checked.removed,
        asked=switched.compared.asked,
        same=switched.compared.same,
        overlap=switched.compared.overlap,
    )


def _ending(report: ReindexReport) -> str:
    asked = f" Of {report.asked} questions {report.same} have the same first five answers as before." if report.asked else ""
    return (
        f"Generation {report.generation} serves {report.memories:,} memories.{asked} "
        "The one before is kept until `hindwise reindex --drop-old`."
    )
