"""`hindwise status`: what runs, how much is kept, what waits for a person."""

from typing import Any

import typer

from hindwise.cli import console, options, running


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=options.examples("hindwise status", "hindwise status --json | jq .reflections"))(status)


def status(data: options.Data = None, url: options.Url = "", as_json: options.AsJson = False) -> None:
    """Tell what runs, what is kept, and what waits for a person. Exit code 3 when nothing runs."""
    import asyncio

    from hindwise.cli import exits, serving
    from hindwise.cli.overview import counts
    from hindwise.cli.readiness import ask_ready

    settings = options.settings_with(data=data)
    here = serving.local(settings.data)
    usual = "" if url or settings.api_url or here else serving.answers_there(settings)
    named = "data" in settings.model_fields_set
    address = (url or settings.api_url or (here.api_url if here else "" if named else usual)).rstrip("/")
    ready, details = ask_ready(address) if address else (False, {})
    kept = asyncio.run(counts(settings))
    up = here.up if here else None
    if as_json:
        shown = ("pid", "api_url", "temporal_address", "temporal_ui_url")
        parts = {name: getattr(up, name) for name in shown} if up else {"api_url": address} if address else {}
        console.print_json({"running": bool(here), "ready": ready, **parts, "checks": details, **kept})
    else:
        page = running.workflows_page(up.temporal_ui_url if up else settings.temporal_ui_url, settings.temporal_namespace)
        _show(up, page, address, details, kept)
        if usual and not named:
            console.line(f"not of {settings.data}, where nothing runs: name its data directory with --data to see what it keeps", "dim")
    if not details:
        raise (
            exits.Ended(f"{address} does not answer", next_step="it may still be starting", code=exits.UNREACHABLE)
            if address
            else exits.not_running_in(settings.data, usual)
            if usual
            else exits.not_running()
        )


def _state(details: dict[str, object]) -> str:
    """ready, or what is missing."""
    missing = [f"{name} {value}" for name, value in details.items() if name not in ("status", "note") and value != "ok"]
    return f"{details.get('status')}: {', '.join(missing)}" if missing else str(details.get("status"))


def _model(today: dict[str, Any]) -> str:
    """What models cost today, and what the daily ceiling and the free check spared."""
    ceiling = f" of {today['ceiling']:,}" if today["ceiling"] else ""
    held = f" and {today['held_tokens']:,} held" if today["held_tokens"] else ""
    cost = "" if today["cost"] is None else f", cost {today['cost']:.6g}"
    if cost and today["priced_calls"] < today["calls"]:
        cost += f" for {today['priced_calls']} of the calls"
    calls = f"{today['calls']} calls ({today['reasks']} again)"
    return f"{today['used_tokens']:,}{ceiling} tokens{held}, {calls}{cost}; {today['saved']} calls saved by the free check"


def _show(told: object, temporal_page: str, url: str, details: dict[str, object], kept: dict[str, object]) -> None:
    state = _state(details) if details else "does not answer" if url else "not running"
    shown = {
        "API": f"{url} ({state})" if url else state,
        "Temporal": temporal_page,
        "index": details.get("note", ""),
        "pid": getattr(told, "pid", ""),
    }
    for name in ("sessions", "reflections", "memories"):
        found = kept.get(name)
        if isinstance(found, dict):
            shown[name] = ", ".join(f"{number} {what}" for what, number in sorted(found.items())) or "none"
    today = kept.get("model_today")
    if isinstance(today, dict):
        shown["model today"] = _model(today)
    if kept.get("outbox"):
        shown["outbox"] = f"{kept['outbox']} changes wait for the index, the oldest since {kept['outbox_since']}"
    console.pairs(shown)
    if isinstance(today, dict) and today["refused"]:
        console.line(f"{today['refused']} tasks were left to rules: hindwise rerun --since {today['day']} catches up", "yellow")
    parked = kept.get("parked")
    for item in parked if isinstance(parked, list) else []:
        console.line(f"waits for you: reflection {item['id']}: {item['error']}", "yellow")
        console.line(f"  hindwise reflections retry {item['id']}   (or use-rules, or skip)", "dim")
