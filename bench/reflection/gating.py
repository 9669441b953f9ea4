"""Which single turns are worth keeping, and are their secrets masked? `python -m bench.reflection.gating`.

100 turns of our own (`gating_dev.jsonl`). Measured is `hindwise.reflect.rules.worth`, and the masking that every turn passes on its way in.
The cue lists were first written with the whole file in sight (issue A), so neither half is unseen; `gating_fresh.jsonl` is: turns written
afterwards, in other words, and never tuned on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.reflection.sampling import eval_file, half_of, told
from hindwise.model.turn import Origin, Turn
from hindwise.reflect.rules.worth import why_not_kept
from hindwise.safety.masking import mask

_FRESH = Path(__file__).with_name("gating_fresh.jsonl")
_ORIGIN = {"user": Origin.USER, "assistant": Origin.AGENT, "tool": Origin.TOOL}
_NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def examples() -> list[dict[str, Any]]:
    """The 100 turns, in file order."""
    return _lines(eval_file("gating_dev.jsonl"))


def fresh() -> list[dict[str, Any]]:
    """The turns that nothing was tuned on."""
    return _lines(_FRESH)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def turn_of(example: dict[str, Any]) -> Turn:
    """The example as a turn."""
    return Turn(seq=1, turn_id="t1", role=example["role"], origin=_ORIGIN[example["role"]], content=example["text"], occurred_at=_NOW)


def kept(example: dict[str, Any]) -> bool:
    """Whether the product keeps the turn."""
    return why_not_kept(turn_of(example)) is None


def leaked(example: dict[str, Any]) -> list[str]:
    """The secrets of the turn that the mask lets through."""
    return [secret for secret in example["expected"].get("redact") or () if secret in mask(example["text"]).text]


@dataclass(frozen=True)
class Figure:
    """Keep or drop, in one part of the turns."""

    part: str
    hits: int
    missed: int
    wrong: int
    turns: int
    secrets: int
    leaked: int

    @property
    def f1(self) -> float:
        """F1 of what is kept."""
        return 2 * self.hits / max(1, 2 * self.hits + self.missed + self.wrong)

    @property
    def right(self) -> int:
        """Turns that were decided as expected."""
        return self.turns - self.missed - self.wrong


def figures() -> list[Figure]:
    """Both halves, both languages, all, and the fresh turns."""
    data, new = examples(), fresh()
    parts = {
        "dev half": [e for e in data if half_of(e["id"]) == "dev"],
        "report half": [e for e in data if half_of(e["id"]) == "report"],
        "English": [e for e in data if e["lang"] == "en"],
        "Chinese": [e for e in data if e["lang"] == "zh"],
        "all": data,
        "fresh, English": [e for e in new if e["lang"] == "en"],
        "fresh, Chinese": [e for e in new if e["lang"] == "zh"],
    }
    return [_figure(name, part) for name, part in parts.items()]


def _figure(name: str, part: Sequence[dict[str, Any]]) -> Figure:
    decided = [(kept(e), bool(e["expected"]["keep"])) for e in part]
    return Figure(
        name,
        sum(ours and wanted for ours, wanted in decided),
        sum(wanted and not ours for ours, wanted in decided),
        sum(ours and not wanted for ours, wanted in decided),
        len(part),
        sum(len(e["expected"].get("redact") or ()) for e in part),
        sum(len(leaked(e)) for e in part),
    )


def table() -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = [
        "| turns | F1 of keep | decided as expected [95 %] | recall [95 %] | precision [95 %] | secrets masked |",
        "|---|---|---|---|---|---|",
    ]
    for f in figures():
        recall, precision = told(f.hits, f.hits + f.missed), told(f.hits, f.hits + f.wrong)
        lines.append(f"| {f.part} | {f.f1:.2f} | {told(f.right, f.turns)} | {recall} | {precision} | {f.secrets - f.leaked}/{f.secrets} |")
    return lines


def main() -> None:
    """Print the table, and what was decided otherwise in the dev half."""
    print("\n".join(table()))
    for example in examples():
        if half_of(example["id"]) == "dev" and kept(example) != bool(example["expected"]["keep"]):
            print("should be", "kept" if example["expected"]["keep"] else "dropped", example["id"], example["text"][:160])
    for example in examples():
        for secret in leaked(example):
            print("leaked", example["id"], secret)


if __name__ == "__main__":
    main()
