"""How we reach a Temporal server: plain, with TLS, with client certificates, with an API key. What fails is told in our own words.

A server that does not answer may come back; a key, a certificate or a namespace that it refuses needs a person. `NotConnected.lasting`
tells the two apart, and its detail names the setting to look at.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol

from pydantic import SecretStr
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from workflows import policies
from workflows.plugin import hindwise_plugin

DEFAULT_ADDRESS: Final = "127.0.0.1:7233"
CONNECT_S: Final = 10.0
"""Longest time for a connection and the look at the namespace together."""
_RPC: Final = timedelta(seconds=5)


class NotDelivered(Exception):
    """Temporal did not take a message in time. `reason`: a status name, never words of a caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Temporal did not take the message: {reason}")
        self.reason = reason


class NotConnected(NotDelivered):
    """No usable connection. `detail`: one sentence with the setting to look at; `lasting`: waiting cannot help, a person must act."""

    def __init__(self, reason: str, detail: str, *, lasting: bool) -> None:
        super().__init__(reason)
        self.detail = detail
        self.lasting = lasting

    def __str__(self) -> str:
        return self.detail


class Server(Protocol):
    """What is known of a server; `hindwise.settings.Settings` has it all. Files are read at each connection, so they may be renewed."""

    @property
    def temporal_address(self) -> str:
        """host:port; empty = this machine."""
        ...

    @property
    def temporal_namespace(self) -> str:
        """Must exist."""
        ...

    @property
    def temporal_api_key(self) -> SecretStr:
        """Sent with every call; empty = none."""
        ...

    @property
    def temporal_tls(self) -> str:
        """auto, on or off."""
        ...

    @property
    def temporal_tls_ca_file(self) -> str:
        """PEM of the authority that signed the server's certificate; empty = the system's."""
        ...

    @property
    def temporal_tls_cert_file(self) -> str:
        """PEM of our certificate."""
        ...

    @property
    def temporal_tls_key_file(self) -> str:
        """PEM of its private key."""
        ...

    @property
    def temporal_tls_server_name(self) -> str:
        """Name in the server's certificate, where it is not the address's."""
        ...


def tls_of(server: Server) -> bool | TLSConfig:
    """Return what the SDK wants. Raises NotConnected (lasting) for files that cannot be read, are no PEM, or come without their pair."""
    given = (server.temporal_tls_ca_file, server.temporal_tls_cert_file, server.temporal_tls_key_file)
    named = any(given) or bool(server.temporal_tls_server_name)
    if server.temporal_tls == "off":
        if named:
            raise _files("HINDWISE_TEMPORAL_TLS=off does not go with HINDWISE_TEMPORAL_TLS_…: remove one of them")
        return False
    if not named:
        return server.temporal_tls == "on" or bool(server.temporal_api_key.get_secret_value())
    if bool(server.temporal_tls_cert_file) != bool(server.temporal_tls_key_file):
        raise _files("HINDWISE_TEMPORAL_TLS_CERT_FILE and HINDWISE_TEMPORAL_TLS_KEY_FILE belong together: set both or none")
    return TLSConfig(
        server_root_ca_cert=_pem("CA_FILE", server.temporal_tls_ca_file, "CERTIFICATE"),
        domain=server.temporal_tls_server_name or None,
        client_cert=_pem("CERT_FILE", server.temporal_tls_cert_file, "CERTIFICATE"),
        client_private_key=_pem("KEY_FILE", server.temporal_tls_key_file, "PRIVATE KEY"),
    )


def _pem(name: str, path: str, holds: str) -> bytes | None:
    if not path:
        return None
    setting = f"HINDWISE_TEMPORAL_TLS_{name}"
    try:
        content = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise _files(f"{setting}={path} cannot be read ({error.strerror})") from error
    if f"{holds}-----".encode() not in content:
        raise _files(f"{setting}={path} holds no {holds.lower()} in PEM form")
    return content


def _files(detail: str) -> NotConnected:
    return NotConnected("settings", detail, lasting=True)


