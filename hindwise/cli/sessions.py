"""`hindwise session ID`: one conversation: whose, how far, and its newest turns."""

from typing import Annotated

import typer

from hindwise.cli import client, console, options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=options.examples("hindwise session chat-42", "hindwise session chat-42 --turns", "hindwise session chat-42 --json"))(
        session
    )


def session(
    session_id: Annotated[str, typer.Argument(help="The session's id, as its caller chose it.", callback=options.an_id)],
    turns: Annotated[bool, typer.Option("--turns", help="Also the newest turns of the open session, word for word.")] = False,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Show one session: owner, state, number of turns, and where its workflow is found."""
    from urllib.parse import quote

    path = f"/v1/sessions/{quote(session_id, safe='')}"
    with client.connect(data, url, key) as api:
        found = api.get(path)
        newest = api.get(f"{path}/context")["turns"] if turns else []
    if as_json:
        console.print_json({**found, "turns": newest} if turns else found)
        return
    told = {name: value for name, value in found.items() if not name.endswith("_at")}
    told |= {name: console.short_time(found[name]) for name in ("opened_at", "last_turn_at", "closed_at") if name in found}
    console.pairs({name.replace("_", " "): value for name, value in told.items()})
    for turn in newest:
        words = " ".join(str(turn.get("content") or "").split())
        console.line(f"{turn.get('seq', '')} {turn.get('role', '')}: {words[:200]}")
