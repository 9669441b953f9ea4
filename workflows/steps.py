"""How a workflow asks for a step, and sets what operators search by. Runs inside the sandbox, passed through like the policies."""

from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate

from workflows.message import Message
from workflows.policies import Policy

R = TypeVar("R", bound=Message)


async def run_step(
    name: str, message: Message, result: type[R], policy: Policy, *, queue: str, summary: str, budget: timedelta | None = None
) -> R:
    """Run an activity with the limits of its policy and return its result.

    queue: the task queue; summary: what people read in the list of events; budget: over all attempts, None = the policy's.
    Raises ActivityError when the budget is used up or the error is a final one.
    """
    done: R = await workflow.execute_activity(
        name,
        message,
        result_type=result,
        task_queue=queue,
        start_to_close_timeout=policy.start_to_close,
        schedule_to_close_timeout=budget or policy.budget,
        heartbeat_timeout=policy.heartbeat,
        retry_policy=policy.retry,
        summary=summary,
    )
    return done


def upsert(registered: bool, *updates: SearchAttributeUpdate[Any]) -> None:
    """Set search attributes, where the installation has registered ours."""
    if registered:
        workflow.upsert_search_attributes(updates)
