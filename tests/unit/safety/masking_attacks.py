"""Two lists of our own, English and Chinese: what must be masked, and what people write that only looks like it.

One half was tuned on, the other was only reported, a third part was
written when the rules were done. `python -m tests.unit.safety.masking_attacks` prints the figures, and what went wrong
in the half that was tuned on.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask

HALVES = ("tuned on", "reported", "written afterwards")
_FILE = Path(__file__).with_suffix(".tsv")


class Attack(NamedTuple):
    """A text, and the parts of it that must be gone; without parts nothing may change."""

    lang: str
    half: str
    gone: tuple[str, ...]
    text: str

    def holds(self) -> bool:
        """Whether masking does with the text what it must."""
        masked = mask(self.text, Contacts(phones=True)).text
        return not any(part in masked for part in self.gone) if self.gone else masked == self.text


def attacks() -> Iterator[Attack]:
    """All lines of the list, in order."""
    places: Counter[tuple[str, bool]] = Counter()
    later = False
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            later = later or line.startswith("# Written after")
            continue
        lang, gone, text = line.split("\t")
        sort = (lang, gone == "-")
        yield Attack(
            lang, HALVES[2 if later else places[sort] % 2], () if gone == "-" else tuple(gone.split("¦")), text.replace("\\n", "\n")
        )
        places[sort] += 1


def share(lang: str, half: str, *, secrets: bool) -> tuple[int, int]:
    """How many of a half hold, and of how many: secrets gone, or else texts left as they are."""
    held = [attack.holds() for attack in attacks() if (attack.lang, attack.half, bool(attack.gone)) == (lang, half, secrets)]
    return sum(held), len(held)


def table() -> list[str]:
    """The figures as lines of a Markdown table."""
    lines = ["| half | language | secrets masked | texts wrongly changed |", "|---|---|---|---|"]
    for half in HALVES:
        for lang in ("en", "zh"):
            (gone, secrets), (left, texts) = share(lang, half, secrets=True), share(lang, half, secrets=False)
            recall, wrong = f"{gone}/{secrets} = {gone / secrets:.2f}", f"{texts - left}/{texts} = {(texts - left) / texts:.2f}"
            lines.append(f"| {half} | {lang} | {recall} | {wrong} |")
    return lines


def main() -> None:
    """Print the table, and each text of the tuned half that does not hold."""
    lines = table()
    for attack in attacks():
        if attack.half == HALVES[0] and not attack.holds():
            masked = mask(attack.text, Contacts(phones=True))
            lines.append(f"{'passed' if attack.gone else 'masked'}: {attack.text!r} -> {masked.text!r}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
