"""The command line's way to the API: found by option, environment or data directory; problems become one line and an exit code."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from hindwise.cli import exits, serving
from hindwise.cli.exits import Ended

if TYPE_CHECKING:
    import httpx2

    from hindwise.settings import Settings

FINAL = frozenset({"completed", "failed", "skipped"})
WAITS_FOR_PERSON = "needs_attention"


@dataclass(frozen=True, slots=True)
class Target:
    """Which API, with which key. `found`: nobody named it and nothing tells whose it is; it answered at the usual address."""

    url: str
    key: str
    found: bool = False


def find(settings: "Settings", url: str = "", key: str = "") -> Target:
    """Say which API is meant: the option, else HINDWISE_API_URL, else what runs in the data directory, else one at the usual address.

    The data directory's key goes only to the API that runs there. One at the usual address serves another directory, so it is taken only
    where nobody named one. Raises Ended when nothing runs.
    """
    known = serving.local(settings.data)
    chosen = (url or settings.api_url or (known.api_url if known else "")).rstrip("/")
    secret = key or settings.api_key.get_secret_value()
    if not chosen:
        usual = serving.answers_there(settings)
        if not usual:
            raise exits.not_running()
        if "data" in settings.model_fields_set:
            raise exits.not_running_in(settings.data, usual)
        return Target(usual, secret, found=True)
    if not _is_address(chosen):
        raise Ended(f"{chosen!r} is no address of an API", next_step="give one like http://127.0.0.1:8080", code=exits.USAGE)
    if not secret and known and chosen == known.api_url.rstrip("/"):
        secret = known.key
    if not (secret.isascii() and secret.isprintable()):
        raise Ended("the key is none: it holds a line end, or what is not ASCII", next_step=_LOOK_AT_THE_KEY, code=exits.USAGE)
    return Target(chosen, secret)


_LOOK_AT_THE_KEY = "look at HINDWISE_API_KEY and --key"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


class ApiClient:
    """Calls the API. Every call is bounded; a problem raises Ended with the API's own detail."""

    def __init__(self, target: Target, *, timeout_s: float = 30.0, transport: "httpx2.BaseTransport | None" = None) -> None:
        import httpx2

        from hindwise.cli.supervisor.ports import is_loopback

        self.target = target
        local = is_loopback(urlsplit(target.url).hostname or "")
        self._http = httpx2.Client(
            base_url=target.url,
            headers={"Authorization": f"Bearer {target.key}"} if target.key else {},
            timeout=httpx2.Timeout(timeout_s, connect=5.0),
            trust_env=not local,  # a proxy of the environment must not carry what stays on this machine
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """GET; empty query values are left out. Returns the JSON document."""
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """POST a JSON body. Returns the JSON document."""
        return self.call("POST", path, body=body)

    def call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None) -> Any:
        """Make one call. Raises Ended: code 3 when the API cannot be reached or is not ready, 2 for refused input, else 1."""
        import httpx2

        asked = {name: value for name, value in (query or {}).items() if value not in (None, "", ())}
        # Escaped letter by letter, so that half a surrogate pair or NaN reaches the API, which says what is wrong with it.
        content = None if body is None else json.dumps(body).encode()
        headers = None if body is None else {"Content-Type": "application/json"}
        try:
            answer = self._http.request(method, path, params=asked, content=content, headers=headers)
        except httpx2.TimeoutException as error:
            raise Ended(f"{self.target.url} did not answer in time", next_step="see: hindwise status", code=exits.UNREACHABLE) from error
        except httpx2.TransportError as error:
            raise Ended(
                f"nothing answers at {self.target.url} ({type(error).__name__})",
                next_step="start it with: hindwise up",
                code=exits.UNREACHABLE,
            ) from error
        if answer.is_error:
            raise _problem(answer, self.target, path)
        return answer.json() if answer.content else None

    def reflection(self, reflection_id: str) -> dict[str, Any]:
        """Where a reflection stands."""
        found: dict[str, Any] = self.get(f"/v1/reflections/{reflection_id}")
        return found

    def wait_for(self, reflection_id: str, limit_s: float) -> Iterator[dict[str, Any]]:
        """Yield the reflection's state again and again, until it is final, waits for a person, or the limit is over."""
        end = time.monotonic() + limit_s
        pause_s = 0.1
        while True:
            state = self.reflection(reflection_id)
            yield state
            if state.get("status") in FINAL or state.get("status") == WAITS_FOR_PERSON or time.monotonic() > end:
                return
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.3, 1.0)


_UNKNOWN_KEY = 401


def _way_to_a_key(target: Target) -> str:
    """What to do where the API does not know our key."""
    if not target.key:
        return (
            f"no key for {target.url} is known here: run this where it was started, or name its directory with --data, "
            "or give its key as HINDWISE_API_KEY or --key"
        )
    return f"the key that was shown is none of {target.url}: {_LOOK_AT_THE_KEY}"


_NOT_FOUND = 404
_WHERE_IDS_ARE = {
    "/v1/reflections/": "the ids stand in: hindwise reflections list",
    "/v1/memories/": "the ids stand in: hindwise list -u USER, or -a AGENT",
    "/v1/erasures/": "the id is what `hindwise erase` told as the receipt",
    "/v1/sessions/": "the id is what the agent sends its turns under; GET /v1/sessions lists them",
}


def _way_on(status: int, target: Target, path: str) -> str:
    """What to do next, where the API's own words do not say it."""
    if status == _UNKNOWN_KEY:
        return _way_to_a_key(target)
    return next((way for start, way in _WHERE_IDS_ARE.items() if status == _NOT_FOUND and path.startswith(start)), "")


def _problem(answer: "httpx2.Response", target: Target, path: str) -> Ended:
    """Read an RFC 9457 answer."""
    try:
        told = answer.json()
    except ValueError:
        told = {}
    detail = told.get("detail") if isinstance(told, dict) else None
    message = str(detail or f"the API answered {answer.status_code}")
    status, kind = answer.status_code, str(told.get("type") or "") if isinstance(told, dict) else ""
    if status in {400, 413, 422}:
        return Ended(message, code=exits.USAGE, http_status=status)
    if status in {502, 503, 504}:
        return Ended(message, next_step="see: hindwise status", code=exits.UNREACHABLE, http_status=status)
    return Ended(message, next_step=_way_on(status, target, path), http_status=status, kind=kind)


@contextmanager
def connect(data: Path | None, url: str, key: str, *, timeout_s: float = 30.0) -> Iterator[ApiClient]:
    """Open a client for a command. Raises Ended when nothing runs."""
    from hindwise.cli import console
    from hindwise.cli.options import settings_with

    target = find(settings_with(data=data), url, key)
    if target.found:
        console.err().print(f"nothing runs in this directory; asking the API at {target.url}", markup=False, style="dim")
    with ApiClient(target, timeout_s=timeout_s) as client:
        yield client
