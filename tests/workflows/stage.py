"""A stage for one test: real server, real workflows, activities that follow a script and note what they were asked."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

from temporalio import activity
from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from workflows import contracts, ids, policies, start, start_erasure, start_reindex
from workflows.contracts import (
    ACTIVITIES,
    BatchResult,
    CaptureResult,
    CheckResult,
    CloseIdleResult,
    CompareResult,
    CreditResult,
    Done,
    FillResult,
    FinishResult,
    GatherResult,
    GroundResult,
    IndexResult,
    Message,
    ReflectionInput,
    ReflectResult,
    ReindexBegun,
    ReindexInput,
    ReindexReport,
    ResolveResult,
    SessionAck,
    SessionInput,
    SessionState,
    SwitchResult,
    TaskCompleted,
    TurnsRecorded,
)
from workflows.erase_messages import EraseInput, EraseOpenResult, EraseReport, EraseResult
from workflows.plugin import workflow_plugin

USUAL: dict[str, Message] = {
    "capture": CaptureResult(added=1),
    "close_idle": CloseIdleResult(),
    "gather": GatherResult(reflector="rules", outcome="failure", turns=7),
    "reflect": ReflectResult(usable=True, drafts=3),
    "ground": GroundResult(accepted=3, rejected=0, complaints=0),
    "resolve": ResolveResult(added=2, superseded=1, due_note="review 2 on 12 Dec"),
    "index": IndexResult(applied=3),
    "credit": CreditResult(credited=1),
    "finish": FinishResult(),
    "park": Done(),
    "erase_begin": Done(),
    "erase_open": EraseOpenResult(),
    "erase_wipe": EraseResult(rows=7, objects=2, shared_lessons_kept=1),
    "erase_check": EraseResult(rows=7, objects=2, shared_lessons_kept=1),
    "erase_park": Done(),
    **{name: BatchResult() for name in policies.UPKEEP_ACTIVITIES},
    "reindex_begin": ReindexBegun(total=90),
    "reindex_fill": FillResult(end=True, done=90, total=90),
    "reindex_check": CheckResult(spaces=3, memories=90),
    "reindex_compare": CompareResult(asked=20, same=20, overlap=1.0, alike=True),
    "reindex_switch": SwitchResult(),
    "reindex_settle": Done(),
    "reindex_park": Done(),
    "reindex_drop": Done(),
}

Script = Message | Exception | Callable[[Any], Any]


def refused(detail: str = "the endpoint says 401: set LLM_API_KEY") -> ApplicationError:
    """What the reflect activity raises for a wrong key."""
    return ApplicationError(detail, type="model-refused", non_retryable=True)


class Stage:
    """Scripts activities, runs workers, and speaks to workflows as the doors do."""

    def __init__(self, environment: WorkflowEnvironment) -> None:
        self.environment = environment
        self.client = environment.client
        self.prefix = f"t{uuid4().hex[:12]}"
        self.handle = uuid4().hex
        self.calls: list[tuple[str, Any]] = []
        self._scripts: dict[str, list[Script]] = defaultdict(list)

    # ---- activities ------------------------------------------------------------------------------------------------------

    def on(self, name: str, *script: Script) -> None:
        """The next calls of an activity return, raise or compute this; the last entry is repeated."""
        self._scripts[name] = list(script)

    def asked(self, name: str) -> list[Any]:
        """The messages that an activity was called with."""
        return [message for called, message in self.calls if called == name]

    def steps(self) -> list[str]:
        """Names of the activities called, in order."""
        return [name for name, _ in self.calls]

    def _activity(self, name: str) -> Callable[[Any], Awaitable[Any]]:
        given, result = ACTIVITIES[name]

        async def play(message: Any) -> Any:
            self.calls.append((name, message))
            script = self._scripts.get(name) or [USUAL[name]]
            step = script.pop(0) if len(script) > 1 else script[0]
            if isinstance(step, Exception):
                raise step
            if isinstance(step, Message):
                return step
            said = step(message)
            return await said if asyncio.iscoroutine(said) else said

        play.__annotations__ = {"message": given, "return": result}
        return activity.defn(name=name)(play)

    @asynccontextmanager
    async def workers(self, **session_options: Any) -> AsyncIterator[None]:
        """All queues served."""
        every = [
            (policies.session_queue(self.prefix), policies.SESSION_ACTIVITIES),
            (policies.store_queue(self.prefix), policies.STORE_ACTIVITIES),
            (policies.llm_queue(self.prefix), policies.LLM_ACTIVITIES),
            (policies.upkeep_queue(self.prefix), policies.UPKEEP_ACTIVITIES | policies.REINDEX_ACTIVITIES),
        ]
        async with AsyncExitStack() as stack:
            for number, (queue, names) in enumerate(every):
                options: dict[str, Any] = {"plugins": [workflow_plugin()], **session_options} if number < 2 else {}
                await stack.enter_async_context(
                    Worker(self.client, task_queue=queue, activities=[self._activity(name) for name in sorted(names)], **options)
                )
            yield

    # ---- reindex ---------------------------------------------------------------------------------------------------------

    async def reindex(self, generation: int = 7, **values: Any) -> WorkflowHandle[Any, ReindexReport]:
        """Start the build of a generation, as a worker does; return its workflow."""
        message = ReindexInput(**{"generation": generation, "queue_prefix": self.prefix, "drain_s": 0.1, **values})
        await start_reindex.start_reindex(self.client, message, rpc_timeout_s=20)
        return self.client.get_workflow_handle(ids.reindex_workflow(generation, self.prefix), result_type=ReindexReport)

    # ---- sessions --------------------------------------------------------------------------------------------------------

    def session_input(self, **values: Any) -> SessionInput:
        """As the API builds it."""
        return SessionInput(
            **{
                "handle": self.handle,
                "tenant_hash": "tenanthash",
                "space_hash": "spacehash",
                "queue_prefix": self.prefix,
                **values,
            }
        )

    async def turns(self, first: int, last: int, *, update_id: str = "", capture: bool = False, **values: Any) -> SessionAck:
        """Tell the session of turns."""
        told = TurnsRecorded(
            update_id=update_id or f"u-{first}-{last}", first_seq=first, last_seq=last, count=last - first + 1, capture=capture
        )
        return await start.send_turns(self.client, self.session_input(**values), told, rpc_timeout_s=20)

    async def completed(self, reflection_id: str, last_seq: int, *, close: bool = False, update_id: str = "", **values: Any) -> SessionAck:
        """Tell the session that a task ended."""
        task = TaskCompleted(update_id=update_id or f"c-{reflection_id}", reflection_id=reflection_id, last_seq=last_seq, close=close)
        return await start.send_completion(self.client, self.session_input(**values), task, rpc_timeout_s=20)

    def session(self) -> WorkflowHandle[Any, SessionState]:
        """The session's workflow, whichever run."""
        return self.client.get_workflow_handle(ids.session_workflow(self.handle), result_type=SessionState)

    # ---- reflections -----------------------------------------------------------------------------------------------------

    async def reflection(self, reflection_id: str = "", **values: Any) -> WorkflowHandle[Any, contracts.ReflectionReport]:
        """Start a reflection as the API does, and return its handle."""
        reflection_id = reflection_id or str(uuid4())
        message = ReflectionInput(
            **{
                "reflection_id": reflection_id,
                "tenant_hash": "tenanthash",
                "space_hash": "spacehash",
                "queue_prefix": self.prefix,
                **values,
            }
        )
        await start.start_reflection(self.client, message, rpc_timeout_s=20)
        return self.reflecting(reflection_id)

    async def erasure(self, erasure_id: str = "") -> WorkflowHandle[Any, EraseReport]:
        """Start an erasure as the API does, and return its handle; one that runs already is told to try again."""
        erasure_id = erasure_id or str(uuid4())
        told = EraseInput(erasure_id=erasure_id, tenant_hash="tenanthash", space_hash="spacehash", queue_prefix=self.prefix)
        await start_erasure.start_erasure(self.client, told, rpc_timeout_s=20)
        return self.client.get_workflow_handle(ids.erase_workflow(erasure_id, self.prefix), result_type=EraseReport)

    def reflecting(self, reflection_id: str) -> WorkflowHandle[Any, contracts.ReflectionReport]:
        """A reflection's workflow."""
        return self.client.get_workflow_handle(ids.reflection_workflow(reflection_id, self.prefix), result_type=contracts.ReflectionReport)


async def until(condition: Callable[[], Any], seconds: float = 20.0) -> None:
    """Wait until a condition (plain or async) holds; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while True:
            met = condition()
            if asyncio.iscoroutine(met):
                met = await met
            if met:
                return
            await asyncio.sleep(0.05)


async def details_of(handle: WorkflowHandle[Any, Any]) -> str:
    """What the Temporal UI shows as current details: the query that it sends."""
    metadata = await handle.query("__temporal_workflow_metadata")
    return str(metadata.current_details)
