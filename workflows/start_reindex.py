"""How a worker starts the build of an index that the ledger asks for, and how a person's answer reaches it. Runs outside the sandbox."""

import asyncio
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from workflows import contracts, ids, policies
from workflows.connection import NotDelivered, reason_of
from workflows.contracts import ReindexInput


async def start_reindex(client: Client, start: ReindexInput, *, rpc_timeout_s: float = 5.0) -> None:
    """Start a build; one that runs already is fine. Raises NotDelivered."""
    attributes = TypedSearchAttributes([SearchAttributePair(policies.PHASE, "running")]) if start.search_attributes else None
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            await client.start_workflow(
                contracts.REINDEX_WORKFLOW,
                start,
                id=ids.reindex_workflow(start.generation, start.queue_prefix),
                task_queue=policies.session_queue(start.queue_prefix),
                # One that was terminated goes on: the ledger decides whether anything is left to do.
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                search_attributes=attributes,
                static_summary=policies.REINDEX_SUMMARY,
                priority=policies.UPKEEP_PRIORITY,
                rpc_timeout=timedelta(seconds=rpc_timeout_s),
            )
    except WorkflowAlreadyStartedError:
        return
    except (RPCError, TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error


async def signal_reindex(client: Client, generation: int, signal: str, *, queue_prefix: str, rpc_timeout_s: float = 5.0) -> bool:
    """Send retry, switch or drop to a build; False when no run of it is open. Raises NotDelivered, ValueError."""
    if signal not in contracts.REINDEX_SIGNALS:
        raise ValueError(f"no such signal: {signal!r}")
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            handle = client.get_workflow_handle(ids.reindex_workflow(generation, queue_prefix))
            await handle.signal(signal, rpc_timeout=timedelta(seconds=rpc_timeout_s))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise NotDelivered(reason_of(error)) from error
    except (TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error
    return True
