"""What may be shown of another user's episode: the shape of the work, none of its words.

Episodes of one agent are contrasted across users, and a reflector (a model, perhaps) sees them. What it never sees of another
user is what was said, asked, answered or passed as a value.
"""

from typing import Any

from hindwise.model.episode import Episode, Outcome
from hindwise.model.turn import ToolCall, Turn
from hindwise.reflect.transcript import error_of

OK = "ok"
ERROR = "ERROR"


def sketch(episode: Episode) -> Episode:
    """Return the episode with roles, tool names and argument names (values empty), results as "ok" or "ERROR", and the verdict.

    Left out: all words, argument values, goal, inputs, the verdict's note and artifacts, and the ids of user, session, run and turns.
    """
    verdict = episode.outcome
    return Episode(
        id=episode.id,
        tenant_id=episode.tenant_id,
        agent_id=episode.agent_id,
        source=episode.source,
        outcome=Outcome(status=verdict.status, score=verdict.score, source=verdict.source),
        turns=tuple(_turn(turn) for turn in episode.turns),
        started_at=episode.started_at,
        ended_at=episode.ended_at,
        closed_by=episode.closed_by,
    )


def for_reader(episode: Episode, user_id: str) -> Episode:
    """Return the episode whole to the user it belongs to, as a sketch to anyone else."""
    return episode if episode.user_id == user_id else sketch(episode)


def _turn(turn: Turn) -> Turn:
    is_result = turn.role == "tool"
    return Turn(
        seq=turn.seq,
        turn_id=str(turn.seq),
        role=turn.role,
        origin=turn.origin,
        content=(ERROR if error_of(turn.content) else OK) if is_result else "",
        name=turn.name if is_result else "",
        # Call ids are the agent's own, but some frameworks put content into them; order and names pair calls with results as well.
        tool_calls=tuple(ToolCall(name=call.name, arguments=_names(call.arguments)) for call in turn.tool_calls),
        occurred_at=turn.occurred_at,
    )


def _names(arguments: dict[str, Any] | str) -> dict[str, Any]:
    """Argument names of the first level with empty values; text that was no JSON says nothing."""
    return {} if isinstance(arguments, str) else dict.fromkeys(arguments, "")
