"""The engine put together: ledger, index, embedder, clock and the installation's secret, opened and closed as one."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog

from hindwise.clock import Clock, SystemClock
from hindwise.embed.base import Embedder
from hindwise.embed.factory import open_embedder
from hindwise.errors import InvalidInput
from hindwise.files import make_directory
from hindwise.index.base import Index
from hindwise.index.erased import Forgetting
from hindwise.index.factory import check_index_settings, open_index, remove_index
from hindwise.index.live import LOOK_EVERY_S, LiveIndex
from hindwise.index.projection import Projection
from hindwise.index.refill import Refill
from hindwise.ledger import generations, installation
from hindwise.ledger.databases import is_server
from hindwise.ledger.engine import Ledger
from hindwise.ledger.generations import Generation, Spec
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.migrate import migrate
from hindwise.ledger.recent import RecentEpisodes
from hindwise.lifecycle.aging import AgingRules
from hindwise.reflect.llm.prompt import PROMPT_VERSION as LLM_PROMPT_VERSION
from hindwise.reflect.rules import RuleReflector
from hindwise.settings import Settings
from hindwise.text.tokens import TOKENIZER_VERSION

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """What every door and every activity works with. `holder` names this process in leases."""

    settings: Settings
    ledger: Ledger
    index: Index
    """Whichever generation is live, also after a switch."""
    embedder: Embedder
    clock: Clock
    secret: bytes
    projection: Projection
    rules: AgingRules
    holder: str
    recent: RecentEpisodes = field(default_factory=RecentEpisodes)

    def reflector_id(self) -> ReflectorId:
        """Who looks back by default: llm where a model is set (or asked for), else rules."""
        settings = self.settings
        if settings.reflector == "llm" or (settings.reflector == "auto" and settings.llm_model):
            return ReflectorId("llm", settings.llm_model, LLM_PROMPT_VERSION)
        return ReflectorId("rules", "", RuleReflector.prompt_version)


def aging_rules(settings: Settings) -> AgingRules:
    """The thresholds of lifecycle from the settings."""
    return AgingRules(
        half_life_episodic=settings.half_life_days_episodic,
        half_life_lesson=settings.half_life_days_lesson,
        expire_episodic=settings.expire_days_episodic,
        expire_semantic=settings.expire_days_semantic,
        archive_after=settings.archive_after_days,
        review_after=settings.review_after_days,
    )


_SECRET_BYTES = 32
"""Fewer are no key: the file was cut or written by hand."""
_LEAST_GIVEN = 16
"""Characters of a secret that nobody guesses."""


def secret_of_one_machine(settings: Settings) -> bool:
    """Whether other machines may serve the same ledger with other secrets: one session would then have two names in Temporal."""
    return is_server(settings.ledger_url()) and not settings.secret_key.get_secret_value()


def is_guessable(settings: Settings) -> bool:
    """Whether the secret that was given is so short that who sees the hashes can find whose they are by trying."""
    return 0 < len(settings.secret_key.get_secret_value()) < _LEAST_GIVEN


def installation_secret(settings: Settings) -> bytes:
    """Return the key of all hashes: from the settings, else from the data directory, made there once.

    Raises InvalidInput for a damaged file.
    """
    if given := settings.secret_key.get_secret_value():
        if is_guessable(settings):
            # Not refused: an installation that was begun with it needs it for all that it named so far.
            _log.warning("secret_is_short", next="begin an installation with HINDWISE_SECRET_KEY=$(openssl rand -hex 24)")
        return given.encode()
    path = settings.data / "secret.key"
    if secret_of_one_machine(settings):
        _log.warning("secret_of_this_machine_alone", file=str(path.resolve()), next="give every API and worker one HINDWISE_SECRET_KEY")
    # Written beside and linked into place: of several processes starting at once, one wins and all read its key whole.
    draft = settings.data / f".secret-{os.getpid()}-{secrets.token_hex(4)}"
    if not path.exists():
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return _whole_secret(path)
        finally:
            draft.unlink()
    return _whole_secret(path)


def _whole_secret(path: Path) -> bytes:
    secret = path.read_bytes()
    if len(secret) < _SECRET_BYTES:
        raise InvalidInput(
            f"{path} is damaged: put it back from a backup; or remove it for a new one, then open sessions get new names in Temporal"
        )
    return secret


@asynccontextmanager
async def open_engine(settings: Settings, clock: Clock | None = None, embedder: Embedder | None = None) -> AsyncIterator[Engine]:
    """Open everything, migrations included, and close it at the end.

    Raises InvalidInput (data directory, database, secret, settings of the index), ModelRefused or ModelUnavailable (embedder),
    LedgerUnavailable.
    """
    check_index_settings(settings)
    await asyncio.to_thread(make_directory, settings.data)
    secret = await asyncio.to_thread(installation_secret, settings)
    clock = clock or SystemClock()
    embedder = embedder or open_embedder(settings)
    ledger = Ledger.of(settings)
    index: LiveIndex | None = None
    watching: list[asyncio.Task[None]] = []
    try:
        await migrate(ledger)
        await agree_on_secret(ledger, secret)
        await embedder.start()
        index = await _open_index(settings, ledger, spec_of(embedder), secret, clock)
        recent, loop = RecentEpisodes(), asyncio.get_running_loop()
        watching = [
            loop.create_task(index.watch(), name="index-watch"),
            loop.create_task(recent.keep_clean(ledger), name="recent-clean"),
            loop.create_task(Forgetting(ledger, index, clock).keep_on(), name="forget-erased"),
        ]
        holder = f"{socket.gethostname()[:20]}-{os.getpid()}-{secrets.token_hex(4)}"
        yield Engine(
            settings=settings,
            ledger=ledger,
            index=index,
            embedder=embedder,
            clock=clock,
            secret=secret,
            projection=Projection(ledger, index, embedder, clock, holder),
            rules=aging_rules(settings),
            holder=holder,
            recent=recent,
        )
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        if index is not None:
            await index.close()
        await embedder.close()
        await ledger.close()


async def agree_on_secret(ledger: Ledger, secret: bytes) -> None:
    """Processes on several machines with different secrets would give each session two workflows, and each space two tenants.

    Raises InvalidInput. Where the ledger is not shared there is one machine, and a lost secret may be replaced.
    """
    if ledger.is_shared and not await ledger.write(lambda conn: installation.agrees(conn, secret)):
        raise InvalidInput(
            "this ledger belongs to an installation with another HINDWISE_SECRET_KEY: give every API and worker the same one "
            "(without the setting each data directory makes its own, in secret.key). Where it is lost for good: stop everything, "
            "delete the row `secret` of the table installation, and run hindwise reindex"
        )


def spec_of(embedder: Embedder) -> Spec:
    """What a generation is made with where this process makes it. The embedder has been started."""
    return Spec(embedder.model, embedder.dim, TOKENIZER_VERSION)


async def _open_index(settings: Settings, ledger: Ledger, spec: Spec, secret: bytes, clock: Clock) -> LiveIndex:
    """The index of the live generation, which need not be what the settings name: what serves goes on serving until another was built."""

    refill = Refill(ledger, clock)

    async def opener(generation: Generation) -> Index:
        kind, number, tokenizer = generation.kind, generation.no, generation.tokenizer
        before = partial(refill.before_making, number)
        await refill.must_be_kept(number)
        opened = await open_index(settings, kind, number, generation.dim, secret, tokenizer=tokenizer, before_making=before)
        try:
            await refill.after_opening(opened, generation)
        except BaseException:
            await opened.close()
            raise
        return opened

    async def mender(lost: Generation, why: str) -> None:
        if await refill.replace(lost, why):
            await index.refresh()
            await asyncio.sleep(2 * LOOK_EVERY_S)  # until no process opens it any more
            await remove_index(settings, lost.kind, lost.no, secret)
            await ledger.write(lambda conn: generations.set_dropped(conn, lost.no))

    live = await ledger.write(lambda conn: generations.ensure_live(conn, settings.index, spec, clock.now()))
    if live.kind != settings.index:
        _log.warning("index_kind_differs", live=live.kind, wanted=settings.index, next=f"to move: hindwise reindex --to {settings.index}")
    if live.spec != spec:
        _log.warning(
            "index_made_otherwise", live=live.model, wanted=spec.model, next="a worker builds a new one; recall goes by words until then"
        )
    index = LiveIndex(opener, lambda: ledger.read(generations.kept), spec, mender)
    await index.refresh()
    return index
