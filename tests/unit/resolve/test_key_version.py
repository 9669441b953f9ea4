"""Other words or other code make other keys: the ledger is told, so that it names its slots anew."""

from hindwise.model.ids import digest
from hindwise.resolve.slots import key_version, slot_key
from hindwise.text.bilingual_words import ENTRIES
from tests.build import make_draft

_PHRASES = (
    "allergy to peanuts",
    "对花生过敏",
    "have dog",
    "ask before delete files",
    "5月4日",
    "note 1f2e3d",
    "kubernetes ingress",
    "€500",
)
PINNED = {
    "fddd090531f8ede24a999f921d5ff6651b7af06c711fa00c0040eaad58981767": "b81d75b4ff61da18b4e302611b0ad3b1be95ae898236309796b99ff1037309d4"
}
"""The version, and the digest of what it makes of every word of the lexicon and some phrases."""


def _keys() -> str:
    """All keys as one digest."""
    words = sorted({word for english, chinese in ENTRIES for word in (*english, *chinese)})
    kinds = ("preference", "fact", "todo")
    return digest([slot_key(make_draft("x", kind=kind, attribute=word, value="x")) for word in (*words, *_PHRASES) for kind in kinds])


def test_no_key_changes_without_the_version_that_the_ledger_keeps() -> None:
    """Another lexicon: pin the new pair here. The same version with other keys: raise FORM in `resolve/slots.py` first."""
    assert {key_version(): _keys()} == PINNED
