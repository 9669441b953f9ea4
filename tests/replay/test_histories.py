"""Golden histories of real runs replay on today's code: a changed order of steps would hang every open workflow in the field.

If this fails and the change is meant: give it a `workflow.patched` branch, then record anew with `python -m tests.replay.record`.
"""

import base64
import json
import re
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from tests.replay.record import HISTORIES
from workflows.plugin import sandbox, workflow_plugin

FILES = sorted(HISTORIES.glob("*.json"))


def _history(path: Path) -> WorkflowHistory:
    recorded = json.loads(path.read_text())
    return WorkflowHistory.from_json(recorded["workflow_id"], recorded["history"])


def _replayer() -> Replayer:
    return Replayer(workflows=[], plugins=[workflow_plugin()])


def test_session_and_reflection_have_histories_of_every_sort() -> None:
    """Closed, open with a pending timer, over continue-as-new, fallen back, parked, released by each signal, something gone."""
    assert {path.stem for path in FILES} >= {
        "session-closed", "session-idle", "session-waiting", "session-first-run", "session-second-run", "reflection-rules",
        "reflection-fallback", "reflection-unavailable", "reflection-parked", "reflection-retry", "reflection-use-rules",
        "reflection-skip", "reflection-skipped", "reflection-budget", "reflection-budget-between", "erase-retry", "erase-waiting",
        "reflection-gone-unpatched", "reflection-found-anew", "reflection-vanished", "reflection-erased",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    """Command by command as it was recorded."""
    await _replayer().replay_workflow(_history(path))


async def test_a_replay_can_fail() -> None:
    """The guard bites: a history whose second activity has another name does not replay."""
    recorded = json.loads((HISTORIES / "reflection-rules.json").read_text())
    changed = json.dumps(recorded["history"]).replace('"name": "ground"', '"name": "polish"')
    with pytest.raises(workflow.NondeterminismError):
        await _replayer().replay_workflow(WorkflowHistory.from_json(recorded["workflow_id"], changed))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_history_names_no_machine(path: Path) -> None:
    """Neither in clear nor inside a payload."""
    text = path.read_text()
    payloads = [base64.b64decode(found).decode("utf-8", "replace") for found in re.findall(r'"data":"([A-Za-z0-9+/=]+)"', text)]
    assert not re.search(r"/home/|/root/|/tmp/|/work/|\.venv|\.py\b", " ".join([text, *payloads]))


def test_the_guards_are_on() -> None:
    """Workflows run in the sandbox, for worker and Replayer alike."""
    assert isinstance(sandbox(), SandboxedWorkflowRunner)
    assert isinstance(workflow_plugin().workflow_runner, SandboxedWorkflowRunner)


async def test_nothing_reaches_workflows_past_the_sandbox_unmeant() -> None:
    """Whatever a workflow module imports is either reloaded in the sandbox or passed through by name."""
    strict = workflow.SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH
    restrictions = sandbox().restrictions.with_import_notification_policy(strict)
    plugin = workflow_plugin()
    plugin.workflow_runner = SandboxedWorkflowRunner(restrictions=restrictions)
    replayer = Replayer(workflows=[], plugins=[plugin])
    for name in ("session-closed", "reflection-retry"):
        await replayer.replay_workflow(_history(HISTORIES / f"{name}.json"))
