"""One pass of upkeep: each activity in batches until nothing is due. What fails waits for the next pass, five minutes later."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, CancelledError

with workflow.unsafe.imports_passed_through():
    from workflows import contracts, policies
    from workflows.contracts import BatchInput, BatchResult, UpkeepInput, UpkeepReport
    from workflows.steps import run_step

STEPS = {
    "sweep_outbox": "make the index agree with the ledger",
    "expire": "close what is past its time",
    "decay": "store how fresh memories are",
    "archive": "take out of the index what was not told for long",
    "reverify": "look again at what is due for review",
    "purge_turns": "forget turns and keys past their retention",
    "compare_index": "compare index and ledger, once a day",
}
"""In this order: what is closed first needs no freshness."""


@workflow.defn(name=contracts.UPKEEP_WORKFLOW)
class Upkeep:
    """One pass."""

    @workflow.init
    def __init__(self, start: UpkeepInput) -> None:
        self._start = start

    @workflow.run
    async def run(self, start: UpkeepInput) -> UpkeepReport:
        """Run each activity until it says that nothing is left, at most UPKEEP_PAGES batches."""
        changed: dict[str, int] = {}
        failed: list[str] = []
        for name, summary in STEPS.items():
            workflow.set_current_details(f"Now: {summary}.")
            try:
                changed[name] = await self._batches(name, summary)
            except ActivityError as error:
                if isinstance(error.cause, CancelledError):
                    raise
                failed.append(name)
        report = UpkeepReport(changed=changed, failed=tuple(failed))
        workflow.set_current_details(_words(report))
        return report

    async def _batches(self, name: str, summary: str) -> int:
        changed, cursor = 0, 0
        for page in range(policies.UPKEEP_PAGES):
            done = await run_step(
                name,
                BatchInput(page=self._start.page, cursor=cursor),
                BatchResult,
                policies.UPKEEP_STEP,
                queue=policies.upkeep_queue(self._start.queue_prefix),
                summary=f"{summary}, batch {page + 1}",
            )
            changed, cursor = changed + done.changed, done.cursor
            if not done.more:
                break
        return changed


def _words(report: UpkeepReport) -> str:
    did = ", ".join(f"{name} {number}" for name, number in report.changed.items() if number) or "nothing was due"
    return f"Done: {did}." + (f" Failed, waits for the next pass: {', '.join(report.failed)}." if report.failed else "")
