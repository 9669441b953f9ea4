"""The client library: imported here and only here, made for one server, its errors sorted by what they mean for us.

Importing this module takes over a second: only the factory does, and only for an index on Weaviate.
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
    """The key is not accepted."""
    OTHER = "other"


def trouble_of(error: BaseException) -> Trouble:
    """Sort an error. The texts are the only mark that some of them carry."""
    text = str(error).lower()
    if isinstance(error, UnexpectedStatusCodeError) and error.status_code in (401, 403):
        return Trouble.REFUSED
    if "tenant not active" in text:
        return Trouble.RESTING
    if "tenant not found" in text:
        return Trouble.MISSING
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

    Raises InvalidInput for an address that is no URL.
    """
    return WeaviateAsyncClient(
        connection_params=ConnectionParams(
            http=_endpoint(address.url, "WEAVIATE_URL"), grpc=_endpoint(address.grpc_url, "WEAVIATE_GRPC_URL")
        ),
        auth_client_secret=weaviate.auth.AuthApiKey(address.api_key),
        additional_config=AdditionalConfig(
            timeout=Timeout(query=query_s, insert=insert_s, init=2),
            grpc_config=GrpcConfig(channel_options=_CHANNEL),
        ),
        # They ask a public server for the client's newest version, and gRPC with a limit of their own.
        skip_init_checks=True,
    )


def _endpoint(url: str, name: str) -> ProtocolParams:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or not port:
        raise InvalidInput(f"{name}={url!r} is no address: write http://host:port")
    return ProtocolParams(host=parts.hostname, port=port, secure=parts.scheme == "https")
