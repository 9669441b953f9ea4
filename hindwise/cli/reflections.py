"""`hindwise reflections`: what was looked back over, and what waits for a person."""

from typing import Annotated, Any

import typer

from hindwise.cli import client, console, options
from hindwise.cli.reflect import show_result

_group = typer.Typer(
    help="List reflections, look at one, release one that waits for you.",
    epilog=options.examples(
        "hindwise reflections", "hindwise reflections list --status needs_attention", "hindwise reflections retry 6b1d…"
    ),
    invoke_without_command=True,
)
Id = Annotated[str, typer.Argument(help="The reflection's id.")]


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
            _remark(item),
        ]
        for item in answer.get("items", [])
    ]
    if not rows:
        console.err().print("no reflection yet: finish a task, or try `hindwise reflect FILE`", markup=False, style="dim")
        return
    console.table(["id", "status", "since", "by", "remark"], rows)


def _remark(item: dict[str, Any]) -> str:
    return str(item.get("error") or item.get("skip_reason") or item.get("phase") or "")


@_group.command("show", epilog=options.examples("hindwise reflections show 6b1d…"))
def show_reflection(
    reflection_id: Id, data: options.Data = None, url: options.Url = "", key: options.Key = "", as_json: options.AsJson = False
) -> None:
    """Show one reflection: what was concluded, what was refused, and why."""
    from hindwise.cli.reflect import with_memories

    with client.connect(data, url, key) as api:
        found = api.reflection(reflection_id)
        if not as_json:
            found = with_memories(api, found)
    if as_json:
        console.print_json(found)
        return
    show_result(found)
    for item in found.get("decisions") or []:
        console.line(f"  {item.get('action', '')}: {item.get('reason', '')}", "dim")
    for item in found.get("rejected") or []:
        console.line(f"  refused ({item.get('rule', '')}): {item.get('reason', '')}", "dim")
    if found.get("error"):
        console.line(f"  {found['error']}", "yellow")


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
