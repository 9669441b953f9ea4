"""What callers send. One model per body, each with an example that /docs shows; a field whose behaviour is not built is not here."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from api.fields import Body, ErasableId, Id, OurId, Owner
from api.turns import MAX_TURNS, Message
from hindwise.model.brief import Profile
from hindwise.model.episode import Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.memory import MAX_CONCLUSION_CHARS, Kind, Status
from hindwise.model.reflection import ReflectionStatus

Goal = Annotated[StrictStr, Field(max_length=8_000, description="What the task was for, in the words of whoever set it.")]
RecallIds = Annotated[
    list[OurId], Field(max_length=50, description="Recalls whose briefs this task used, where session or run do not tell.")
]
Limit = Annotated[int, Field(ge=1, le=200, description="Rows in this answer.")]
NextCursor = Annotated[str, Field(max_length=200, description="`next_cursor` of the last answer.")]


def _example(*values: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(values)})


class OutcomeBody(Body):
    """A verdict: how a task ended, and who says so."""

    model_config = _example({"status": "failure", "source": "env", "note": "refund of 12.50 missing in the database"})

    status: OutcomeStatus = OutcomeStatus.UNKNOWN
    score: StrictFloat | StrictInt | None = Field(default=None, ge=0, le=1)
    source: OutcomeSource = Field(default=OutcomeSource.USER, description="Who says so; a weaker source never overrules a stronger one.")
    note: StrictStr = Field(default="", max_length=8_000, description="What the environment or the user said about it.")
    artifacts: list[Annotated[StrictStr, Field(max_length=2_000)]] = Field(
        default_factory=list, max_length=50, description="Links to results."
    )

    def outcome(self, safe: Any) -> Outcome:
        """The engine's value; `safe` makes texts fit to be stored."""
        return Outcome(
            status=self.status,
            score=None if self.score is None else float(self.score),
            source=self.source,
            note=safe(self.note)[:8_000],
            artifacts=tuple(safe(link) for link in self.artifacts),
        )


class TurnsBody(Owner):
    """New turns of a session."""

    model_config = _example(
        {
            "user_id": "ann",
            "agent_id": "support-bot",
            "turns": [
                {"turn_id": "t1", "role": "user", "content": "Please refund order 4410. 请退掉 4410 号订单。"},
                {
                    "turn_id": "t2",
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "4410"}'}}
                    ],
                },
                {"turn_id": "t3", "role": "tool", "tool_call_id": "c1", "name": "get_order", "content": '{"status": "late"}'},
            ],
        }
    )

    turns: list[Message] = Field(min_length=1, max_length=MAX_TURNS)


class CompleteBody(Body):
    """The end of a session's open task."""

    model_config = _example({"user_id": "ann", "goal": "Refund order 4410", "outcome": {"status": "success", "source": "user"}})

    user_id: Id | None = Field(default=None, description="Checked against the session's owner where given.")
    agent_id: Id | None = Field(default=None, description="Checked against the session's owner where given.")
    goal: Goal = ""
    outcome: OutcomeBody = OutcomeBody()
    close: StrictBool = Field(default=False, description="The session ends too; a later turn opens it again.")
    recall_ids: RecallIds = Field(default_factory=list)


class CheckpointBody(Body):
    """Where the work stands, for whoever resumes it."""

    model_config = _example(
        {"done": "order found, refund window checked", "next": "issue the refund", "notes": "customer waits on the line"}
    )

    done: StrictStr = Field(default="", max_length=8_000)
    next: StrictStr = Field(default="", max_length=8_000)
    notes: StrictStr = Field(default="", max_length=8_000)


class EpisodeBody(Owner):
    """A whole finished task in one request."""

    model_config = _example(
        {
            "user_id": "ann",
            "agent_id": "support-bot",
            "run_id": "run-4410",
            "goal": "Refund order 4410",
            "turns": [
                {"role": "user", "content": "Please refund order 4410."},
                {"role": "assistant", "content": "Done: 12.50 EUR go back to your card."},
            ],
            "outcome": {"status": "success", "source": "env", "note": "refund booked"},
        }
    )

    run_id: Id = Field(description="Your id of this run: sent again with the same content it changes nothing.")
    goal: Goal = ""
    turns: list[Message] = Field(min_length=1, max_length=MAX_TURNS)
    outcome: OutcomeBody = OutcomeBody()
    recall_ids: RecallIds = Field(default_factory=list)


