"""Erasing a user, readable as a list of steps: begin, stop what runs for them, wipe, check. Each step may be repeated.

What cannot go on after its retries says so in the receipt and tries again by itself every quarter of an hour, or at the signal `retry`.
It never ends unfinished. A history that grows ends in a new run, which begins where this one was.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError

with workflow.unsafe.imports_passed_through():
    from workflows import contracts, ids, policies
    from workflows.contracts import Done, Message
    from workflows.erase_messages import EraseInput, EraseOpenInput, EraseOpenResult, EraseParkInput, EraseReport, EraseResult, EraseStep
    from workflows.steps import run_step, upsert

R = TypeVar("R", bound=Message)

_NEXT_STEP = "Tried again in a quarter of an hour, or at once by the signal `retry`."


class _Unknown(Exception):
    """There is no such receipt: nothing to do."""


@workflow.defn(name=contracts.ERASE_WORKFLOW)
class Erase:
    """The story of one erasure."""

    @workflow.init
    def __init__(self, start: EraseInput) -> None:
        self._start = start
        self._this = EraseStep(erasure_id=start.erasure_id)
        self._released = False
        self._waits = 0

    @workflow.run
    async def run(self, start: EraseInput) -> EraseReport:
        """Tell the story; see the module."""
        try:
            return await self._story()
        except _Unknown:
            workflow.set_current_details("There is no such receipt: nothing was done.")
            return EraseReport(status="unknown")

    async def _story(self) -> EraseReport:
        workflow.set_current_details("Raising the epoch: nothing that is under way can bring back what will be erased.")
        await self._step("erase_begin", self._this, Done, policies.LEDGER_STEP, "nothing under way can write any more")
        workflow.set_current_details("Stopping what runs for the user.")
        cancelled = await self._stop_open_work()
        workflow.set_current_details("Deleting from every index and from the ledger.")
        gone = await self._step("erase_wipe", self._this, EraseResult, policies.WIPE_STEP, "delete from every index and the ledger")
        workflow.set_current_details("Searching every store again.")
        await self._step("erase_check", self._this, EraseResult, policies.LEDGER_STEP, "search every store again, complete the receipt")
        self._upsert(policies.PHASE.value_set("completed"))
        workflow.set_current_details(
            f"Completed: {gone.rows} rows, {gone.objects} objects, {gone.shared_lessons_kept} shared lessons kept."
        )
        return EraseReport(status="completed", cancelled=cancelled, **gone.model_dump())

    @workflow.signal(name=contracts.SIGNAL_RETRY, description="Try the failed step again, after you mended what it names.")
    def retry(self) -> None:
        """Try the failed step again; without effect while nothing waits."""
        self._released = True

    # ---- what runs for the user --------------------------------------------------------------------------------------------

    async def _stop_open_work(self) -> int:
        """Cancel page by page; return how many were running. What is started later finds no row, and ends by itself."""
        pages = 0
        while True:
            start = self._start
            asked = EraseOpenInput(erasure_id=start.erasure_id, after_session=start.after_session, after_reflection=start.after_reflection)
            found = await self._step("erase_open", asked, EraseOpenResult, policies.LEDGER_STEP, "what runs for the user?")
            prefix = self._start.queue_prefix
            names = [
                *(ids.session_workflow(handle) for handle in found.sessions),
                *(ids.reflection_workflow(reflection_id, prefix) for reflection_id in found.reflections),
            ]
            cancelled = start.cancelled + sum(await asyncio.gather(*map(_cancel, names)))
            self._start = start.model_copy(
                update={
                    "after_session": _last(found.sessions, start.after_session),
                    "after_reflection": _last(found.reflections, start.after_reflection),
                    "cancelled": cancelled,
                }
            )
            if not found.more:
                return cancelled
            pages += 1
            self._end_long_history(pages >= policies.CONTINUE_AFTER_PAGES)

    def _end_long_history(self, enough: bool) -> None:
        """Go on in a new run where there is enough in this one: each step may be repeated, and what was stopped is known."""
        if enough or workflow.info().is_continue_as_new_suggested():
            workflow.continue_as_new(self._start)

    # ---- one step, and what happens when it cannot go on ---------------------------------------------------------------------

    async def _step(self, name: str, message: Message, result: type[R], policy: policies.Policy, summary: str) -> R:
        """Run a step until it succeeds. Raises _Unknown where there is no receipt."""
        while True:
            try:
                return await self._do(name, message, result, policy, summary)
            except ActivityError as error:
                if isinstance(error.cause, CancelledError):
                    raise
                cause = error.cause.type or "internal" if isinstance(error.cause, ApplicationError) else "timeout"
                if cause == "not-found":
                    raise _Unknown from error
                detail = error.cause.message if isinstance(error.cause, ApplicationError) else "No answer within the step's time limit."
                await self._park(name, cause, detail)

    async def _park(self, step: str, cause: str, detail: str) -> None:
        """Say what is wrong; return when it is time to try again."""
        self._released = False
        workflow.set_current_details(f"**Needs attention**: the step `{step}` failed ({cause}). {detail}\n\n{_NEXT_STEP}")
        self._upsert(policies.PHASE.value_set("needs_attention"))
        message = EraseParkInput(erasure_id=self._start.erasure_id, step=step, cause=cause, detail=detail)
        try:
            await self._do("erase_park", message, Done, policies.PARK_STEP, f"{step} cannot go on: {cause}")
        except ActivityError as error:
            if isinstance(error.cause, CancelledError):
                raise
            workflow.logger.warning("could not note in the ledger that an erasure waits")  # the ledger is down too
        try:
            await workflow.wait_condition(lambda: self._released, timeout=policies.ERASE_AGAIN, timeout_summary="try again by itself")
        except TimeoutError:
            workflow.set_current_details(f"Trying {step} again by itself.")
        self._upsert(policies.PHASE.value_set("running"))
        self._waits += 1
        self._end_long_history(self._waits >= policies.CONTINUE_AFTER_WAITS)

    async def _do(self, name: str, message: Message, result: type[R], policy: policies.Policy, summary: str) -> R:
        return await run_step(name, message, result, policy, queue=policies.store_queue(self._start.queue_prefix), summary=summary)

    def _upsert(self, *updates: SearchAttributeUpdate[Any]) -> None:
        upsert(self._start.search_attributes, *updates)


async def _cancel(workflow_id: str) -> bool:
    """Ask a workflow to stop; False where none of that name runs."""
    try:
        await workflow.get_external_workflow_handle(workflow_id).cancel(reason="the user is being erased")
    except FailureError:
        return False
    return True


def _last(found: Sequence[str], before: str) -> str:
    return found[-1] if found else before
