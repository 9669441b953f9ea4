"""`hindwise reflect FILE`: finished runs in, what was concluded out."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hindwise.cli import client, console, exits, options, transcripts
from hindwise.cli.client import ApiClient
from hindwise.cli.exits import Ended

_EXAMPLES = options.examples(
    "hindwise reflect run.json --user ana --agent travel --outcome failure --note 'the flight was not booked'",
    "hindwise reflect runs.jsonl --no-wait",
    "cat run.json | hindwise reflect - --user ana --json",
)

_CONFLICT = 409
_ABOUT_THE_RUN = frozenset({400, _CONFLICT, 413, 422})
"""Refusals of one run; any other (no key, no database) would meet the next run too."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EXAMPLES)(reflect)


def reflect(
    file: Annotated[Path, typer.Argument(help="Transcript: JSON or JSON lines of chat messages, or of whole runs; - for standard input.")],
    goal: Annotated[str, typer.Option(help="What the task was.", show_default=False)] = "",
    outcome: Annotated[
        Literal["success", "partial", "failure", "aborted", "unknown"] | None, typer.Option(help="How it ended.", show_default=False)
    ] = None,
    note: Annotated[str, typer.Option(help="What was said about the result.", show_default=False)] = "",
    user: options.User = "",
    agent: options.Agent = "",
    run_id: Annotated[str, typer.Option(help="The run's id. Default: from the file, else made of its words.", show_default=False)] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the reflection and show what was concluded.")] = True,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait at most.")] = 300.0,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Look back over a finished run and show what was concluded. The same run twice is reflected once."""
    episodes = transcripts.read(_text(file), file.name, user=user, agent=agent)
    given = {"goal": goal, "run_id": run_id}
    if run_id and len(episodes) > 1:
        raise Ended(f"--run-id names one run, but {file.name} holds {len(episodes)}", code=exits.USAGE)
    bodies = [_body(episode, given, outcome, note) for episode in episodes]
    with client.connect(data, url, key) as api:
        accepted, refused = _post_all(api, bodies, quiet=as_json)
        states = _wait(api, [item["reflection_id"] for item in accepted], timeout, quiet=as_json) if wait else []
        results = [with_memories(api, state) for state in states]
    if as_json:
        _print_json([*(results if wait else accepted), *refused], single=len(bodies) == 1)
    else:
        _show(accepted, results, waited=wait)
    unfinished = not all(state.get("status") in {"completed", "skipped"} for state in states)
    if refused:
        if unfinished:
            exits.report(_unfinished(states))
        raise Ended(f"{len(accepted)} queued, {len(refused)} refused")
    if unfinished:
        raise _unfinished(states)


def _post_all(api: ApiClient, bodies: list[dict[str, Any]], *, quiet: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Post the runs. Returns what was accepted, and of several runs those that were refused; a lone one that is refused raises Ended."""
    accepted, refused = [], []
    for body in bodies:
        try:
            accepted.append(api.post("/v1/episodes", body))
        except Ended as error:
            if error.http_status not in _ABOUT_THE_RUN:
                raise
            told = _with_way_out(error, alone=len(bodies) == 1)
            if len(bodies) == 1:
                raise told from error
            refused.append({"run_id": body["run_id"], "status": "refused", "error": told.message})
            if not quiet:
                exits.report(told)
    return accepted, refused


def _with_way_out(error: Ended, *, alone: bool) -> Ended:
    """A run id that is taken: say how this command takes another."""
    if error.http_status != _CONFLICT:
        return error
    way = "with --run-id and a new name" if alone else "under a new `run_id` in the file, or alone with --run-id and a new name"
    return Ended(error.message, next_step=f"to look back over it as another run, give it {way}", code=error.code, http_status=_CONFLICT)


_MAX_CHARS = 100_000_000
"""Runs in one file. What has no end (a device, a pipe that goes on) would be read until the memory is."""


def _text(file: Path) -> str:
    try:
        if str(file) == "-":
            text = sys.stdin.read(_MAX_CHARS + 1)
        else:
            with file.open(encoding="utf-8") as opened:
                text = opened.read(_MAX_CHARS + 1)
    except UnicodeDecodeError as error:
        raise Ended(f"{file} is not UTF-8 text (byte {error.start})", code=exits.USAGE) from error
    except OSError as error:
        raise Ended(f"{file} cannot be read: {error.strerror}", code=exits.USAGE) from error
    if len(text) > _MAX_CHARS:
        raise Ended(f"{file} holds more than {_MAX_CHARS:,} characters", next_step="give the runs in several files", code=exits.USAGE)
    return text


def _body(episode: dict[str, Any], given: dict[str, str], outcome: str | None, note: str) -> dict[str, Any]:
    body = {**episode, **{name: value for name, value in given.items() if value}}
    verdict = dict(body.get("outcome") or {"status": "unknown"})
    if outcome:
        verdict = {"status": outcome}
    if note:
        verdict["note"] = note
    return {**body, "outcome": verdict}


