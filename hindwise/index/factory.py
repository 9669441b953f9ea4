"""Which index stands behind a generation, by its kind: the one place that knows all implementations."""

import asyncio
import fcntl
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import structlog

from hindwise.errors import IndexUnavailable, InvalidInput
from hindwise.index.base import Index
from hindwise.index.embedded import FILE_NAME, open_embedded
from hindwise.index.embedded_damage import is_damage
from hindwise.ledger.databases import is_server
from hindwise.settings import Settings
from hindwise.text.tokens import TOKENIZER_VERSION

_log = structlog.get_logger(__name__)


async def open_index(
    settings: Settings,
    kind: str,
    generation: int,
    dim: int,
    secret: bytes,
    *,
    tokenizer: int = TOKENIZER_VERSION,
    before_making: Callable[[], Awaitable[None]] | None = None,
) -> Index:
    """Open the index of one generation; any number of generations may be open side by side.

    kind: "embedded" or "weaviate"; generation: its number in the ledger; dim: length of its vectors, 0 = words alone; secret: keys the
    names that stand for spaces outside this machine; tokenizer: which made its words, of a generation from before; before_making: called
    before a server that has nothing of it is given an empty one, now or later; what it raises keeps it from being made.

    Raises IndexUnavailable, DimensionMismatch, InvalidInput for an unknown kind, a missing setting or a key that is refused.
    """
    if kind == "embedded":
        path = settings.data / FILE_NAME.format(generation=generation)
        return await asyncio.to_thread(open_embedded_file, path, dim=dim, cache_mb=settings.index_cache_mb, tokenizer=tokenizer)
    if kind == "weaviate":
        weaviate = await _weaviate(settings)
        opened: Index = await weaviate.open_weaviate(
            _address(weaviate, settings),
            generation=generation,
            dim=dim,
            secret=secret,
            question_s=settings.index_timeout_s,
            cache_mb=settings.index_cache_mb,
            before_making=before_making,
        )
        return opened
    raise InvalidInput(f"an index of kind {kind!r} is not known here: use embedded or weaviate")


def check_index_settings(settings: Settings) -> None:
    """Raise InvalidInput where the chosen index lacks a setting, or does not go with the ledger."""
    if settings.index == "embedded" and is_server(settings.ledger_url()):
        raise InvalidInput(
            "Postgres is for several machines, and the embedded index is a file of one: set HINDWISE_INDEX=weaviate, "
            "or leave HINDWISE_DATABASE_URL empty for SQLite"
        )
    if settings.index == "weaviate":
        _check_weaviate(settings)


async def check_place(settings: Settings, kind: str, generation: int, secret: bytes) -> None:
    """Ask the place where the index of a generation would lie whether it lets us in; nothing is made there.

    Raises InvalidInput for a missing setting, an address that is none, a missing client and a key that is refused; IndexUnavailable where
    it does not answer within seconds.
    """
    if kind == "weaviate":
        weaviate = await _weaviate(settings)
        await weaviate.check_access(_address(weaviate, settings), generation, secret)


def _check_weaviate(settings: Settings) -> None:
    values = {
        "WEAVIATE_URL": settings.weaviate_url,
        "WEAVIATE_GRPC_URL": settings.weaviate_grpc_url,
        "WEAVIATE_API_KEY": settings.weaviate_api_key.get_secret_value(),
    }
    if missing := [name for name, value in values.items() if not value]:
        raise InvalidInput(
            f"an index on Weaviate needs {' and '.join(missing)}; its gRPC port listens on every network, so the server must want a key: "
            "AUTHENTICATION_APIKEY_ENABLED=true, AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false"
        )


async def _weaviate(settings: Settings) -> Any:
    """The module, imported when first needed: it takes over a second, on a thread, so that nothing else waits."""
    _check_weaviate(settings)
    try:
        return await asyncio.to_thread(import_module, "hindwise.index.weaviate")
    except ModuleNotFoundError as error:
        raise InvalidInput("an index on Weaviate needs its client: pip install 'hindwise[weaviate]'") from error


def _address(weaviate: Any, settings: Settings) -> Any:
    return weaviate.Address(settings.weaviate_url, settings.weaviate_grpc_url, settings.weaviate_api_key.get_secret_value())


async def remove_index(settings: Settings, kind: str, generation: int, secret: bytes) -> None:
    """Remove all that the index of one generation holds; one that is gone already is fine. Raises IndexUnavailable, InvalidInput."""
    if kind == "embedded":
        return await asyncio.to_thread(_remove_file, settings.data / FILE_NAME.format(generation=generation))
    if kind == "weaviate":
        weaviate = await _weaviate(settings)
        await weaviate.remove_generation(_address(weaviate, settings), generation, secret)
        return None
    raise InvalidInput(f"an index of kind {kind!r} is not known here: use embedded or weaviate")


def _remove_file(path: Path) -> None:
    try:
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")), path.with_suffix(".lock")):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise IndexUnavailable(f"{path.name} cannot be removed ({error.strerror})") from error


def open_embedded_file(path: Path, *, dim: int, cache_mb: int, tokenizer: int = TOKENIZER_VERSION) -> Index:
    """Open the index file; one that is no readable database is removed first, since all of it is made again from the ledger.

    Blocks for some milliseconds. Raises what `open_embedded` raises for any other reason.
    """
    try:
        return open_embedded(path, dim=dim, cache_mb=cache_mb, tokenizer=tokenizer)
    except IndexUnavailable as error:
        if not is_damage(error.__cause__):
            raise
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several processes starting at once one removes it, the others find the new file
        try:
            return open_embedded(path, dim=dim, cache_mb=cache_mb, tokenizer=tokenizer)
        except IndexUnavailable as error:
            if not is_damage(error.__cause__):
                raise
            _log.warning("index_damaged", file=path.name, next="made again from the ledger")
            for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                file.unlink(missing_ok=True)
            return open_embedded(path, dim=dim, cache_mb=cache_mb, tokenizer=tokenizer)