async def connect(server: Server, *, address: str = "") -> Client:
    """Return a client that speaks our messages; one per process. `address`: instead of the server's. Bounded by CONNECT_S.

    Raises NotConnected; also where the namespace does not exist or is not ours to use.
    """
    where = address or server.temporal_address or DEFAULT_ADDRESS
    key = server.temporal_api_key.get_secret_value() or None
    tls = tls_of(server)
    try:
        async with asyncio.timeout(CONNECT_S):
            client = await Client.connect(
                where, namespace=server.temporal_namespace, api_key=key, tls=tls, plugins=[hindwise_plugin()], connect_timeout=_RPC
            )
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace), timeout=_RPC)
    except TimeoutError as error:
        raise NotConnected("timeout", f"Temporal at {where} did not answer within {CONNECT_S:.0f} s", lasting=False) from error
    except RPCError as error:
        raise _refused(error, where, server) from error
    except ValueError as error:  # before anything was sent
        raise _no_address(where) from error
    except RuntimeError as error:
        raise _explained(str(error), where, has_key=bool(key), has_tls=bool(tls)) from error
    return client


def _refused(error: RPCError, where: str, server: Server) -> NotConnected:
    if error.status is RPCStatusCode.NOT_FOUND:
        return NotConnected(
            "NOT_FOUND", f"Temporal at {where} has no namespace {server.temporal_namespace!r}: {_how_to_make(server)}", lasting=True
        )
    if error.status in (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED):
        return _no_entry(where, bool(server.temporal_api_key.get_secret_value()), f" for namespace {server.temporal_namespace!r}")
    return NotConnected(error.status.name, f"Temporal at {where} does not serve us at present ({error.status.name})", lasting=False)


def _how_to_make(server: Server) -> str:
    if server.temporal_api_key.get_secret_value():
        return "correct HINDWISE_TEMPORAL_NAMESPACE (in Temporal Cloud it ends in .<account>), or make it there"
    return "make it with `hindwise setup-temporal --create-namespace`, or correct HINDWISE_TEMPORAL_NAMESPACE"


def _no_entry(where: str, has_key: bool, what: str = "") -> NotConnected:
    cause = "HINDWISE_TEMPORAL_API_KEY is wrong, expired or has no rights there" if has_key else "it wants HINDWISE_TEMPORAL_API_KEY"
    return NotConnected("UNAUTHENTICATED", f"Temporal at {where} refuses us{what}: {cause}", lasting=True)


@dataclass(frozen=True, slots=True)
class _Cause:
    """What the SDK's text shows, and what it means. `where`: filled in."""

    pattern: str
    reason: str
    detail: str
    lasting: bool = True


_CAUSES: Final = (
    _Cause(
        r"NotValidForName",
        "certificate-name",
        "the certificate of Temporal at {where} is for another name: set HINDWISE_TEMPORAL_TLS_SERVER_NAME to the one in it",
    ),
    _Cause(
        r"Expired|NotValidYet",
        "certificate-expired",
        "the certificate of Temporal at {where} is not valid at this time: renew it, or set the clock",
    ),
    _Cause(
        r"InvalidCertificate|UnknownIssuer",
        "certificate-untrusted",
        "the certificate of Temporal at {where} is signed by nobody we trust: set HINDWISE_TEMPORAL_TLS_CA_FILE to its authority's",
    ),
    _Cause(
        r"PrivateKeyParse|CertificateParse|KeyMismatch|InconsistentKeys",
        "settings",
        "the files of HINDWISE_TEMPORAL_TLS_CERT_FILE and HINDWISE_TEMPORAL_TLS_KEY_FILE are no pair",
    ),
    _Cause(
        r"InvalidContentType|InvalidMessage",
        "no-tls",
        "Temporal at {where} speaks no TLS: set HINDWISE_TEMPORAL_TLS=off and no file of it, or correct HINDWISE_TEMPORAL_ADDRESS",
    ),
    _Cause(r"dns error", "unreachable", "the name in HINDWISE_TEMPORAL_ADDRESS={where} is not known", lasting=False),
    _Cause(
        r"[Cc]onnection refused",
        "unreachable",
        "nothing listens at {where}: start Temporal, or correct HINDWISE_TEMPORAL_ADDRESS",
        lasting=False,
    ),
    _Cause(r"[Dd]eadline|[Tt]imed? ?out", "timeout", "Temporal at {where} did not answer in time", lasting=False),
)