class RecallBody(Owner):
    """A question before a task."""

    model_config = _example(
        {"user_id": "ann", "agent_id": "support-bot", "query": "Customer wants a refund for a late order", "session_id": "chat-7"}
    )

    query: StrictStr = Field(min_length=1, max_length=8_000, description="The task, in a sentence.")
    limit: StrictInt = Field(default=8, ge=1, le=50, description="Items at most; the brief holds at most 8.")
    budget_tokens: StrictInt = Field(default=800, ge=50, le=8_000)
    kinds: list[Kind] = Field(default_factory=list, max_length=7)
    topics: list[Annotated[StrictStr, Field(max_length=200)]] = Field(default_factory=list, max_length=20)
    profile: Profile = Profile.BALANCED
    lang: Literal["en", "zh"] | None = Field(default=None, description="Language of the headings; by default the query's.")
    include: list[Literal["retrospective"]] = Field(default_factory=list, max_length=1)
    explain: StrictBool = False
    format: Literal["json", "text"] = Field(default="json", description="`text`: the brief alone, ready to paste.")
    session_id: Id | None = Field(default=None, description="So that the outcome of this session's task credits what was told.")
    run_id: Id | None = Field(default=None, description="So that the outcome of this run credits what was told.")


class FeedbackBody(Body):
    """What came of a recall."""

    model_config = _example({"verdict": "helpful", "note": "the refund window was right"})

    memory_id: OurId | None = Field(default=None, description="One of the told memories; by default all of them.")
    verdict: Literal["helpful", "harmful", "neutral"]
    note: StrictStr = Field(default="", max_length=2_000)


class RetrospectiveBody(Body):
    """The seven parts behind a conclusion, each optional."""

    goal: StrictStr = Field(default="", max_length=4_000)
    what_happened: StrictStr = Field(default="", max_length=4_000)
    what_worked: StrictStr = Field(default="", max_length=4_000)
    what_failed_and_why: StrictStr = Field(default="", max_length=4_000)
    final_feedback: StrictStr = Field(default="", max_length=4_000)
    next_time: StrictStr = Field(default="", max_length=4_000)
    still_open: StrictStr = Field(default="", max_length=4_000)


class MemoryBody(Owner):
    """A memory written by hand. With `user_id` it is private to that user; with `agent_id` alone it is shared by all who use the agent."""

    model_config = _example(
        {"user_id": "ann", "content": "I prefer short answers in the morning."},
        {"user_id": "ann", "kind": "preference", "content": "Prefers replies in Chinese", "attribute": "language", "value": "Chinese"},
    )

    content: StrictStr = Field(
        min_length=1,
        max_length=4_000,
        description=f"The statement. Its conclusion holds at most {MAX_CONCLUSION_CHARS} characters, the rest is kept behind it.",
    )
    kind: Kind | None = Field(default=None, description="By default read from the statement.")
    subject: StrictStr = Field(default="", max_length=200, description="About whom or what; empty = the user.")
    attribute: StrictStr = Field(
        default="", max_length=200, description="Which property: the newest value of a property replaces the older."
    )
    scope: StrictStr = Field(default="", max_length=200, description="Under which condition it holds.")
    value: StrictStr = Field(default="", max_length=1_000)
    importance: StrictInt | None = Field(default=None, ge=1, le=10)
    retrospective: RetrospectiveBody | None = None


class RerunBody(Body):
    """Another look back over the same task."""

    model_config = _example({"reflector": "rules"}, {"reflector": "llm", "apply": True})

    reflector: Literal["rules", "llm"] | None = Field(default=None, description="By default the one that the settings name.")
    model: StrictStr | None = Field(default=None, max_length=200, description="Checked against the model of this installation.")
    prompt_version: StrictStr | None = Field(default=None, max_length=40, description="Checked against the one in use.")
    apply: StrictBool = Field(
        default=False, description="False: compared only, nothing is kept. True: a run that replaces the earlier ones."
    )


