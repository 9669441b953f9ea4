"""Does a request for today's task pass for a standing order? `python -m bench.reflection.one_off`.

`one_off.txt`: what users say, read by `hindwise.reflect.rules.statements`. A request of once that is kept as an instruction or a preference
is wrong; so is a standing order that is not kept.
"""

from collections import Counter
from pathlib import Path

from bench.reflection.sampling import Half, half_of, told
from hindwise.model.memory import Kind
from hindwise.reflect.rules.statements import statements_of

_FILE = Path(__file__).with_name("one_off.txt")
_KEPT = (Kind.INSTRUCTION, Kind.PREFERENCE)


def examples() -> list[tuple[Half, bool, str, str]]:
    """Half, whether it holds from now on, language, and the words."""
    lines = (line.split(" | ") for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return [(half_of(said), kind == "standing", language, said) for kind, language, said in lines]


def is_kept(said: str) -> bool:
    """Whether rules take it for an order or a wish that outlives the task."""
    return any(statement.kind in _KEPT for statement in statements_of(said))


def table() -> list[str]:
    """The counts as lines of a Markdown table."""
    counts: Counter[tuple[str, str, bool, bool]] = Counter()
    for half, standing, language, said in examples():
        for part in (half, "all"):
            counts[part, language, standing, is_kept(said)] += 1
    lines = ["| half | language | requests of once: not kept [95 %] | standing orders: kept [95 %] |", "|---|---|---|---|"]
    for part in ("dev", "report", "all"):
        for language in ("en", "zh"):
            kept, left = ([counts[part, language, standing, each] for each in (True, False)] for standing in (True, False))
            lines.append(f"| {part} | {language} | {told(left[1], sum(left))} | {told(kept[0], sum(kept))} |")
    return lines


def main() -> None:
    """Print the table, and what of the dev half is not as it should be."""
    print("\n".join(table()))
    for half, standing, _, said in examples():
        if half == "dev" and is_kept(said) != standing:
            print("missed" if standing else "kept", said)


if __name__ == "__main__":
    main()
