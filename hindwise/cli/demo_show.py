"""What the five acts share: the stage, the running server, its API, and the notebook of promises and figures."""

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hindwise.cli.client import FINAL, ApiClient
from hindwise.cli.demo_data import Run
from hindwise.cli.demo_server import Played
from hindwise.cli.demo_stage import Stage
from hindwise.cli.exits import Ended

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 6
_POLL_S = 0.25
_PAGE = 200


@dataclass(slots=True)
class Show:
    """One performance. `accepted`: by run id, what the door answered."""

    stage: Stage
    server: Played
    api: ApiClient
    place: Path
    runs: tuple[Run, ...]
    accepted: dict[str, dict[str, Any]] = field(default_factory=dict)
    promises: dict[str, bool] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)

    def promise(self, holds: bool, key: str, **values: Any) -> None:
        """Note whether a promise held, and say so."""
        self.promises[key] = holds
        self.stage.check(holds, key, **values)

    def all_of(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Every row of a list."""
        rows: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.api.get(path, limit=_PAGE, cursor=cursor, **query)
            rows += page["items"]
            cursor = page["next_cursor"] or ""
            if not cursor:
                return rows

    def recall(self, query: str, *, limit: int = 8, **owner: str) -> dict[str, Any]:
        """Ask for a brief."""
        found: dict[str, Any] = self.api.post("/v1/recall", {"query": query, "limit": limit, **owner})
        return found

    def states(self, accepted: Collection[Mapping[str, Any]]) -> list[str]:
        """Status of the reflections that these answers announced."""
        wanted = {answer["reflection_id"] for answer in accepted}
        return [row["status"] for row in self.all_of("/v1/reflections") if row["reflection_id"] in wanted]

    def wait_final(self, accepted: Collection[Mapping[str, Any]], *, enough: int | None = None, limit_s: float = 240.0) -> int:
        """Wait, with a bar, until `enough` (default: all) of the announced reflections are final; how many are. Stops at the limit."""
        wanted = len(accepted) if enough is None else enough
        end = time.monotonic() + limit_s
        with self.stage.bars({"bar_reflections": len(accepted)}) as bar:
            while True:
                self.server.look()  # a server that died is told at once, not at the limit
                done = sum(state in FINAL for state in self.states(accepted))
                bar("bar_reflections", done)
                if done >= wanted or time.monotonic() > end:
                    return done
                time.sleep(_POLL_S)

    def settle(self, answer: Mapping[str, Any], limit_s: float = 60.0) -> None:
        """Wait, without a bar, until one reflection is final. Raises Ended at the limit."""
        status = ""
        for state in self.api.wait_for(answer["reflection_id"], limit_s):
            self.server.look()
            status = state["status"]
        if status not in FINAL:
            raise Ended(f"reflection {answer['reflection_id']} is {status} after {limit_s:.0f} s")


def side_by_side(work: Callable[[T], R], items: Collection[T], done: Callable[[T, R], None]) -> None:
    """Do `work` for all items, a few at once; `done` is called in the caller's thread, in order. The first error ends it."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        futures = [(item, pool.submit(work, item)) for item in items]
        try:
            for item, future in futures:
                done(item, future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