class ReviewBody(Body):
    """Why a person confirms or rejects a memory; may be left out."""

    model_config = _example({"reason": "she moved in March"}, {"reason": "她三月搬家了"})

    reason: StrictStr = Field(default="", max_length=300, description="Kept in the memory's history.")


class EditBody(Body):
    """What a memory should say instead. What is left out stays as it is."""

    model_config = _example({"conclusion": "Prefers aisle seats on long flights", "value": "aisle", "scope": "long flights"})

    conclusion: StrictStr | None = Field(default=None, min_length=1, max_length=MAX_CONCLUSION_CHARS)
    kind: Kind | None = None
    subject: StrictStr | None = Field(default=None, max_length=200)
    attribute: StrictStr | None = Field(default=None, max_length=200)
    scope: StrictStr | None = Field(default=None, max_length=200)
    value: StrictStr | None = Field(
        default=None, max_length=1_000, description="Left out where the conclusion changes: read from the new conclusion."
    )
    applies_when: StrictStr | None = Field(default=None, max_length=500)
    not_when: StrictStr | None = Field(default=None, max_length=500)
    importance: StrictInt | None = Field(default=None, ge=1, le=10)
    retrospective: RetrospectiveBody | None = None
    reason: StrictStr = Field(default="", max_length=300, description="Kept in the history.")


class SimpleMemoryBody(Body):
    """The shortest way in: one sentence."""

    model_config = _example({"content": "User prefers replies in Chinese", "type": "preference"}, {"content": "用户偏好用中文回复"})

    content: StrictStr = Field(min_length=1, max_length=4_000)
    type: Kind | None = Field(default=None, description="By default read from the sentence.")
    user_id: Id = "default"


class Page(Body):
    """Where a list goes on."""

    limit: Limit = 50
    cursor: NextCursor = ""


class SessionsQuery(Page):
    """Which sessions."""

    state: Literal["open", "closed"] | None = None
    user_id: Id | None = None


class ContextQuery(Body):
    """How much of a session."""

    budget_tokens: int = Field(default=4_000, ge=50, le=200_000, description="The newest turns that fit, whole.")


class OwnedQuery(Owner):
    """Whose list, and where it goes on."""

    limit: Limit = 50
    cursor: NextCursor = ""


class EpisodesQuery(OwnedQuery):
    """Which episodes."""

    outcome: OutcomeStatus | None = None


class MemoriesQuery(OwnedQuery):
    """Which memories."""

    kind: Kind | None = None
    status: Status | None = None
    q: str = Field(default="", max_length=200, description="Part of the conclusion.")


class ReviewQuery(Page):
    """Whose memories wait for a person."""

    user_id: Id | None = None
    agent_id: Id | None = None


class MemoryQuery(Body):
    """Who reads a memory."""

    user_id: Id | None = Field(default=None, description="Of a shared lesson: quotes are shown to the user they came from.")


class ReflectionsQuery(Page):
    """Which reflections."""

    status: ReflectionStatus | None = None
    since: str = Field(
        default="", max_length=40, description="RFC 3339 with a zone: created at or after.", examples=["2026-05-01T00:00:00Z"]
    )


class ErasureBody(Body):
    """Who is to be forgotten."""

    model_config = _example({"user_id": "somebody-who-asked-for-it"})

    user_id: ErasableId = Field(description="The user whose private space is erased, with every task, session and recall of theirs.")


class TaskQuery(Body):
    """Which task: by the caller's own id."""

    run_id: Id | None = None
    session_id: Id | None = None


class RecallQueryText(Owner):
    """A question in a URL."""

    q: str = Field(min_length=1, max_length=8_000, description="The task, in a sentence.")
    limit: int = Field(default=8, ge=1, le=50)
    budget_tokens: int = Field(default=800, ge=50, le=8_000)
    format: Literal["json", "text"] = "json"
    session_id: Id | None = None
    run_id: Id | None = None


class SearchQuery(Body):
    """A search over simple memories."""

    q: str = Field(min_length=1, max_length=8_000)
    user_id: Id = "default"
    limit: int = Field(default=8, ge=1, le=50)
