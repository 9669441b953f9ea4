"""Asking an index on a server before the survey has ended, or has begun: where the embedder was quick, the question waits for nothing else.

An answer that was begun before the outbox was read may lack what was applied in between. Nothing was, where a space bears the mark that
the survey before found there; where it bears another one, the answer is dropped, and the index asked again.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, TypeVar

from hindwise.index.base import Candidate
from hindwise.recall.survey import Mark, Survey

T = TypeVar("T")

_SPACES = 10_000
"""Marks kept; who is asked less often than all these waits for the survey."""

Ask = Callable[[str], Coroutine[Any, Any, list[Candidate]]]
"""Asks the index about a space, by its name among those of the tenant."""


class Soon(Generic[T]):
    """Work that begins after a while, or when it is wanted, whichever comes first. begin: puts it on a task; after_s: 0 = at once."""

    def __init__(self, begin: "Callable[[], asyncio.Task[T]]", after_s: float) -> None:
        self._begin = begin
        self.task: asyncio.Task[T] | None = None
        """Where it has begun."""
        self._timer = asyncio.get_running_loop().call_later(after_s, self.begun) if after_s else None
        if not after_s:
            self.begun()

    def begun(self) -> "asyncio.Task[T]":
        """Begin now where that is still to do."""
        if self._timer is not None:
            self._timer.cancel()
        if self.task is None:
            self.task = self._begin()
        return self.task

    async def drop(self) -> None:
        """It is not wanted any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)


class Begun:
    """Questions that are under way, by the space's name. `drop` it in the end."""

    def __init__(self, marks: Mapping[str, Mark], ask: Ask) -> None:
        self._marks = marks
        self._tasks = {name: asyncio.create_task(ask(name), name="recall-ahead") for name in marks}
        for task in self._tasks.values():
            # Of one that is dropped nobody wants to know how it ended.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def answer(self, name: str, mark: Mark) -> "asyncio.Task[list[Candidate]] | None":
        """What the index says of a space that bears this mark now; None where that was not asked for, or is out of date."""
        return self._tasks[name] if self._marks.get(name) == mark else None

    def drop(self) -> None:
        """Stop what still runs."""
        for task in self._tasks.values():
            task.cancel()


class Ahead:
    """The marks that surveys of this process found."""

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], Mark] = {}

    def note(self, tenant_id: str, survey: Survey) -> None:
        """A survey has ended."""
        for name, mark in survey.marks.items():
            self._marks.pop((tenant_id, name), None)
            self._marks[tenant_id, name] = mark
        while len(self._marks) > _SPACES:
            del self._marks[next(iter(self._marks))]

    def knows(self, tenant_id: str, names: Sequence[str]) -> bool:
        """Whether each of the spaces was looked at before."""
        return all((tenant_id, name) in self._marks for name in names)

    def begin(self, tenant_id: str, names: Sequence[str], ask: Ask) -> Begun:
        """Ask about those of the spaces that were looked at before."""
        return Begun({name: mark for name in names if (mark := self._marks.get((tenant_id, name))) is not None}, ask)
