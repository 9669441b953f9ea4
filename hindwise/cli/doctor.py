"""`hindwise doctor`: every setting with its source, and whether everything that is needed is there."""

import os
import sys

import typer

from hindwise.cli import console, options

_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "bold red")}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=options.examples("hindwise doctor", "hindwise doctor --json | jq '.findings[] | select(.state == \"broken\")'"))(
        doctor
    )


def doctor(data: options.Data = None, as_json: options.AsJson = False) -> None:
    """Print every setting with its source and check everything. Exit code 1 when something is broken."""
    import asyncio
    from dataclasses import asdict

    from hindwise.cli import setting_sources
    from hindwise.cli.doctor_checks import look

    settings = options.settings_with(data=data)
    rows = setting_sources.rows(settings)
    findings = asyncio.run(look(settings))
    broken = sum(finding.state == "broken" for finding in findings)
    if as_json:
        console.print_json({"settings": rows, "findings": [asdict(finding) for finding in findings], "broken": broken})
    else:
        console.table(["setting", "value", "source"], [[row["name"], row["value"], row["source"]] for row in rows])
        console.line("")
        for finding in findings:
            mark, style = _MARKS[finding.state]
            console.out().print(mark.ljust(7), style=style, end="")
            console.line(f"{finding.name}: {finding.detail}")
    # Temporal's client may abort the interpreter while it ends; nothing of ours is open any more.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if broken else 0)
