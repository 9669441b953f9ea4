"""A client of the library for one server, and its errors sorted by what they mean for us.

Importing the library takes over a second: only the `weaviate*` modules do, which the factory loads for an index on Weaviate alone.
"""

import logging
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit

import weaviate
from grpc import RpcError  # type: ignore[import-untyped]
from httpx import HTTPError
from weaviate.client import WeaviateAsyncClient
from weaviate.config import AdditionalConfig, GrpcConfig, Timeout
from weaviate.connect import ConnectionParams, ProtocolParams
from weaviate.exceptions import (
    InsufficientPermissionsError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from hindwise.errors import InvalidInput

Client = WeaviateAsyncClient

# It logs objects that were refused whole, with the words of a memory.
logging.getLogger("weaviate-client").setLevel(logging.CRITICAL)

CLIENT_ERRORS = (WeaviateBaseError, RpcError, HTTPError, OSError)
"""All that a call may raise, besides running out of time."""

_GONE = (
    WeaviateConnectionError,
    WeaviateRetryError,
    WeaviateTimeoutError,
    WeaviateStartUpError,
    WeaviateClosedClientError,
    WeaviateGRPCUnavailableError,
    RpcError,
    HTTPError,
    OSError,
)
_GONE_WORDS = (
    "unavailable",
    "deadline exceeded",
    "failed after",
    "connection refused",
    # While it starts, the server answers before it has read what it holds.
    "could not find class",
    "non-existing index",
    "class not found",
    "not ready",
)
_REFUSED_WORDS = ("extract auth: ", "anonymous access not enabled", "authorization, forbidden action")
"""What it says through gRPC, with a status that tells nothing."""
# Without these, a client that met a server which was away waits up to half a minute after it is back.
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


class Trouble(Enum):
    """What an error of the client means."""

    AWAY = "away"
    MISSING = "missing"
    """There is no such tenant."""
    RESTING = "resting"
    """The tenant is INACTIVE."""
    REFUSED = "refused"
    """The key is not accepted, or not for this."""
    FULL = "full"
    """It takes no writes: its disk is full, or somebody set it read-only."""
    OUT_OF_FILES = "out of files"
    """It may open no more files: each space that is in use takes some."""
    OTHER = "other"


_MARKS = {
    "tenant not active": Trouble.RESTING,
    "tenant not found": Trouble.MISSING,
    "store is read-only": Trouble.FULL,
    "too many open files": Trouble.OUT_OF_FILES,
}


def trouble_of(error: BaseException) -> Trouble:
    """Sort an error. The texts are the only mark that some of them carry."""
    text = str(error).lower()
    if isinstance(error, InsufficientPermissionsError) or any(word in text for word in _REFUSED_WORDS):
        return Trouble.REFUSED
    if isinstance(error, UnexpectedStatusCodeError) and error.status_code in (401, 403):
        return Trouble.REFUSED
    for mark, meaning in _MARKS.items():
        if mark in text:
            return meaning
    if isinstance(error, _GONE) or any(word in text for word in _GONE_WORDS):
        return Trouble.AWAY
    return Trouble.OTHER


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is. `url`: REST, `grpc_url`: gRPC, both http or https with host and port."""

    url: str
    grpc_url: str
    api_key: str

    def headers(self) -> dict[str, str]:
        """What a REST request of our own carries."""
        return {"Authorization": f"Bearer {self.api_key}"}


def make_client(address: Address, *, query_s: float, insert_s: float) -> WeaviateAsyncClient:
    """Return a client that is not connected. query_s, insert_s: when the server is told to give up, in seconds.

    Raises InvalidInput for an address that is none, and for a key that no header can carry.
    """
    rest, grpc = _endpoint(address.url, "WEAVIATE_URL"), _endpoint(address.grpc_url, "WEAVIATE_GRPC_URL")
    if (rest.host, rest.port) == (grpc.host, grpc.port):
        raise InvalidInput(f"WEAVIATE_URL and WEAVIATE_GRPC_URL both name {rest.host}:{rest.port}: the server has a port for each")
    if not (address.api_key.isascii() and address.api_key.isprintable() and address.api_key == address.api_key.strip()):
        raise InvalidInput("WEAVIATE_API_KEY is no key: it holds a line end, a space at an end, or what is not ASCII")
    return WeaviateAsyncClient(
        connection_params=ConnectionParams(http=rest, grpc=grpc),
        auth_client_secret=weaviate.auth.AuthApiKey(address.api_key),
        additional_config=AdditionalConfig(
            timeout=Timeout(query=query_s, insert=insert_s, init=2),
            grpc_config=GrpcConfig(channel_options=_CHANNEL),
        ),
        # They ask a public server for the client's newest version, and gRPC with a limit of their own.
        skip_init_checks=True,
    )


def with_scheme(url: str) -> str:
    """The address as REST calls of our own need it: `host:port` means http, as it does to the client library."""
    return (url if "://" in url else f"http://{url}").rstrip("/")


def _endpoint(url: str, name: str) -> ProtocolParams:
    try:
        parts = urlsplit(with_scheme(url))
        port = 443 if parts.port is None and parts.scheme == "https" else 80 if parts.port is None else parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in parts.hostname or not port or not bare:
        # Not the address itself: who writes more than asked for may have written a password.
        raise InvalidInput(f"{name} is no address: write http://host:port, without anything behind or before the host")
    return ProtocolParams(host=parts.hostname, port=port, secure=parts.scheme == "https")
