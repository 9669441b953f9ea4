"""Who calls, what they may do, and how often. Keys are looked up in the ledger and remembered for seconds only."""

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request

from api.errors import Forbidden, RateLimited, Unauthorized
from hindwise.errors import InvalidInput
from hindwise.ledger import keys
from hindwise.ledger.engine import Ledger
from hindwise.ledger.keys import KeyRow
from hindwise.settings import Settings

_REMEMBER_S = 5.0
"""How long a revoked key may still pass on this process."""
_REMEMBER_KEYS = 4_096
_MAX_KEY_CHARS = 512
_WHERE = "on the server `hindwise doctor` says where the first key lies, `hindwise keys create NAME` makes more"
"""No path: whoever has no key is a stranger, also one that a proxy on this machine brings in from loopback."""


def is_loopback(host: str) -> bool:
    """Whether `host` (name or address) can be reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_auth_setting(settings: Settings) -> None:
    """Raises InvalidInput when keys are switched off for an address that others can reach."""
    if not settings.auth and not is_loopback(settings.host):
        raise InvalidInput(f"HINDWISE_AUTH=false needs a loopback host, not {settings.host!r}: use 127.0.0.1, or keep keys on")


def key_of(request: Request) -> str:
    """Return the key that the request shows, or an empty string."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return (token.strip() if scheme.lower() == "bearer" else "") or request.headers.get("x-api-key", "").strip()


class Keyring:
    """Tells the key row behind a request, and refuses what may not pass."""

    def __init__(self, ledger: Ledger, settings: Settings, created_at_start: Callable[[], KeyRow]) -> None:
        self._ledger, self._settings = ledger, settings
        self._nobody = created_at_start
        self._known: OrderedDict[str, tuple[KeyRow | None, float]] = OrderedDict()

    async def identify(self, request: Request) -> KeyRow:
        """Return the caller. Raises Unauthorized; Forbidden for foreign web pages while keys are off."""
        if not self._settings.auth:
            _refuse_foreign_pages(request)
            return self._nobody()
        key = key_of(request)
        if not key:
            raise Unauthorized(f"no key: send `Authorization: Bearer KEY` or `X-API-Key: KEY`; {_WHERE}")
        row = await self._find(key)
        if row is None:
            raise Unauthorized(f"this key is not known here or was revoked; {_WHERE}")
        return row

    async def _find(self, key: str) -> KeyRow | None:
        if len(key) > _MAX_KEY_CHARS:
            return None
        now, hashed = time.monotonic(), keys.hash_key(key)
        row, until = self._known.get(hashed, (None, 0.0))
        if until > now:
            self._known.move_to_end(hashed)
            return row
        row = await self._ledger.read(lambda conn: keys.find(conn, key))
        self._known[hashed] = (row, now + _REMEMBER_S)
        while len(self._known) > _REMEMBER_KEYS:
            self._known.popitem(last=False)
        return row


def is_admin(caller: KeyRow) -> bool:
    """Whether the key is an operator's: lists may then show all users at once."""
    return "admin" in caller.scopes


def check_scope(caller: KeyRow, scope: str) -> None:
    """Raises Forbidden when the key has neither `scope` nor admin."""
    if scope not in caller.scopes and not is_admin(caller):
        raise Forbidden(f"this key may {', '.join(caller.scopes) or 'nothing'}; the call needs `{scope}`: make a key with that scope")


def _refuse_foreign_pages(request: Request) -> None:
    """Without keys a page in the user's browser could post here: its Origin, or the name it reached us by, gives it away."""
    origin = request.headers.get("origin")
    foreign_origin = origin is not None and not is_loopback(_host_of(origin))
    if foreign_origin or not is_loopback(_host_of(f"//{request.headers.get('host', '')}")):
        raise Forbidden("keys are switched off, so only this machine may call, under a loopback name")


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class RateLimit:
    """A token bucket per key: a minute's worth may come at once."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._per_second, self._clock = float(per_minute), per_minute / 60, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key_id: str) -> None:
        """Take one. Raises RateLimited with the time to wait."""
        now = self._clock()
        left, since = self._buckets.pop(key_id, (self._capacity, now))
        left = min(self._capacity, left + (now - since) * self._per_second)
        if left < 1:
            self._buckets[key_id] = (left, now)
            raise RateLimited(
                f"more than {self._capacity:.0f} requests a minute with this key", retry_after_s=(1 - left) / self._per_second
            )
        self._buckets[key_id] = (left - 1, now)
        while len(self._buckets) > _REMEMBER_KEYS:
            self._buckets.popitem(last=False)


class KeyedLocks:
    """One lock per name, kept only while someone holds or awaits it."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    async def acquire(self, name: str) -> None:
        """Wait for the lock of `name`."""
        lock, users = self._locks.get(name, (asyncio.Lock(), 0))
        self._locks[name] = (lock, users + 1)
        try:
            await lock.acquire()
        except BaseException:
            self._leave(name)
            raise

    def release(self, name: str) -> None:
        """Give it to the next."""
        self._locks[name][0].release()
        self._leave(name)

    def _leave(self, name: str) -> None:
        lock, users = self._locks[name]
        if users == 1:
            del self._locks[name]
        else:
            self._locks[name] = (lock, users - 1)
