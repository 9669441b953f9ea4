"""How the doors reach Temporal: one call per message, bounded in time. Runs outside the sandbox.

Whatever goes wrong is one error, NotDelivered: the ledger holds what was accepted, and the sweep sends it again. Repeating a call
is harmless, because update ids and workflow ids are ours and derive from what is told.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Literal

from temporalio.api.common.v1 import Payloads, WorkflowExecution
from temporalio.api.enums.v1 import UpdateWorkflowExecutionLifecycleStage as Stage
from temporalio.api.update.v1 import Input, Meta, Request, WaitPolicy
from temporalio.api.workflowservice.v1 import UpdateWorkflowExecutionRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from workflows import contracts, ids, policies
from workflows.calls import attributes_of, send_signal, start_once
from workflows.connection import NotDelivered, reason_of
from workflows.contracts import Message, ReflectionInput, SessionAck, SessionInput, TaskCompleted, TurnsRecorded, UpkeepInput

_CATCH_UP = timedelta(hours=2)
"""After a longer outage missed passes of upkeep are not made up for: the next one does what is due."""


async def send_turns(client: Client, start: SessionInput, turns: TurnsRecorded, *, rpc_timeout_s: float = 3.0) -> SessionAck:
    """Tell a session of turns that stand in the ledger, opening a run where none is. Raises NotDelivered."""
    # Where turns came before these, a run is most likely open; where not, the server says so.
    tries = (_update_open, _update_once) if turns.first_seq > 1 else (_update_once, _update_once)
    return await _update_session(client, start, contracts.RECORD_TURNS, turns, turns.update_id, rpc_timeout_s, tries)


async def send_completion(client: Client, start: SessionInput, task: TaskCompleted, *, rpc_timeout_s: float = 3.0) -> SessionAck:
    """Tell a session that a task ended; it starts the reflection. Raises NotDelivered."""
    return await _update_session(client, start, contracts.COMPLETE_TASK, task, task.update_id, rpc_timeout_s, (_update_open, _update_once))


async def start_reflection(client: Client, start: ReflectionInput, *, rpc_timeout_s: float = 3.0) -> None:
    """Start a reflection that stands queued in the ledger; one that runs already is fine. Raises NotDelivered."""
    await start_once(
        client,
        contracts.REFLECTION_WORKFLOW,
        start,
        workflow_id=ids.reflection_workflow(start.reflection_id, start.queue_prefix),
        task_queue=policies.store_queue(start.queue_prefix),
        summary=policies.REFLECTION_SUMMARY,
        priority=policies.REFLECTION_PRIORITY,
        search_attributes=attributes_of(start.tenant_hash, start.space_hash, "running") if start.search_attributes else None,
        rpc_timeout_s=rpc_timeout_s,
    )


async def signal_reflection(
    client: Client, reflection_id: str, signal: str, *, queue_prefix: str = ids.DEFAULT_PREFIX, rpc_timeout_s: float = 3.0
) -> bool:
    """Send retry, use_rules or skip to a reflection; False when no run of it is open. Raises NotDelivered, ValueError."""
    workflow_id = ids.reflection_workflow(reflection_id, queue_prefix)
    return await send_signal(client, workflow_id, signal, contracts.SIGNALS, rpc_timeout_s=rpc_timeout_s)


async def ensure_schedule(client: Client, *, queue_prefix: str, every_minutes: float, rpc_timeout_s: float = 5.0) -> None:
    """Create the schedule of upkeep, or bring it up to date; one that a person paused stays paused. Raises NotDelivered."""
    schedule = _upkeep_schedule(queue_prefix, every_minutes)
    timeout = timedelta(seconds=rpc_timeout_s)
    try:
        async with asyncio.timeout(2 * rpc_timeout_s + 1):
            try:
                await client.create_schedule(ids.upkeep_schedule(queue_prefix), schedule, rpc_timeout=timeout)
            except ScheduleAlreadyRunningError:
                handle = client.get_schedule_handle(ids.upkeep_schedule(queue_prefix))
                await handle.update(lambda found: _updated(found, schedule), rpc_timeout=timeout)
    except (RPCError, TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error


async def schedule_state(
    client: Client, *, queue_prefix: str, every_minutes: float, rpc_timeout_s: float = 5.0
) -> Literal["there", "paused", "differs", "missing"]:
    """How the schedule of upkeep stands, changing nothing: it may be gone, begin passes at another pace, or rest. Raises NotDelivered."""
    wanted = _upkeep_schedule(queue_prefix, every_minutes)
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            handle = client.get_schedule_handle(ids.upkeep_schedule(queue_prefix))
            found = (await handle.describe(rpc_timeout=timedelta(seconds=rpc_timeout_s))).schedule
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return "missing"
        raise NotDelivered(reason_of(error)) from error
    except (TimeoutError, RuntimeError) as error:
        raise NotDelivered(reason_of(error)) from error
    if [one.every for one in found.spec.intervals] != [one.every for one in wanted.spec.intervals]:
        return "differs"
    return "paused" if found.state.paused else "there"


def _upkeep_schedule(queue_prefix: str, every_minutes: float) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            contracts.UPKEEP_WORKFLOW,
            UpkeepInput(queue_prefix=queue_prefix),
            id=ids.upkeep_schedule(queue_prefix),
            task_queue=policies.session_queue(queue_prefix),
            static_summary=policies.UPKEEP_SUMMARY,
            priority=policies.UPKEEP_PRIORITY,
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(minutes=every_minutes))]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=_CATCH_UP),
    )


def _updated(found: ScheduleUpdateInput, schedule: Schedule) -> ScheduleUpdate:
    schedule.state = found.description.schedule.state
    return ScheduleUpdate(schedule)


_Try = Callable[[Client, SessionInput, str, Message, str, float], Awaitable[SessionAck]]


async def _update_session(
    client: Client, start: SessionInput, update: str, message: Message, update_id: str, rpc_timeout_s: float, tries: tuple[_Try, _Try]
) -> SessionAck:
    first, second = tries
    try:
        async with asyncio.timeout(rpc_timeout_s + 1):
            try:
                return await first(client, start, update, message, update_id, rpc_timeout_s)
            except RPCError as error:
                # No run was open, or it ended while the update was on its way: the next try opens a new one.
                if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.ABORTED):
                    raise
                return await second(client, start, update, message, update_id, rpc_timeout_s)
    except (RPCError, TimeoutError, RuntimeError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise NotDelivered(reason_of(error)) from error


async def _update_open(
    client: Client, start: SessionInput, update: str, message: Message, update_id: str, rpc_timeout_s: float
) -> SessionAck:
    """Raises RPCError (NOT_FOUND) where no run is open. A third of the work of `_update_once`, and less for the server too."""
    converter = client.data_converter.payload_converter
    request = UpdateWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=ids.session_workflow(start.handle)),
        wait_policy=WaitPolicy(lifecycle_stage=Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED),
        request=Request(
            meta=Meta(update_id=update_id, identity=client.identity),
            input=Input(name=update, args=Payloads(payloads=converter.to_payloads([message]))),
        ),
    )
    limit = timedelta(seconds=rpc_timeout_s)
    answer = await client.workflow_service.update_workflow_execution(request, retry=True, timeout=limit)
    if not answer.outcome.HasField("success"):
        # Refused, or not done when the server stopped waiting: under the same id the other way asks on and knows how to tell.
        return await _update_once(client, start, update, message, update_id, rpc_timeout_s)
    ack: SessionAck = converter.from_payloads(answer.outcome.success.payloads, [SessionAck])[0]
    return ack


async def _update_once(
    client: Client, start: SessionInput, update: str, message: Message, update_id: str, rpc_timeout_s: float
) -> SessionAck:
    operation: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
        contracts.SESSION_WORKFLOW,
        start,
        id=ids.session_workflow(start.handle),
        task_queue=policies.session_queue(start.queue_prefix),
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        search_attributes=attributes_of(start.tenant_hash, start.space_hash, "open") if start.search_attributes else None,
        static_summary=policies.SESSION_SUMMARY,
        priority=policies.SESSION_PRIORITY,
    )
    delivered = False
    try:
        ack: SessionAck = await client.execute_update_with_start_workflow(
            update,
            message,
            start_workflow_operation=operation,
            id=update_id,
            result_type=SessionAck,
            rpc_timeout=timedelta(seconds=rpc_timeout_s),
        )
        delivered = True
        return ack
    finally:
        if not delivered:
            await _forget(operation)


async def _forget(operation: WithStartWorkflowOperation[Any, Any]) -> None:
    """Take the start's own error out of its future; else the interpreter complains that nobody did."""
    try:
        async with asyncio.timeout(0.01):
            await operation.workflow_handle()
    except (RPCError, TimeoutError, RuntimeError, WorkflowAlreadyStartedError, asyncio.CancelledError):
        return
