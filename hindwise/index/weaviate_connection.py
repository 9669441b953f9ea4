"""One client to one server: connected when first needed, every call bounded, and known to be away without being asked each time.

A call that gets no answer opens the breaker: until the probe behind it has had one, all calls fail at once. So whoever recalls waits
for a server that is gone once, and not with every question.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import httpx2
import structlog

from hindwise.errors import HindwiseError, IndexRefused, IndexUnavailable, InvalidInput
from hindwise.index.weaviate_client import CLIENT_ERRORS, Address, Client, Trouble, make_client, trouble_of, with_scheme

PROBE_S = 0.25
"""How long the probe rests between two tries."""
REFUSED_PROBE_S = 1.0
"""Likewise where our key is refused: a person has to act, and each try stands in the server's log."""
PROBE_LIMIT_S = 2.0
"""How long one try may take."""

T = TypeVar("T")
Work = Callable[[Client], Awaitable[T]]

_log = structlog.get_logger(__name__)


class TenantMissing(Exception):
    """There is no such tenant: its space holds nothing."""


class TenantResting(Exception):
    """The tenant is INACTIVE: it has to be activated first."""


class Connection:
    """The way to one server. `prepare` runs after each connect (the schema); `knock` is a quick question that goes through gRPC.

    Belongs to the event loop it is first used on, like the client.
    """

    def __init__(self, address: Address, *, prepare: Work[None], knock: Work[None], query_s: float, insert_s: float) -> None:
        self._address, self._prepare, self._knock = address, prepare, knock
        self._limits = {"query_s": query_s, "insert_s": insert_s}
        make_client(address, **self._limits)  # an address that is none shall be refused here and now
        self._client: Client | None = None
        self._http: httpx2.AsyncClient | None = None
        self._connecting = asyncio.Lock()
        self._probe: asyncio.Task[None] | None = None
        self._why = IndexUnavailable("")
        self._closed = False

    async def call(self, work: Work[T], limit_s: float) -> T:
        """Run `work` on the connected client, for at most `limit_s`.

        Raises TenantMissing and TenantResting, which are answers; IndexRefused where our key is; IndexUnavailable for anything else
        that went wrong, named by its class alone: its text may quote what was sent.
        """
        if self._closed:
            raise IndexUnavailable("the index is closed")
        if self._probe is not None:
            raise _again(self._why)
        client = None
        try:
            async with asyncio.timeout(limit_s):
                client = await self._connected()
                return await work(client)
        except TimeoutError:
            raise self._opened(_away(f"no answer within {limit_s:g} s")) from None
        except HindwiseError:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Not us: the channel was closed under the call.
            raise self._opened(_away("connection closed")) from None
        except CLIENT_ERRORS as error:
            raise self._told(error) from None
        except Exception as error:
            if client is None or client is self._client:
                raise
            # The client was closed under the call: it fails then in ways of its own.
            raise self._opened(_away(type(error).__name__)) from None

    async def open(self, limit_s: float) -> None:
        """Connect now. Raises IndexUnavailable where the server is away, InvalidInput where it refuses our key."""
        try:
            async with asyncio.timeout(limit_s):
                await self._connected()
        except TimeoutError:
            raise IndexUnavailable(f"Weaviate at {self._address.url} is away: no answer within {limit_s:g} s") from None
        except CLIENT_ERRORS as error:
            if trouble_of(error) is Trouble.REFUSED:
                raise InvalidInput(self._refused().detail) from None
            raise IndexUnavailable(f"Weaviate at {self._address.url} is away: {type(error).__name__}") from None

    async def says_ready(self) -> bool:
        """Whether the server says that it has read what it holds. Before that, gRPC gives wrong answers."""
        if self._http is None:
            self._http = httpx2.AsyncClient(headers=self._address.headers(), timeout=PROBE_LIMIT_S, trust_env=False)
        answer = await self._http.get(f"{with_scheme(self._address.url)}/v1/.well-known/ready")
        return answer.status_code == httpx2.codes.OK

    async def close(self) -> None:
        """Stop the probe and close the client. Idempotent."""
        self._closed = True
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.gather(self._probe, return_exceptions=True)
            self._probe = None
        await self._discard()
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _connected(self) -> Client:
        if self._client is not None:
            return self._client
        async with self._connecting:
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> Client:
        await self._must_be_ready()
        client = make_client(self._address, **self._limits)
        try:
            await client.connect()
            await self._prepare(client)
        except BaseException:
            await client.close()
            raise
        return client

    async def _discard(self) -> None:
        # A channel that lives on keeps its pauses between tries, and a new one to the same server would share them.
        client, self._client = self._client, None
        if client is not None:
            with suppress(*CLIENT_ERRORS):
                await client.close()

    def _told(self, error: BaseException) -> Exception:
        trouble = trouble_of(error)
        if trouble is Trouble.MISSING:
            return TenantMissing()
        if trouble is Trouble.RESTING:
            return TenantResting()
        name = type(error).__name__
        if trouble is Trouble.FULL:
            return IndexUnavailable("Weaviate takes no writes: its disk is full, or was; make room, and start it again")
        if trouble is Trouble.OUT_OF_FILES:
            return IndexUnavailable("Weaviate may open no more files: raise its limit (nofile); docs/sizing.md says what a space takes")
        if trouble is Trouble.OTHER:
            _log.error("weaviate_refused", cause=name)
            return IndexUnavailable(f"Weaviate did not do what was asked ({name})")
        return self._opened(self._refused() if trouble is Trouble.REFUSED else _away(name))

    def _refused(self) -> IndexRefused:
        return IndexRefused(f"Weaviate at {self._address.url} refuses our key: set WEAVIATE_API_KEY to one that it allows")

    def _opened(self, why: IndexUnavailable) -> IndexUnavailable:
        """Open the breaker, and return what to raise."""
        if self._probe is None and not self._closed:
            self._why = _again(why)
            self._probe = asyncio.create_task(self._until_back(), name="weaviate-probe")
        return why

    async def _until_back(self) -> None:
        loop = asyncio.get_running_loop()
        began, told = loop.time(), ""
        try:
            while not await self._is_back():
                if told != self._why.type:
                    _log.warning("index_away", cause=self._why.detail)
                    told = self._why.type
                await asyncio.sleep(REFUSED_PROBE_S if isinstance(self._why, IndexRefused) else PROBE_S)
        finally:
            self._probe = None
        if told:
            _log.info("index_back", after_s=round(loop.time() - began, 1))

    async def _is_back(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_LIMIT_S):
                await self._try()
        except TimeoutError:
            self._why = _away(f"no answer within {PROBE_LIMIT_S:g} s")
            await self._discard()
        except HindwiseError as error:
            self._why = _again(error)
        except CLIENT_ERRORS as error:
            trouble = trouble_of(error)
            self._why = self._refused() if trouble is Trouble.REFUSED else _away(type(error).__name__)
            if trouble is not Trouble.OTHER:
                await self._discard()
        else:
            return True
        return False

    async def _must_be_ready(self) -> None:
        try:
            ready = await self.says_ready()
        except httpx2.HTTPError as error:
            raise ConnectionError(type(error).__name__) from None
        if not ready:
            raise ConnectionError("not ready")

    async def _try(self) -> None:
        await self._must_be_ready()
        await self._knock(await self._connected())


def _again(error: HindwiseError) -> IndexUnavailable:
    """The same to be raised, or kept, without what hangs on the one that was raised."""
    return (IndexRefused if isinstance(error, IndexRefused) else IndexUnavailable)(error.detail)


def _away(why: str) -> IndexUnavailable:
    return IndexUnavailable(f"Weaviate is away: {why}")
