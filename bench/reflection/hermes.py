"""What rules conclude from a Chinese user's day with an assistant: `python -m bench.reflection.hermes`.

Conversations without any verdict (`hermes_session_zh.jsonl`), closed when idle: the outcome is what rules
read. The client's own prompts ("review the conversation above …") are no words of the user and stay out as such.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.reflection.sampling import eval_file
from hindwise.model.episode import Episode
from hindwise.model.memory import Draft
from hindwise.model.turn import Origin, Turn
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.rules.outcome import read_outcome

IDLE = timedelta(minutes=10)
"""After such a pause the conversation is closed here; the product's setting is 30 minutes."""
_BEGIN = datetime(2026, 5, 15, 9, tzinfo=UTC)


def episodes() -> Iterator[Episode]:
    """The conversations in order; a day's clock is made up, the order is not."""
    rows = [json.loads(line) for line in eval_file("hermes_session_zh.jsonl").read_text(encoding="utf-8").splitlines() if line]
    for name, part in _parts(rows):
        turns = tuple(_turn(row) for row in part)
        yield Episode(
            id=name,
            tenant_id="bench",
            user_id="bench",
            agent_id="",
            run_id=name,
            outcome=read_outcome(turns),
            turns=turns,
            started_at=_BEGIN,
            ended_at=turns[-1].occurred_at,
        )


def _parts(rows: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The conversations, closed where nobody spoke for `IDLE`."""
    part: list[dict[str, Any]] = []
    for row in rows:
        if part and (row["episode"] != part[-1]["episode"] or _time(row) - _time(part[-1]) > IDLE):
            yield f"{part[0]['episode']}/{part[0]['turn'] + 1}", part
            part = []
        part.append(row)
    if part:
        yield f"{part[0]['episode']}/{part[0]['turn'] + 1}", part


def _time(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["timestamp"])


def _turn(row: dict[str, Any]) -> Turn:
    seq = int(row["turn"]) + 1
    injected = row["kind"] == "injected_prompt"
    role = "system" if injected else row["role"]
    origin = Origin.SYSTEM if injected else Origin.USER if role == "user" else Origin.AGENT
    return Turn(
        seq=seq, turn_id=f"t{seq}", role=role, origin=origin, content=row["content"], occurred_at=_BEGIN + timedelta(seconds=60 * seq)
    )


def conclusions() -> list[tuple[Episode, Draft]]:
    """Every draft with its episode, in order."""
    return [(episode, draft) for episode in episodes() for draft in reflect_by_rules(episode).drafts]


def lines(at_most: int = 10) -> list[str]:
    """The first conclusions as Markdown, each with its evidence."""
    out = []
    for number, (episode, draft) in enumerate(conclusions()[:at_most], 1):
        out.append(f"{number}. ({draft.kind}, {episode.id}) {draft.conclusion}")
        out += [f"   - turn {place.seq}: “{' '.join(place.quote.split())[:160]}”" for place in draft.evidence[:2]]
    return out


def main() -> None:
    """Print them all."""
    print("\n".join(lines(50)))


if __name__ == "__main__":
    main()
