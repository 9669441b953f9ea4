"""How a workflow is started or told something: one call, bounded in time, one error. Runs outside the sandbox."""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from workflows import policies
from workflows.connection import NotDelivered, reason_of
from workflows.message import Message


async def start_once(
    client: Client,
    workflow: str,
    start: Message,
    *,
    workflow_id: str,
    task_queue: str,
    summary: str,
    priority: Priority,
    search_attributes: TypedSearchAttributes | None,
    rpc_timeout_s: float,
    signal: str | None = None,
) -> None:
    """Start a workflow; one of that id that runs already is fine, and is sent `signal` where there is one. Raises NotDelivered.

    A closed one may run again: the ledger decides whether anything is left to do, not Temporal's retention.
    """
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            await client.start_workflow(
                workflow,
                start,
                id=workflow_id,
                task_queue=task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.UNSPECIFIED if signal else WorkflowIDConflictPolicy.FAIL,
                search_attributes=search_attributes,
                static_summary=summary,
                priority=priority,
                start_signal=signal,
                rpc_timeout=timedelta(seconds=rpc_timeout_s),
            )
    except WorkflowAlreadyStartedError:
        return
    except (RPCError, TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error


async def send_signal(client: Client, workflow_id: str, signal: str, known: Collection[str], *, rpc_timeout_s: float) -> bool:
    """Send one of the known signals; False when no run of that workflow is open. Raises NotDelivered; ValueError for another signal."""
    if signal not in known:
        raise ValueError(f"no such signal: {signal!r}")
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            await client.get_workflow_handle(workflow_id).signal(signal, rpc_timeout=timedelta(seconds=rpc_timeout_s))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise NotDelivered(reason_of(error)) from error
    except (TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error
    return True


def attributes_of(tenant_hash: str, space_hash: str, phase: str) -> TypedSearchAttributes:
    """The search attributes that a workflow of one space begins with."""
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(policies.TENANT, tenant_hash),
        SearchAttributePair(policies.SPACE, space_hash),
        SearchAttributePair(policies.PHASE, phase),
    ]
    return TypedSearchAttributes(pairs)
