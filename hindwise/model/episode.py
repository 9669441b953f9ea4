"""What is an episode? One finished task: a range of turns, a goal, an outcome. The evidence; never rewritten."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from hindwise.model.base import Model
from hindwise.model.turn import Turn


class OutcomeStatus(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class OutcomeSource(StrEnum):
    """Who says so. Stronger first: environment, user, rule, judge."""

    ENV = "env"
    USER = "user"
    RULE = "rule"
    JUDGE = "judge"


STRENGTH = {OutcomeSource.ENV: 4, OutcomeSource.USER: 3, OutcomeSource.RULE: 2, OutcomeSource.JUDGE: 1}
"""A verdict is replaced by one of the same or greater strength; a weaker one is kept in the history only."""


class Outcome(Model):
    """A verdict. `note`: what the environment or the user said about it, in words."""

    status: OutcomeStatus = OutcomeStatus.UNKNOWN
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    source: OutcomeSource = OutcomeSource.USER
    note: str = Field(default="", max_length=8_000)
    artifacts: tuple[str, ...] = Field(default=(), max_length=50)


class Episode(Model):
    """One finished task, with its turns, as reflectors see it."""

    id: str
    tenant_id: str
    user_id: str = ""
    agent_id: str = ""
    session_id: str = ""
    run_id: str = ""
    source: str = "api"
    """api, cli, or the hook's source such as dify."""
    goal: str = ""
    outcome: Outcome = Outcome()
    turns: tuple[Turn, ...] = ()
    inputs: dict[str, Any] = Field(default_factory=dict)
    """What the task was started with, where the caller told (hooks do)."""
    started_at: datetime
    ended_at: datetime
    closed_by: str = "caller"
    """caller, or idle: only idle-closed ranges may be segmented."""
