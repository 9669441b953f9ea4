"""How an erasure reaches Temporal: started where it does not run, told to try again where it waits. Runs outside the sandbox."""

from temporalio.client import Client

from workflows import contracts, ids, policies
from workflows.calls import attributes_of, start_once
from workflows.erase_messages import EraseInput


async def start_erasure(client: Client, start: EraseInput, *, rpc_timeout_s: float = 3.0) -> None:
    """Start an erasure that stands in the ledger; one that runs already tries again at once if it waits. Raises NotDelivered.

    A finished one may run again: the receipt says what is left to do, which is nothing.
    """
    await start_once(
        client,
        contracts.ERASE_WORKFLOW,
        start,
        workflow_id=ids.erase_workflow(start.erasure_id, start.queue_prefix),
        task_queue=policies.session_queue(start.queue_prefix),
        summary=policies.ERASE_SUMMARY,
        priority=policies.REFLECTION_PRIORITY,
        search_attributes=attributes_of(start.tenant_hash, start.space_hash, "running") if start.search_attributes else None,
        rpc_timeout_s=rpc_timeout_s,
        signal=contracts.SIGNAL_RETRY,
    )
