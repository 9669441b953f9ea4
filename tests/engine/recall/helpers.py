"""Short ways to write and to ask, for the tests of recall."""

from collections.abc import Sequence
from typing import Any

from hindwise.engine import Engine
from hindwise.model.brief import Recalled, RecallQuery
from hindwise.model.memory import Draft, Evidence, Kind
from hindwise.recall.recall import Recaller
from hindwise.recall.remember import remember
from hindwise.text.language import language_of

TENANT = "default"


def lesson(conclusion: str, when: str = "", task: str = "", **more: Any) -> Draft:
    """A lesson draft; language read from the conclusion."""
    return Draft(
        kind=Kind.LESSON,
        conclusion=conclusion,
        applies_when=when,
        generalized_query=task,
        language=language_of(conclusion),
        **more,
    )


def fact(conclusion: str, **more: Any) -> Draft:
    """A draft of another kind: fact unless `kind` says so."""
    return Draft(**{"kind": Kind.FACT, "conclusion": conclusion, "language": language_of(conclusion), **more})


async def keep(engine: Engine, space: str, *drafts: Draft) -> list[str]:
    """Write drafts; return their memory ids."""
    return [(await remember(engine, TENANT, draft, space, "test", engine.clock.now())).memory_id for draft in drafts]


async def apply_outbox(engine: Engine) -> None:
    """Bring the index up to date, as a worker does."""
    while await engine.projection.one_space() is not None:
        pass


async def ask(recaller: Recaller, text: str, **more: Any) -> Recalled:
    """Recall with a query text; `user` is a short name for user_id."""
    if "user" in more:
        more["user_id"] = more.pop("user")
    if "agent" in more:
        more["agent_id"] = more.pop("agent")
    return await recaller.recall(TENANT, RecallQuery(query=text, **more))


def ids(answer: Recalled) -> list[str]:
    """Memory ids, in order."""
    return [item.memory_id for item in answer.items]


def quoting(episode_id: str, quote: str, turn_id: str = "t1") -> tuple[Evidence, ...]:
    """Evidence with a quote."""
    return (Evidence(episode_id=episode_id, seq=1, turn_id=turn_id, quote=quote),)


def conclusions(answer: Recalled) -> Sequence[str]:
    """What was told, in order."""
    return [item.conclusion for item in answer.items]
