"""When are two slot values the same? Where their normal forms are equal. What is unsure stays different: a missed duplicate costs a
line, a wrong merge costs a truth."""

from hindwise.text.clean import nfkc
from hindwise.text.dates import iso_dates
from hindwise.text.language import CJK
from hindwise.text.lazy_re import lazy_re
from hindwise.text.numbers import digits_for_words

_DASHES = lazy_re("[\u2010-\u2015\u2212]")
_UNIT = lazy_re(
    r"(?<=\d)\s*-?\s*(day|week|month|year|hour|minute|second|night|time|person|people|ticket|bag|seat|dollar|euro|kilometer|kilometre|"
    r"meter|metre|kilogram|gram|pound|mile|percent|hr|min|sec|km|kg)s?\b"
)
_SAME_UNIT = {"hr": "hour", "min": "minute", "sec": "second", "percent": "%", "people": "person", "kilometer": "km", "kilometre": "km"}
_SAME_UNIT |= {"metre": "meter", "kilogram": "kg"}
_MONEY_CENTS = lazy_re(r"(?<=[$€£¥])(\d+)\.00(?!\d)")
_ARTICLE = lazy_re(r"^(?:a|an|the)\s+(?=\S)")
_CJK_SPACE = lazy_re(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_EDGE_MARKS = " \t\n.,;:!?。，；：！？、\"'“”‘’「」"


def normalise_value(text: str) -> str:
    """Return the form by which values are compared: NFKC, lower case, digits for number words, ISO dates, singular units.

    "Five days" and "5 days", "五天" and "5 天" become equal; "not 5 days", "5 nights", "-5" and "3-5" stay what they are. Languages are
    not translated. Idempotent.
    """
    value = _once(nfkc(text).lower())
    # A step can bring about what an earlier one looks for ("the the x"); each pass only shortens or settles, so this ends.
    for _ in range(8):
        again = _once(value)
        if again == value:
            break
        value = again
    return value


def _once(value: str) -> str:
    value = " ".join(_DASHES.sub("-", nfkc(value)).split()).strip(_EDGE_MARKS)
    value = _ARTICLE.sub("", value)
    value = _CJK_SPACE.sub("", iso_dates(digits_for_words(value)))
    value = _UNIT.sub(lambda m: _unit(m[1]), value)
    return _MONEY_CENTS.sub(r"\1", value)


def _unit(unit: str) -> str:
    known = _SAME_UNIT.get(unit, unit)
    return known if known == "%" else f" {known}"
