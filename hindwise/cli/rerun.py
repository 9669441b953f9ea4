"""`hindwise rerun`: catch up with what rules reflected because the day's tokens for the model were used up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from hindwise.cli import client, console, options
from hindwise.cli.client import ApiClient
from hindwise.cli.exits import USAGE, Ended

BUDGET_SPENT = "budget-spent"
_OVER_BUDGET = ": budget"
"""How `fallback_from` ends where rules stood in for that reason."""
_CONFLICT = 409
_PAGE = 200

Task = dict[str, Any]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=options.examples("hindwise rerun --since 2026-11-01", "hindwise rerun --since 2026-11-01T18:00:00+08:00"))(rerun)


def rerun(
    since: Annotated[str, typer.Option("--since", help="Tasks reflected since this day (or RFC 3339 time).", show_default=False)],
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Let the model look back at what rules reflected because the day's tokens were used up.

    Keeps to the ceiling itself: it queues as many as today's tokens allow, and says how many are left and when to go on. Exit code 1
    then; the same command goes on. One task alone, or a comparison without keeping anything: hindwise reflections rerun.
    """
    with client.connect(data, url, key) as api:
        wanted = tasks_since(api, since, only=is_over_budget)
        done = look_back(api, [task["reflection_id"] for task in wanted], {"reflector": "llm", "apply": True})
    if as_json:
        console.print_json({"queued": done.told, "passed_over": done.passed_over, "left": list(done.left), "stopped": done.why})
    elif not wanted:
        console.line(f"nothing to catch up with: no task since {since} was left to rules by the daily ceiling")
    else:
        console.line(f"queued {len(done.told)} of {len(wanted)} tasks for the model; see: hindwise reflections")
        for one in done.passed_over:
            console.line(f"  passed over {one['reflection_id']}: {one['reason']}", "dim")
    if done.left:
        raise stopped(done, f"hindwise rerun --since {since}")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of many: the API's answers, what was passed over and why, and what is left since the day's tokens were used up."""

    told: tuple[Task, ...]
    passed_over: tuple[dict[str, str], ...]
    left: tuple[str, ...]
    why: str


def is_over_budget(task: Task) -> bool:
    """Whether rules reflected because the tokens of the day were used up."""
    return str(task.get("fallback_from") or "").endswith(_OVER_BUDGET)


def tasks_since(api: ApiClient, since: str, *, only: Callable[[Task], bool] = lambda task: True) -> list[Task]:
    """The newest reflection of each task, where it is final; the oldest task first."""
    newest: dict[str, Task] = {}
    cursor, start = "", _start(since)
    while True:
        page = api.get("/v1/reflections", since=start, limit=_PAGE, cursor=cursor)
        for item in page.get("items") or []:
            newest.setdefault(item["episode_id"], item)
        cursor = page.get("next_cursor") or ""
        if not cursor:
            return [task for task in reversed(newest.values()) if task["status"] in client.FINAL and only(task)]


def _start(since: str) -> str:
    """The time that is meant. Raises Ended for what is neither a day nor a time with a zone."""
    try:
        given = datetime.fromisoformat(since)
    except ValueError:
        given = None
    day = len(since) <= len("2026-11-01")
    if given is None or not (day or given.tzinfo):
        raise Ended(f"--since: {since!r} is neither a day (2026-11-01) nor a time with a zone (2026-11-01T18:00:00+08:00)", code=USAGE)
    return f"{given.date().isoformat()}T00:00:00Z" if day else given.isoformat()


def look_back(api: ApiClient, wanted: Sequence[str], body: dict[str, Any], each: Callable[[Task], None] = lambda told: None) -> Done:
    """Ask for each in turn, until the day's tokens are used up. What cannot be looked at again (purged, under way) is passed over.

    each: gets every answer as it comes, since a model takes its time. A terminal shows how far it is.
    """
    with console.err().status("") as shown:
        return _look_back(api, wanted, body, each, lambda number: shown.update(f"{number} of {len(wanted)}"))


def _look_back(
    api: ApiClient, wanted: Sequence[str], body: dict[str, Any], each: Callable[[Task], None], progress: Callable[[int], None]
) -> Done:
    told: list[Task] = []
    passed_over: list[dict[str, str]] = []
    for number, one in enumerate(wanted):
        progress(number + 1)
        try:
            told.append(api.post(f"/v1/reflections/{one}/rerun", body))
            each(told[-1])
        except Ended as error:
            if error.kind == BUDGET_SPENT:
                return Done(tuple(told), tuple(passed_over), tuple(wanted[number:]), error.message)
            if error.http_status != _CONFLICT:
                raise
            passed_over.append({"reflection_id": one, "reason": error.message})
    return Done(tuple(told), tuple(passed_over), (), "")


def stopped(done: Done, command: str) -> Ended:
    """The error that says how many are left, why, and how to go on."""
    return Ended(f"{len(done.left)} left: {done.why}", next_step=f"then go on with: {command}")
