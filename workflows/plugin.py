"""What client, worker and Replayer must agree on: data converter, workflows, sandbox, and which errors fail a workflow.

`hindwise_plugin()` goes to the client, `workflow_plugin()` to the worker that runs workflows and to the Replayer. They are two because
a plugin of the client reaches every worker made from it, and workers of activities should not poll for workflows.
"""

from pydantic import ValidationError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.plugin import SimplePlugin
from temporalio.worker.workflow_sandbox import SandboxRestrictions

from workflows.erase import Erase
from workflows.reflection import Reflection
from workflows.reindex import Reindex
from workflows.runner import LeanRunner
from workflows.session import Session
from workflows.upkeep import Upkeep

WORKFLOWS = (Erase, Session, Reflection, Upkeep, Reindex)
PASSED_THROUGH = (
    "workflows.contracts",
    "workflows.erase_messages",
    "workflows.reindex_messages",
    "workflows.message",
    "workflows.ids",
    "workflows.policies",
    "workflows.steps",
    "workflows.told",
)
"""By name, never `workflows` itself: passing a workflow's own module through would switch off the guards in it."""


class Messages(SimplePlugin):
    """Of the client. Two classes, because the SDK takes two plugins of one class for the same plugin given twice."""


class Workflows(SimplePlugin):
    """Of the worker that runs workflows."""


def sandbox() -> LeanRunner:
    """Workflows run guarded against clocks, random numbers and I/O."""
    return LeanRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


def hindwise_plugin() -> Messages:
    """For `Client.connect(plugins=[…])`; workers made from that client inherit it."""
    return Messages("hindwise.Messages", data_converter=pydantic_data_converter)


def workflow_plugin() -> Workflows:
    """For the worker that runs the workflows, and for the Replayer."""
    return Workflows(
        "hindwise.Workflows",
        data_converter=pydantic_data_converter,
        workflows=list(WORKFLOWS),
        workflow_runner=sandbox(),
        # A message that cannot be read fails the workflow instead of hanging it for ever. Nothing wider: a nondeterminism error
        # must stop the task, not the session.
        workflow_failure_exception_types=[ValidationError],
    )
