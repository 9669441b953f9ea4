"""How a worker starts the build of an index that the ledger asks for, and how a person's answer reaches it. Runs outside the sandbox."""

from temporalio.client import Client
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from workflows import contracts, ids, policies
from workflows.calls import send_signal, start_once
from workflows.contracts import ReindexInput


async def start_reindex(client: Client, start: ReindexInput, *, rpc_timeout_s: float = 5.0) -> None:
    """Start a build; one that runs already is fine, one that was terminated goes on. Raises NotDelivered."""
    await start_once(
        client,
        contracts.REINDEX_WORKFLOW,
        start,
        workflow_id=ids.reindex_workflow(start.generation, start.queue_prefix),
        task_queue=policies.session_queue(start.queue_prefix),
        summary=policies.REINDEX_SUMMARY,
        priority=policies.UPKEEP_PRIORITY,
        search_attributes=TypedSearchAttributes([SearchAttributePair(policies.PHASE, "running")]) if start.search_attributes else None,
        rpc_timeout_s=rpc_timeout_s,
    )


async def signal_reindex(client: Client, generation: int, signal: str, *, queue_prefix: str, rpc_timeout_s: float = 5.0) -> bool:
    """Send retry, switch or drop to a build; False when no run of it is open. Raises NotDelivered, ValueError."""
    workflow_id = ids.reindex_workflow(generation, queue_prefix)
    return await send_signal(client, workflow_id, signal, contracts.REINDEX_SIGNALS, rpc_timeout_s=rpc_timeout_s)
