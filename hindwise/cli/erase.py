"""`hindwise erase`: forget a user for good, and show the receipt."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from hindwise.cli import client, console, exits, options
from hindwise.cli.exits import Ended

if TYPE_CHECKING:
    from hindwise.cli.client import ApiClient

_NO_WORKER_S = 15.0
"""So long it may wait before we say that no worker took it."""
_COMPLETED, _WAITS = "completed", "needs_attention"
_STEPS = {
    "queued": "accepted, not started yet",
    "running": "erasing from every index and from the ledger",
    _WAITS: "it cannot go on at present, and tries again",
    _COMPLETED: "done",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog=options.examples(
            "hindwise erase --user ana", "hindwise erase --user ana --yes --json", "hindwise erase --receipt 3f2c…  # show one again"
        )
    )(erase)


def erase(
    user: options.User = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: there is no way back.")] = False,
    receipt: Annotated[str, typer.Option(help="Show an earlier receipt instead, by its id.", show_default=False)] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")] = True,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait at most; the erasure goes on by itself.")] = 300.0,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Erase a user: sessions, tasks, reflections, memories, vectors, logged recalls. There is no way back.

    Lessons that the user's tasks taught to an agent stay, without quotes. A user who comes back begins anew.
    """
    if bool(user) == bool(receipt):
        raise Ended("say whom to erase: --user ID, or --receipt ID to see an earlier receipt", code=exits.USAGE)
    if receipt:
        with client.connect(data, url, key) as api:
            _show(api.get(f"/v1/erasures/{quote(receipt, safe='')}"), as_json=as_json)
        return
    with client.connect(data, url, key) as api:
        if not yes:
            _ask(user, api.target.url)
        accepted = api.post("/v1/erasures", {"user_id": user})
        if wait:  # on stderr, whoever reads: who ends this early, or whose pipe breaks, can still look for it
            console.err().print(f"accepted; receipt {accepted['erasure_id']}", markup=False, style="dim")
        told = _waited(api, accepted["erasure_id"], timeout, quiet=as_json) if wait else accepted
    _show(told, as_json=as_json)
    if wait and told["status"] != _COMPLETED:
        raise _unfinished(told)


def _ask(user: str, url: str) -> None:
    """Let a person confirm. Raises Ended where nobody can answer, or the answer is no."""
    if not sys.stdin.isatty():
        raise Ended("nobody is there to confirm it", next_step="add --yes: there is no way back", code=exits.USAGE)
    console.err().print(f"Everything of the user {user!r} at {url} will be erased, for good.", markup=False)
    if not typer.confirm("Erase it?", err=True):
        raise Ended("nothing was erased")


def _waited(api: "ApiClient", erasure_id: str, timeout: float, *, quiet: bool) -> dict[str, Any]:
    """Follow an erasure to its end, to a point where it waits, or to the end of patience; at a terminal show where it stands."""
    told: dict[str, Any] = {}
    began, warned = time.monotonic(), False
    with nullcontext() if quiet else console.err().status(_STEPS["queued"]) as shown:
        for told in _states(api, erasure_id, timeout):
            if shown is not None:
                rows = sum(told["ledger"].values())
                shown.update(f"{_STEPS[told['status']]}{f', {rows} rows so far' if rows else ''}")
            if not warned and told["status"] == "queued" and time.monotonic() - began > _NO_WORKER_S:
                warned = True
                console.err().print("no worker has taken it yet: is `hindwise up`, or a `hindwise worker`, running?", markup=False)
    return told


def _states(api: "ApiClient", erasure_id: str, timeout: float) -> Iterator[dict[str, Any]]:
    end, pause_s = time.monotonic() + timeout, 0.1
    while True:
        told: dict[str, Any] = api.get(f"/v1/erasures/{erasure_id}")
        yield told
        if told["status"] in {_COMPLETED, _WAITS} or time.monotonic() > end:
            return
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.3, 1.0)


def _show(told: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        console.print_json(told)
        return
    if "ledger" not in told:  # accepted, and nobody waits
        console.pairs({"receipt": told["erasure_id"], "status": told["status"], "workflow": told["workflow_id"]})
        return
    console.pairs(
        {
            "receipt": told["erasure_id"],
            "status": told["status"],
            "user": f"{told['user_hash']} (keyed hash)",
            "requested": console.short_time(told["requested_at"]),
            "erased": console.short_time(told["wiped_at"]),
            "completed": console.short_time(told["finished_at"]),
            "ledger": _counted(told["ledger"]) or "nothing was there",
            "index": _counted(told["index"], ": ") or "nothing was there",
            "found again": _found(told["found_again"]) if told["status"] == _COMPLETED else "",
            "shared lessons kept": told["shared_lessons_kept"] or "",
            "because": told["error"],
        }
    )


def _counted(counts: Mapping[str, int], between: str = " ") -> str:
    """Whatever is not zero. `between`: where a name ends in a number itself, as a generation of the index does."""
    return ", ".join(f"{name}{between}{number}" for name, number in sorted(counts.items()) if number)


def _found(counts: Mapping[str, int]) -> str:
    return _counted(counts, ": ") or f"nothing, in {', '.join(sorted(counts))}"


def _unfinished(told: Mapping[str, Any]) -> Ended:
    again = f"it goes on by itself; see: hindwise erase --receipt {told['erasure_id']}"
    return Ended(told.get("error") or "the erasure is not done yet", next_step=again)
