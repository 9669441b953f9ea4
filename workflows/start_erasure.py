"""How an erasure reaches Temporal: started where it does not run, told to try again where it waits. Runs outside the sandbox."""

import asyncio
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.service import RPCError

from workflows import contracts, ids, policies
from workflows.connection import NotDelivered, reason_of
from workflows.erase_messages import EraseInput


async def start_erasure(client: Client, start: EraseInput, *, rpc_timeout_s: float = 3.0) -> None:
    """Start an erasure that stands in the ledger; one that runs already tries again at once if it waits. Raises NotDelivered."""
    told = [
        SearchAttributePair(policies.TENANT, start.tenant_hash),
        SearchAttributePair(policies.SPACE, start.space_hash),
        SearchAttributePair(policies.PHASE, "running"),
    ]
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            await client.start_workflow(
                contracts.ERASE_WORKFLOW,
                start,
                id=ids.erase_workflow(start.erasure_id, start.queue_prefix),
                task_queue=policies.session_queue(start.queue_prefix),
                # A finished one may run again: the receipt says what is left to do, which is nothing.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=TypedSearchAttributes(told) if start.search_attributes else None,
                static_summary=policies.ERASE_SUMMARY,
                priority=policies.REFLECTION_PRIORITY,
                start_signal=contracts.SIGNAL_RETRY,
                rpc_timeout=timedelta(seconds=rpc_timeout_s),
            )
    except (RPCError, TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error
