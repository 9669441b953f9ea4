"""Expressions that are compiled when they are first asked, not when their module is read.

Hundreds of wordings take longer to compile than everything else of a start, and a process asks few of them.
"""

import re
from typing import Any, cast

_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Uncompiled:
    """Stands in for an `re.Pattern`. Its slots are empty until the first of them is asked: an empty slot falls through to `__getattr__`."""

    __slots__ = ("_flags", "_given", *_ASKED)

    def __init__(self, expression: str, flags: int) -> None:
        self._given = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)  # what copies and pickles asks for such before anything is given
        compiled = re.compile(self._given, self._flags)
        if name not in _ASKED:
            return getattr(compiled, name)
        # Two threads that come at once write the same: from here on a slot is as quick as the pattern itself.
        for asked in _ASKED:
            setattr(self, asked, getattr(compiled, asked))
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"lazy_re({self._given!r})"


def lazy_re(expression: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(expression, flags)`, done at the first use: a wrong expression raises `re.error` there.

    Answers to the methods and attributes of a pattern that have a name without an underscore. It is none for `isinstance` and for the
    functions of `re`, and equal to itself alone.
    """
    return cast("re.Pattern[str]", _Uncompiled(expression, flags))
