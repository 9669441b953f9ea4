"""`hindwise status`: what runs, how much is kept, what waits for a person."""

import typer

from hindwise.cli import console, options


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=options.examples("hindwise status", "hindwise status --json | jq .reflections"))(status)


def status(data: options.Data = None, as_json: options.AsJson = False) -> None:
    """Tell what runs, what is kept, and what waits for a person. Exit code 3 when nothing runs."""
    import asyncio

    from hindwise.cli import exits, running
    from hindwise.cli.overview import counts
    from hindwise.cli.readiness import ask_ready

    settings = options.settings_with(data=data)
    told = running.read(settings.data)
    url = told.api_url if told else settings.api_url
    ready, details = ask_ready(url) if url else (False, {})
    kept = asyncio.run(counts(settings))
    if as_json:
        parts = {name: getattr(told, name) for name in ("pid", "api_url", "temporal_address", "temporal_ui_url")} if told else {}
        console.print_json({"running": bool(told), "ready": ready, **parts, "checks": details, **kept})
    else:
        _show(told, url, ready, kept)
    if not told and not ready:
        raise exits.not_running()


def _show(told: object, url: str, ready: bool, kept: dict[str, object]) -> None:
    state = "answers" if ready else "does not answer yet" if told else "not running"
    console.pairs(
        {
            "API": f"{url} ({state})" if url else state,
            "Temporal": getattr(told, "temporal_ui_url", ""),
            "pid": getattr(told, "pid", ""),
        }
    )
    for name in ("sessions", "reflections", "memories"):
        found = kept.get(name)
        if isinstance(found, dict):
            console.pairs({name: ", ".join(f"{number} {what}" for what, number in sorted(found.items())) or "none"})
    console.pairs({"outbox": kept.get("outbox")})
    parked = kept.get("parked")
    for item in parked if isinstance(parked, list) else []:
        console.line(f"waits for you: reflection {item['id']}: {item['error']}", "yellow")
        console.line(f"  hindwise reflections retry {item['id']}   (or use-rules, or skip)", "dim")
