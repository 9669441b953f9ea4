"""Workflows in Temporal's sandbox, entered once per task and not again for each payload that goes in or out.

For every payload the SDK asks the instance, several times, in which context a codec or an external storage would see it, and each
question enters the sandbox: a third of the main thread's time. We have neither, so there is one answer, and it is known outside.
"""

from dataclasses import dataclass

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import SerializationContext, StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import Info


@dataclass(frozen=True)
class LeanRunner(SandboxedWorkflowRunner):
    """The sandboxed runner, for a data converter without codec and without external storage. The guards inside are the same."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return the sandboxed instance behind one that answers for it."""
        return _Lean(super().create_instance(det))


class _Lean(WorkflowInstance):
    """Hands all on but the questions about payloads."""

    def __init__(self, inner: WorkflowInstance) -> None:
        self._inner = inner

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        return self._inner.activate(act)

    def get_serialization_context(self, command_info: object) -> SerializationContext | None:
        return None

    def get_external_store_context(self, command_info: object) -> StorageDriverStoreContext:
        return _NO_STORE

    def get_info(self) -> Info:
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        return self._inner.get_thread_id()


_NO_STORE = StorageDriverStoreContext(target=None)
