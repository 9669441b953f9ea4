"""Wordings searched by their signs are found wherever a plain search finds them, in both languages."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from hindwise.reflect import cues
from hindwise.reflect.rules import statements, task_en, worth
from hindwise.reflect.rules.attributes import ATTRIBUTES
from hindwise.reflect.rules.statements import sentences_of
from hindwise.safety import origin, poison
from hindwise.text.cue import Cue, alternatives, signs_of

ROOT = Path(__file__).resolve().parents[3]
CUES = {
    **{f"{module.__name__}.{name}": cue for module in (cues, statements, task_en, worth, origin) for name, cue in vars(module).items()},
    **{f"attribute {attribute.name}": attribute.pattern for attribute in ATTRIBUTES},
    **{f"poison {name}": cue for name, cue in vars(poison)["_ENGLISH"].items()},
}
CUES = {name: cue for name, cue in CUES.items() if isinstance(cue, Cue)}
ODD = {"i": "İıI", "s": "ſS", "k": "\u212aK"}
"""What a search without regard to case takes for a letter too."""


def wordings(items: Sequence[Any], dice: random.Random) -> str:
    """Words that an expression matches but for what stands around them: one of the ways, by chance."""
    said = ""
    for kind, value in items:
        if kind is _parser.LITERAL:
            letter = chr(value)
            said += dice.choice([letter, letter, letter, *ODD.get(letter, letter.upper())])
        elif kind is _parser.BRANCH:
            said += wordings(dice.choice(value[1]), dice)
        elif kind is _parser.SUBPATTERN:
            said += wordings(value[3], dice)
        elif kind in (_parser.MAX_REPEAT, _parser.MIN_REPEAT):
            said += "".join(wordings(value[2], dice) for _ in range(dice.randint(value[0], min(value[1], value[0] + 2))))
        elif kind is _parser.IN:
            said += _one_of(value, dice)
        elif kind in (_parser.ANY, _parser.NOT_LITERAL):
            said += dice.choice("x 好")
    return said


def _one_of(choices: Sequence[Any], dice: random.Random) -> str:
    if choices[0][0] is _parser.NEGATE:
        return dice.choice("x 好")
    kind, value = dice.choice(choices)
    if kind is _parser.RANGE:
        return chr(dice.randint(*value))
    return chr(value) if kind is _parser.LITERAL else {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " "}.get(str(value), "w")


def spoken_texts() -> Iterator[str]:
    """What people, agents and tools said in runs of both languages."""
    for line in (ROOT / "examples" / "airline" / "runs.jsonl").read_text(encoding="utf-8").splitlines()[:8]:
        yield from (message.get("content") or "" for message in json.loads(line)["messages"])
    for name in ("parallel_runs", "parallel_fresh"):
        for line in (ROOT / "bench" / "reflection" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            yield from (turn.get("content", "") for turn in json.loads(line)["turns"])


TEXTS = list(dict.fromkeys(sentence[:300] for text in spoken_texts() for sentence in sentences_of(text[:2_000])))


@pytest.mark.parametrize("name", CUES)
def test_a_wording_is_found_in_each_way_that_it_can_be_said(name: str) -> None:
    cue, dice = CUES[name], random.Random(name)
    plain = re.compile(f"(?i){cue.expression}")
    found = 0
    for alternative in alternatives(cue.expression):
        parsed = _parser.parse(alternative, re.IGNORECASE)
        for _ in range(60):
            text = dice.choice(["{}", "Well, {} now.", "嗯，{}。", "{}，好"]).format(wordings(parsed, dice))
            expected = plain.search(text)
            found += expected is not None
            assert cue.occurs(text) == (expected is not None), (alternative, text)
    assert found > 20, "the test says something only of wordings that are found"


@pytest.mark.parametrize("name", CUES)
def test_of_what_was_said_the_same_is_found_at_the_same_place_as_by_a_plain_search(name: str) -> None:
    cue = CUES[name]
    plain = re.compile(f"(?i){cue.expression}")
    for text in TEXTS:
        found, expected = cue.search(text), plain.search(text)
        assert (found and (found.span(), found.groups())) == (expected and (expected.span(), expected.groups())), text
    joined = " ".join(TEXTS[:40])
    assert [m.span() for m in cue.finditer(joined)] == [m.span() for m in plain.finditer(joined)]


def test_the_parts_of_an_expression_end_at_bars_outside_of_brackets_alone() -> None:
    assert alternatives(r"a|(?:b|c)d|[|(]e|\|f|[]|]g|\(h|i") == ["a", "(?:b|c)d", "[|(]e", r"\|f", "[]|]g", r"\(h", "i"]


@pytest.mark.parametrize(
    ("expression", "signs"),
    [
        (r"\bi (?:really )?like (?!to know)", {"like "}),
        (r"\b(?:cannot|can'?t|unable)\b", {"can", "unable"}),
        (r"不(?:要|用)再", {"不"}),
        (r"我(?:更愿意|宁可)", {"更愿意", "宁可"}),
        (r"(?:x{2,}|y?)z", {"z"}),
        (r"\d+ ?%", {"%"}),
        (r"\w+(?: \w+)?", {""}),
        (r"a?|b", {""}),
    ],
)
def test_the_most_telling_words_that_no_match_can_do_without_are_its_signs(expression: str, signs: set[str]) -> None:
    assert set(signs_of(expression)) == signs
