"""`hindwise setup-temporal`: make an existing Temporal ready: search attributes, the schedule of upkeep, on request the namespace."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hindwise.cli import console, options, running
from hindwise.cli.exits import FAILED, UNREACHABLE, USAGE, Ended, report

if TYPE_CHECKING:
    from temporalio.client import Client

    from hindwise.settings import Settings

_EXAMPLES = options.examples(
    "HINDWISE_TEMPORAL_ADDRESS=temporal:7233 hindwise setup-temporal",
    "hindwise setup-temporal --create-namespace --retention-days 30",
    "HINDWISE_TEMPORAL_ADDRESS=eu-west-1.aws.api.temporal.io:7233 HINDWISE_TEMPORAL_NAMESPACE=memory.a1b2c "
    "HINDWISE_TEMPORAL_API_KEY=… hindwise setup-temporal",
    "hindwise setup-temporal --check --json",
)
_SCHEDULE = {
    "missing": ": missing, so nothing expires and nothing is purged",
    "differs": ": runs at another pace than HINDWISE_UPKEEP_EVERY_MINUTES",
    "paused": " (paused by somebody; resume it in the Temporal UI)",
}
_APPEAR_S = 30.0
"""How long we look for new search attributes: servers note them within seconds."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("setup-temporal", epilog=_EXAMPLES)(setup_temporal)


@dataclass(frozen=True, slots=True)
class Done:
    """What there is now, and what was made by this run. `missing`: search attributes that are not there (with --check, or refused).

    `schedule_state`: there, paused, differs (another pace than the settings') or missing; the last two only with --check.
    """

    address: str
    namespace: str
    namespace_made: bool
    attributes: list[str]
    attributes_made: list[str]
    missing: list[str]
    schedule: str
    schedule_state: str

    @property
    def lacks_something(self) -> bool:
        """Whether a run without --check would change something. A schedule that a person paused stays paused."""
        return bool(self.missing) or self.schedule_state in {"missing", "differs"}


def setup_temporal(
    data: options.Data = None,
    create_namespace: Annotated[bool, typer.Option("--create-namespace", help="Make the namespace where it does not exist.")] = False,
    retention_days: Annotated[
        int, typer.Option(min=1, max=365, help="Of a namespace made now: how long closed workflows stay visible. The ledger keeps all.")
    ] = 30,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit code 1 when something is missing.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Register search attributes and the upkeep schedule in an existing Temporal. Safe to run again; `hindwise up` does it itself."""
    import asyncio

    settings = running.with_temporal(options.settings_with(data=data))
    code = 0
    try:
        done = asyncio.run(_set_up(settings, create_namespace=create_namespace, retention_days=retention_days, check=check))
        _tell(done, as_json=as_json)
        code = FAILED if done.lacks_something else 0
    except Ended as ended:
        report(ended)
        code = ended.code
    # Temporal's client may abort the interpreter while it ends; nothing of ours is open any more.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


async def _set_up(settings: "Settings", *, create_namespace: bool, retention_days: int, check: bool) -> Done:
    from workflows import connection, ids, start

    made = False
    try:
        if create_namespace and not check:
            made = await connection.create_namespace(settings, retention_days=retention_days)
        client = await _connected(settings, patient=made)
        before = await connection.missing_search_attributes(client)
        if not check:
            await _register(client, before)
            await start.ensure_schedule(client, queue_prefix=settings.task_queue_prefix, every_minutes=settings.upkeep_every_minutes)
        missing = before if check else await connection.missing_search_attributes(client)
        state = await start.schedule_state(client, queue_prefix=settings.task_queue_prefix, every_minutes=settings.upkeep_every_minutes)
    except connection.NotConnected as error:
        raise Ended(error.detail, code=USAGE if error.lasting else UNREACHABLE) from error
    except connection.NotDelivered as error:
        raise Ended(
            f"Temporal did not do it ({error.reason})", next_step="`hindwise doctor` looks for the cause", code=UNREACHABLE
        ) from error
    return Done(
        address=settings.temporal_address or connection.DEFAULT_ADDRESS,
        namespace=settings.temporal_namespace,
        namespace_made=made,
        attributes=[name for name in _names() if name not in missing],
        attributes_made=[name for name in before if name not in missing],
        missing=list(missing),
        schedule=ids.upkeep_schedule(settings.task_queue_prefix),
        schedule_state=state,
    )


def _names() -> list[str]:
    from workflows.policies import SEARCH_ATTRIBUTES

    return [attribute.name for attribute in SEARCH_ATTRIBUTES]


async def _connected(settings: "Settings", *, patient: bool) -> "Client":
    """Connect. patient: the namespace was made a moment ago, and not every part of the server knows it yet."""
    import asyncio
    import time

    from workflows import connection

    end = time.monotonic() + _APPEAR_S
    while True:
        try:
            return await connection.connect(settings)
        except connection.NotConnected as error:
            if not patient or error.reason != "NOT_FOUND" or time.monotonic() > end:
                raise
        await asyncio.sleep(0.5)


async def _register(client: "Client", names: Sequence[str]) -> None:
    """Register them and wait until they are seen. Raises Ended where we may not, or where a name is taken by another type."""
    import asyncio
    import time

    from workflows import connection

    if not names:
        return
    try:
        await connection.register_search_attributes(client, names)
    except connection.NotDelivered as error:
        words = " ".join(f"--name {name} --type Keyword" for name in names)
        raise Ended(
            f"Temporal does not let us register search attributes ({error.reason})",
            next_step=f"have it done by who may: temporal operator search-attribute create --namespace {client.namespace} {words}",
        ) from error
    end = time.monotonic() + _APPEAR_S
    while missing := await connection.missing_search_attributes(client):
        if time.monotonic() > end:
            raise Ended(
                f"these search attributes are not there as Keyword: {', '.join(missing)}",
                next_step=f"look at their types: temporal operator search-attribute list --namespace {client.namespace}",
            )
        await asyncio.sleep(0.5)


def _tell(done: Done, *, as_json: bool) -> None:
    if as_json:
        console.print_json(asdict(done))
        return
    made = " (made now)"
    console.pairs(
        {
            "Temporal": done.address,
            "namespace": done.namespace + made * done.namespace_made,
            "search attributes": ", ".join(name + made * (name in done.attributes_made) for name in done.attributes),
            "missing": ", ".join(done.missing),
            "schedule": done.schedule + _SCHEDULE.get(done.schedule_state, ""),
        }
    )
    if done.lacks_something:
        console.line("run: hindwise setup-temporal", "yellow")