def _wait(api: ApiClient, ids: Sequence[str], limit_s: float, *, quiet: bool) -> list[dict[str, Any]]:
    """Follow the reflections one after the other; later ones are mostly done when their turn comes."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    states = []
    with Progress(*columns, console=console.err(), transient=True, disable=quiet or not console.err().is_terminal) as progress:
        shown = progress.add_task("queued", total=len(ids))
        for reflection_id in ids:
            state: dict[str, Any] = {}
            for state in api.wait_for(reflection_id, limit_s):
                progress.update(shown, description=_stage(state))
            states.append(state)
            progress.advance(shown)
    return states


def _stage(state: dict[str, Any]) -> str:
    return str(state.get("phase") or state.get("status") or "")


def with_memories(api: ApiClient, state: dict[str, Any]) -> dict[str, Any]:
    """The reflection with its memories in full, where the API names their ids; in the order in which they were concluded."""
    order = {item.get("memory_id"): number for number, item in enumerate(state.get("decisions") or [])}
    ids = sorted(state.get("memories") or [], key=lambda memory_id: order.get(memory_id, len(order)))
    return {**state, "memories": [memory_of(api, memory_id) for memory_id in ids]}


def memory_of(api: ApiClient, memory_id: str) -> dict[str, Any]:
    """One memory; one that was erased meanwhile is told as such."""
    try:
        found: dict[str, Any] = api.get(f"/v1/memories/{memory_id}")
    except Ended as error:
        if error.code == exits.UNREACHABLE:
            raise
        return {"memory_id": memory_id, "kind": "gone", "conclusion": error.message}
    return found


def _print_json(documents: list[dict[str, Any]], *, single: bool) -> None:
    console.print_json(documents[0] if single and documents else documents)


def _show(accepted: list[dict[str, Any]], results: list[dict[str, Any]], *, waited: bool) -> None:
    if not waited:
        for item in accepted:
            again = ", known already" if item.get("duplicate") else ""
            console.line(f"queued: reflection {item['reflection_id']}{again}")
        console.line("follow it with: hindwise reflections show ID", "dim")
        return
    for result in results:
        show_result(result)


def show_result(result: dict[str, Any], concluded: Sequence[str] | None = None) -> None:
    """Print what one reflection concluded: its memories in full, or `concluded` in their place, line by line."""
    by = str(result.get("written_by") or result.get("reflector") or "")
    fallback = f", rules stood in: {result['fallback_from']}" if result.get("fallback_from") else ""
    console.line(f"{result.get('status')}: reflection {result.get('reflection_id', '')} ({by}{fallback})", "bold")
    if cost := _cost(result.get("usage") or {}):
        console.line(f"  {cost}", "dim")
    if concluded is None:
        concluded = [f"[{item.get('kind', '?')}] {item.get('conclusion', '')}" for item in result.get("memories") or []]
    for line in concluded:
        console.line(f"  {line}")
    if not concluded and result.get("status") in client.FINAL:
        console.line(f"  nothing kept: {result.get('skip_reason') or result.get('error') or 'no reason given'}", "dim")
    if result.get("rejected"):
        rules = ", ".join(sorted({str(item.get("rule", "")) for item in result["rejected"]}))
        console.line(
            f"  {len(result['rejected'])} refused ({rules}); see: hindwise reflections show {result.get('reflection_id', 'ID')}", "dim"
        )


def _cost(usage: dict[str, Any]) -> str:
    """What the model cost, in words; empty where none was asked."""
    if not usage.get("calls"):
        return ""
    again = f" ({usage['reasks']} again)" if usage.get("reasks") else ""
    money = "" if usage.get("cost") is None else f", cost {usage['cost']:.6g}"
    calls = f"{usage['calls']} call{'' if usage['calls'] == 1 else 's'}{again}"
    return f"{usage.get('model') or 'model'}: {calls}, {usage['prompt_tokens']:,} + {usage['completion_tokens']:,} tokens{money}"


def _unfinished(states: list[dict[str, Any]]) -> Ended:
    parked = [state for state in states if state.get("status") == client.WAITS_FOR_PERSON]
    if parked:
        name = parked[0].get("reflection_id", "ID")
        return Ended(
            f"a reflection waits for you: {parked[0].get('error', '')}",
            next_step=f"hindwise reflections retry {name}  (or use-rules, skip)",
        )
    failed = [state for state in states if state.get("status") == "failed"]
    if failed:
        return Ended(
            f"{len(failed)} of {len(states)} reflections failed: {failed[0].get('error', '')}", next_step="see: hindwise reflections"
        )
    return Ended("not finished within the time limit; it goes on by itself", next_step="follow it with: hindwise reflections")
