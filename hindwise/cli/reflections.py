"""`hindwise reflections`: what was looked back over, and what waits for a person."""

from typing import Annotated, Any

import typer

from hindwise.cli import client, console, options
from hindwise.cli.memories import DONE
from hindwise.cli.reflect import memory_of, show_result
from hindwise.cli.rerun import look_back, stopped, tasks_since

_group = typer.Typer(
    help="List reflections, look at one, release one that waits for you.",
    epilog=options.examples(
        "hindwise reflections", "hindwise reflections list --status needs_attention", "hindwise reflections retry 6b1d…"
    ),
    invoke_without_command=True,
)
_MODEL_S = 180.0
"""A model may take its time."""
_WORDS = {**DONE, "complementary": "nothing to add", "rejected": "refused"}
_SAYS_NOTHING = frozenset({"new", "written before"})
"""Reasons of what was added that only repeat it."""
Id = Annotated[str, typer.Argument(help="The reflection's id.", callback=options.an_id)]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(_group, name="reflections")


@_group.callback()
def _default(
    context: typer.Context,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    if context.invoked_subcommand is None:
        list_reflections(data=data, url=url, key=key, as_json=as_json)


@_group.command(
    "list",
    epilog=options.examples(
        "hindwise reflections list --status needs_attention", "hindwise reflections list --json | jq '.items[].reflection_id'"
    ),
)
def list_reflections(
    status: Annotated[str, typer.Option(help="queued, running, completed, failed, skipped or needs_attention.", show_default=False)] = "",
    limit: options.Limit = 20,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """List reflections, newest first."""
    with client.connect(data, url, key) as api:
        answer = api.get("/v1/reflections", status=status, limit=limit)
    if as_json:
        console.print_json(answer)
        return
    rows = [
        [
            item.get("reflection_id", ""),
            item.get("status", ""),
            console.short_time(item.get("created_at")),
            item.get("reflector", ""),
            _tokens(item),
            _remark(item),
        ]
        for item in answer.get("items", [])
    ]
    if not rows:
        nothing = f"no reflection is {status}" if status else "no reflection yet: finish a task, or try `hindwise reflect FILE`"
        console.err().print(nothing, markup=False, style="dim")
        return
    console.table(["id", "status", "since", "by", "tokens", "remark"], rows)


def _remark(item: dict[str, Any]) -> str:
    fallback = f"rules stood in: {item['fallback_from']}" if item.get("fallback_from") else ""
    return str(item.get("error") or item.get("skip_reason") or item.get("phase") or fallback)


def _tokens(item: dict[str, Any]) -> str:
    """What a model read and wrote for it; empty where none was asked."""
    usage = item.get("usage") or {}
    return f"{usage['prompt_tokens'] + usage['completion_tokens']:,}" if usage.get("calls") else ""


@_group.command("show", epilog=options.examples("hindwise reflections show 6b1d…"))
def show_reflection(
    reflection_id: Id, data: options.Data = None, url: options.Url = "", key: options.Key = "", as_json: options.AsJson = False
) -> None:
    """Show one reflection: what was concluded, what was refused, and why."""
    with client.connect(data, url, key) as api:
        found = api.reflection(reflection_id)
        if not as_json:
            show_result(found, _concluded(api, found))
    if as_json:
        console.print_json(found)
        return
    for item in found.get("rejected") or []:
        for line in _refusal(item):
            console.line(line, "dim")
    if found.get("status") == client.WAITS_FOR_PERSON:
        console.line(f"  waits for you: {found.get('error', '')}", "yellow")
        console.line(f"  hindwise reflections retry {reflection_id}   (or use-rules, or skip)", "dim")


def _concluded(api: client.ApiClient, found: dict[str, Any]) -> list[str]:
    """A line for each decision: what was done, with which memory and why; below it what that took the place of."""
    lines, shown = [], set()
    for item in found.get("decisions") or []:
        action, reason = str(item.get("action", "")), str(item.get("reason", ""))
        told = f" ({reason})" if reason and not (action == "add" and reason in _SAYS_NOTHING) else ""
        own = str(item.get("memory_id") or "")
        others = [str(one) for one in item.get("touched") or [] if one != own]
        about, before = (own, others) if own else (next(iter(others), ""), others[1:])
        lines.append(f"{_WORDS.get(action, action)}{f': {_as_said(memory_of(api, about))}' if about else ''}{told}")
        lines += [f"  before: {_as_said(memory_of(api, one))}" for one in before]
        shown |= {about}
    return [*lines, *(_as_said(memory_of(api, one)) for one in found.get("memories") or [] if one not in shown)]


def _as_said(memory: dict[str, Any]) -> str:
    return f"[{memory.get('kind', '?')}] {memory.get('conclusion', '')}"


def _refusal(item: dict[str, Any]) -> list[str]:
    """One refused draft, or a whole answer, with its reason, its attempt and what it would have said."""
    attempt = f", attempt {item['attempt']}" if item.get("attempt") else ""
    told = [f"  refused ({item.get('rule', '')}{attempt}): {item.get('reason', '')}"]
    if item.get("conclusion"):
        told.append(f"    [{item.get('kind', '?')}] {item['conclusion']}")
    return told


@_group.command(
    epilog=options.examples(
        "hindwise reflections rerun 6b1d…",
        "hindwise reflections rerun 6b1d… --reflector rules --apply",
        "hindwise reflections rerun --since 2026-11-01 --reflector llm",
    )
)
def rerun(
    reflection_id: Annotated[str, typer.Argument(help="The reflection's id; or give --since.", show_default=False)] = "",
    since: Annotated[str, typer.Option("--since", help="Every task reflected since this day (or RFC 3339 time).", show_default=False)] = "",
    reflector: Annotated[str, typer.Option("--reflector", help="rules or llm. Default: the one of the settings.", show_default=False)] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Keep it: what is new is added, what is dropped is superseded.")] = False,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Look back over the same task again; without --apply the two are only shown side by side."""
    if bool(reflection_id) == bool(since):
        raise typer.BadParameter("give a reflection's id or --since, one of the two")
    body = {**({"reflector": reflector} if reflector else {}), "apply": apply}
    with client.connect(data, url, key, timeout_s=_MODEL_S) as api:
        if reflection_id:
            told = api.post(f"/v1/reflections/{reflection_id}/rerun", body)
            console.print_json(told) if as_json else _show_rerun(told)
            return
        wanted = [task["reflection_id"] for task in tasks_since(api, since)]
        done = look_back(api, wanted, body, (lambda told: None) if as_json else _show_rerun)
    if as_json:
        console.print_json({"items": done.told, "passed_over": done.passed_over, "left": list(done.left), "stopped": done.why})
    else:
        for passed in done.passed_over:
            console.line(f"passed over {passed['reflection_id']}: {passed['reason']}", "dim")
    if done.left:
        raise stopped(done, "the same command and a later --since")
    if not wanted:
        console.err().print(f"nothing was reflected since {since}", markup=False, style="dim")


def _show_rerun(told: dict[str, Any]) -> None:
    console.line(f"task {told['episode_id']} by {told['written_by']}", "bold")
    if told["status"] == "queued":
        queued = "was queued before" if told.get("duplicate") else "queued"
        console.line(f"  {queued} as reflection {told['reflection_id']}; see: hindwise reflections show {told['reflection_id']}")
        return
    for item in told["added"]:
        console.line(f"  + {item['kind']}: {item['conclusion']}", "green")
    for item in told["changed"]:
        console.line(f"  ~ {item['before']['conclusion']}", "dim")
        console.line(f"    → {item['after']['conclusion']}", "yellow")
    for item in told["dropped"]:
        console.line(f"  - {item['kind']}: {item['conclusion']}", "red")
    for item in told.get("rejected") or []:
        for line in _refusal(item):
            console.line(line, "dim")
    console.line(f"  {told['same']} the same; nothing was kept (--apply keeps it)", "dim")


def _release(action: str, reflection_id: str, data: Any, url: str, key: str, as_json: bool) -> None:
    with client.connect(data, url, key) as api:
        answer = api.post(f"/v1/reflections/{reflection_id}/{action}", {})
    if as_json:
        console.print_json(answer)
    else:
        console.line(f"told reflection {reflection_id}: {action.replace('_', ' ')}")


@_group.command(epilog=options.examples("hindwise reflections retry 6b1d…"))
def retry(
    reflection_id: Id, data: options.Data = None, url: options.Url = "", key: options.Key = "", as_json: options.AsJson = False
) -> None:
    """Release a waiting reflection: try the step again."""
    _release("retry", reflection_id, data, url, key, as_json)


@_group.command("use-rules", epilog=options.examples("hindwise reflections use-rules 6b1d…"))
def use_rules(
    reflection_id: Id, data: options.Data = None, url: options.Url = "", key: options.Key = "", as_json: options.AsJson = False
) -> None:
    """Release a waiting reflection: let the rules reflect instead of the model."""
    _release("use_rules", reflection_id, data, url, key, as_json)


@_group.command(epilog=options.examples("hindwise reflections skip 6b1d…"))
def skip(
    reflection_id: Id, data: options.Data = None, url: options.Url = "", key: options.Key = "", as_json: options.AsJson = False
) -> None:
    """Release a waiting reflection: let it go without a conclusion."""
    _release("skip", reflection_id, data, url, key, as_json)
