"""Dates written in English or Chinese made ISO. Only whole dates: a month or "next Friday" means another day in another week."""

import re
from datetime import date

from hindwise.text.lazy_re import lazy_re
from hindwise.text.particulars import MONTHS

_NUMERIC = lazy_re(r"(?<![\d.-])(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})(?!\d)\s*[日号]?")
_MONTH_FIRST = lazy_re(rf"\b({MONTHS})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b")
_DAY_FIRST = lazy_re(rf"(?<![\d.])(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTHS})\.?,?\s+(\d{{4}})\b")
_MONTH_NUMBER = {
    name: number
    for number, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1)
}


def iso_dates(text: str) -> str:
    """Return lower-case `text` with whole dates as YYYY-MM-DD; what is no day of the calendar stays as written.

    12/11/2025 stays too: which of the two is the month depends on the writer.
    """
    text = _NUMERIC.sub(lambda m: _iso(m, m[1], m[2], m[3]), text)
    text = _MONTH_FIRST.sub(lambda m: _iso(m, m[3], m[1], m[2]), text)
    return _DAY_FIRST.sub(lambda m: _iso(m, m[3], m[2], m[1]), text)


def _iso(match: re.Match[str], year: str, month: str, day: str) -> str:
    number = int(month) if month.isdigit() else _MONTH_NUMBER[month[:3]]
    try:
        return date(int(year), number, int(day)).isoformat()
    except ValueError:
        return match.group()
