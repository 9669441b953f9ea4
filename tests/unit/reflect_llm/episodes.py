"""Episodes for the tests of the model's half: invented people, both languages."""

from datetime import UTC, datetime, timedelta

from hindwise.model.episode import Episode, Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.memory import Kind, Memory
from hindwise.model.turn import Origin, ToolCall, Turn
from hindwise.reflect.llm import LlmReflector
from hindwise.settings import Settings

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL, "system": Origin.SYSTEM}

EN = (
    ("user", "Please cancel my booking, and from now on always answer in short sentences."),
    ("assistant", "", "cancel_booking"),
    ("tool", "Error: cancellation needs a confirmation first"),
    ("assistant", "I could not cancel it."),
)
ZH = (
    ("user", "请帮我取消预订，以后都用简短的句子回答。"),
    ("assistant", "", "cancel_booking"),
    ("tool", "错误：取消前需要先确认"),
    ("assistant", "抱歉，没有取消成功。"),
)


def turns_of(*said: tuple[str, ...], first_seq: int = 11) -> tuple[Turn, ...]:
    """(role, content, tool name?) each; seq begins at 11 so that it is never the model's number."""
    return tuple(
        Turn(
            seq=first_seq + place,
            turn_id=f"t-{first_seq + place}",
            role=one[0],
            origin=_ORIGIN[one[0]],
            content=one[1],
            name="cancel_booking" if one[0] == "tool" else "",
            tool_calls=(ToolCall(id="c1", name=one[2], arguments={"booking": "B-17"}),) if len(one) > 2 else (),
            occurred_at=NOON + timedelta(minutes=place),
        )
        for place, one in enumerate(said)
    )


def episode(*said: tuple[str, ...], status: str = "failure", note: str = "", goal: str = "", id: str = "e-1") -> Episode:
    """An episode that says `said`; EN where nothing is said."""
    turns = turns_of(*(said or EN))
    return Episode(
        id=id,
        tenant_id="default",
        user_id="u1",
        goal=goal,
        outcome=Outcome(status=OutcomeStatus(status), source=OutcomeSource.ENV, note=note),
        turns=turns,
        started_at=NOON,
        ended_at=NOON + timedelta(minutes=len(turns)),
    )


def known_memory(conclusion: str, kind: Kind = Kind.LESSON, id: str = "11111111-1111-5111-8111-111111111111") -> Memory:
    """A memory that is already there."""
    return Memory(id=id, tenant_id="default", space="user:u1", kind=kind, conclusion=conclusion, valid_from=NOON, recorded_at=NOON)


def reflector(url: str, *, model: str = "fake-model", key: str = "sk-test-1234567890", timeout_s: float = 5.0) -> LlmReflector:
    """A reflector that asks `url`; settings from here alone."""
    return LlmReflector(Settings(_env_file=None, llm_base_url=url, llm_model=model, llm_api_key=key, llm_timeout_s=timeout_s))


def real_run(row: dict) -> Episode:
    """One run of tau_airline.jsonl as an episode; what the agent never saw stays out."""
    return episode(
        *[
            (message["role"], message.get("content") or "", *[call["function"]["name"] for call in message.get("tool_calls", [])[:1]])
            for message in row["messages"]
        ]
    )
