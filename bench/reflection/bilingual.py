"""What becomes of a statement where the same, or the opposite, was said in the other language? `python -m bench.reflection.bilingual`.

`bilingual_pairs.txt`: statements of the user, read by rules and settled by `hindwise.resolve`, each pair in both directions.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.reflection.sampling import Half, half_of, told
from hindwise.model.memory import Draft, Memory, Status, Words
from hindwise.resolve.decide import decide
from hindwise.resolve.slots import slot_key
from hindwise.text.language import Language
from tests.looking import drafts_of_text

_FILE = Path(__file__).with_name("bilingual_pairs.txt")
_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
_DIRECTIONS: tuple[tuple[Language, Language], ...] = (("en", "zh"), ("zh", "en"))


def pairs() -> Iterator[tuple[Half, bool, dict[Language, str]]]:
    """Half, whether both say the same, and the two statements."""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            verdict, _, both = line.split(" | ")
            english, chinese = both.split(" ||| ")
            yield half_of(english + chinese), verdict == "same", {"en": english, "zh": chinese}


def becomes(first: str, first_language: Language, second: str, second_language: Language) -> str:
    """agree, supersede, apart (both are kept), or unread where rules take one of them for no statement."""
    known, said = drafts_of_text(first, first_language), drafts_of_text(second, second_language)
    if not known or not said:
        return "unread"
    if slot_key(known[0]) != slot_key(said[0]):
        return "apart"
    return decide(said[0], _NOON + timedelta(days=1), [_remembered(known[0])], []).action


def _remembered(draft: Draft) -> Memory:
    words = draft.model_dump(include=set(Words.model_fields))
    return Memory(**words, id="m1", tenant_id="t", space="user:u", status=Status.ACTIVE, head=True, valid_from=_NOON, recorded_at=_NOON)


def table() -> list[str]:
    """The counts as lines of a Markdown table."""
    counts: Counter[tuple[str, bool, str, str]] = Counter()
    for half, same, words in pairs():
        for first, second in _DIRECTIONS:
            for part in (half, "all"):
                counts[part, same, f"{first}, then {second}", becomes(words[first], first, words[second], second)] += 1
    lines = [
        "| half | said | the same: agreed [95 %] | superseded | both kept | not read | opposites: agreed | superseded [95 %] | both kept "
        "| not read |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for part in ("dev", "report", "all"):
        for first, second in _DIRECTIONS:
            said = f"{first}, then {second}"
            again, other = (
                {what: counts[part, each, said, what] for what in ("agree", "supersede", "apart", "unread")} for each in (True, False)
            )
            lines.append(
                f"| {part} | {said} | {told(again['agree'], sum(again.values()))}"
                f" | {again['supersede']} | {again['apart']} | {again['unread']}"
                f" | {other['agree']} | {told(other['supersede'], sum(other.values()))} | {other['apart']} | {other['unread']} |"
            )
    return lines


def main() -> None:
    """Print the table, and what of the dev half is not as it should be."""
    print("\n".join(table()))
    for half, same, words in pairs():
        found = {becomes(words[first], first, words[second], second) for first, second in _DIRECTIONS}
        if half == "dev" and not (found == {"agree"} if same else "agree" not in found):
            print("same" if same else "differs", sorted(found), words)


if __name__ == "__main__":
    main()