def _explained(text: str, where: str, *, has_key: bool, has_tls: bool) -> NotConnected:
    """Read the SDK's text, which is all it gives at a connection."""
    if re.search(r"Unauthenticated|PermissionDenied", text):
        return _no_entry(where, has_key)
    for cause in _CAUSES:
        if re.search(cause.pattern, text):
            return NotConnected(cause.reason, cause.detail.format(where=where), lasting=cause.lasting)
    if "call error after connection" in text and re.search(r"Canceled|BrokenPipe|transport error|closed", text):
        # A server also closes connections while it stops, so this one may pass.
        hint = (
            "it may want a client certificate, or refuse ours: look at HINDWISE_TEMPORAL_TLS_CERT_FILE and …_KEY_FILE"
            if has_tls
            else "it may want TLS: set HINDWISE_TEMPORAL_TLS=on"
        )
        return NotConnected("closed", f"Temporal at {where} closed the connection at once; {hint}", lasting=False)
    return NotConnected("unreachable", f"Temporal at {where} cannot be reached", lasting=False)


def _no_address(where: str) -> NotConnected:
    detail = f"HINDWISE_TEMPORAL_ADDRESS={where} is no address: write host:port, an IPv6 address in brackets"
    return NotConnected("no-address", detail, lasting=True)


async def missing_search_attributes(client: Client, *, rpc_timeout_s: float = 5.0) -> Sequence[str]:
    """Return the names that the namespace does not have as Keyword; where one is missing, start with search_attributes=False.

    Where we may not ask, nothing counts as missing: a start that is refused tells. Raises NotDelivered.
    """
    request = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        answer = await client.operator_service.list_search_attributes(request, timeout=timedelta(seconds=rpc_timeout_s))
    except RPCError as error:
        if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            return []
        raise NotDelivered(reason_of(error)) from error
    except RuntimeError as error:
        raise NotDelivered(reason_of(error)) from error
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    return [key.name for key in policies.SEARCH_ATTRIBUTES if answer.custom_attributes.get(key.name) != keyword]


async def register_search_attributes(client: Client, names: Sequence[str]) -> None:
    """Register `names` as Keyword; what is there already is fine. Raises NotDelivered (PERMISSION_DENIED: not ours to do)."""
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=dict.fromkeys(names, keyword))
    try:
        await client.operator_service.add_search_attributes(request, timeout=timedelta(seconds=20))
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise NotDelivered(reason_of(error)) from error
    except RuntimeError as error:
        raise NotDelivered(reason_of(error)) from error


async def create_namespace(server: Server, *, retention_days: int) -> bool:
    """Make the server's namespace; False where it exists. Raises NotConnected, NotDelivered."""
    where, key = server.temporal_address or DEFAULT_ADDRESS, server.temporal_api_key.get_secret_value() or None
    tls = tls_of(server)
    request = RegisterNamespaceRequest(namespace=server.temporal_namespace, description="Hindwise: sessions, reflections, upkeep")
    request.workflow_execution_retention_period.FromTimedelta(timedelta(days=retention_days))
    try:
        async with asyncio.timeout(CONNECT_S):
            client = await Client.connect(where, namespace=server.temporal_namespace, api_key=key, tls=tls, connect_timeout=_RPC)
            await client.workflow_service.register_namespace(request, timeout=_RPC)
    except TimeoutError as error:
        raise NotConnected("timeout", f"Temporal at {where} did not answer within {CONNECT_S:.0f} s", lasting=False) from error
    except RPCError as error:
        if error.status is RPCStatusCode.ALREADY_EXISTS:
            return False
        raise NotDelivered(reason_of(error)) from error
    except ValueError as error:  # before anything was sent
        raise _no_address(where) from error
    except RuntimeError as error:
        raise _explained(str(error), where, has_key=bool(key), has_tls=bool(tls)) from error
    return True


def reason_of(error: BaseException) -> str:
    """A status or a class, never the server's words."""
    return error.status.name if isinstance(error, RPCError) else type(error).__name__
