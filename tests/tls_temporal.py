"""A Cloud-like front for a Temporal dev server: TLS, client certificates, an API key, certificates made by the test.

`temporal server start-dev` speaks no TLS. This front ends TLS, looks at the `authorization` header of every call as Temporal Cloud
does, and passes the call on as it is: requests and answers stay bytes, all calls of Temporal's services are unary.
"""

import datetime
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SERVER_NAME = "temporal.test"
"""The name in the server's certificate; it is reached at 127.0.0.1, so a client must say whom it expects."""
_PASSED_ON = ("grpc-status-details-bin",)
_OWN_HEADERS = ("grpc-", "user-agent", "content-type", "te", "authorization", ":")


@dataclass(frozen=True, slots=True)
class Papers:
    """Paths of one authority's certificate, and of a certificate and key it signed for a server and for a client."""

    ca: Path
    server_cert: Path
    server_key: Path
    client_cert: Path
    client_key: Path


def make_papers(folder: Path, name: str = "Hindwise Test CA") -> Papers:
    """Make an authority and what it signs, as PEM files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate(name, authority_key, name, authority_key, authority=True)
    papers = Papers(*(folder / f"{part}.pem" for part in ("ca", "server", "server-key", "client", "client-key")))
    papers.ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    for cert, key, common_name in (
        (papers.server_cert, papers.server_key, SERVER_NAME),
        (papers.client_cert, papers.client_key, "hindwise"),
    ):
        private = ec.generate_private_key(ec.SECP256R1())
        cert.write_bytes(_certificate(common_name, private, name, authority_key).public_bytes(serialization.Encoding.PEM))
        key.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return papers


def _certificate(name: str, key: Any, issuer: str, issuer_key: Any, *, authority: bool = False) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


@dataclass(slots=True)
class Front:
    """A running front. `refused`: calls without the right key; `passed`: calls that went through; `plain`: the server behind it."""

    port: int = 0
    refused: int = 0
    plain: str = ""
    passed: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"


class _Relay(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Passes every call on, once its key is right."""

    def __init__(self, front: Front, channel: Any, api_key: str) -> None:
        self.front, self.channel, self.api_key = front, channel, api_key

    def service(self, details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(self._handler(details.method))

    def _handler(self, method: str) -> Callable[[bytes, Any], Awaitable[bytes]]:
        call = self.channel.unary_unary(method)

        async def pass_on(request: bytes, context: Any) -> bytes:
            given = dict(context.invocation_metadata())
            if self.api_key and given.get("authorization") != f"Bearer {self.api_key}":
                self.front.refused += 1
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "Request unauthorized.")
            headers = [(key, value) for key, value in given.items() if not key.startswith(_OWN_HEADERS)]
            try:
                answer: bytes = await call(request, metadata=headers, timeout=context.time_remaining())
            except grpc.aio.AioRpcError as error:
                # Temporal tells in these details which error it was; without them a client knows only the status.
                context.set_trailing_metadata([(k, v) for k, v in error.trailing_metadata() or () if k in _PASSED_ON])
                await context.abort(error.code(), error.details() or "")
                raise
            self.front.passed.append(method.rpartition("/")[2])
            return answer

        return pass_on


@asynccontextmanager
async def tls_front(target: str, papers: Papers, *, api_key: str = "", client_ca: Path | None = None) -> AsyncIterator[Front]:
    """Serve TLS on a free loopback port before the plain server at `target`.

    api_key: demanded of every call where given. client_ca: where given, a client must show a certificate that it signed.
    """
    front = Front(plain=target)
    credentials = grpc.ssl_server_credentials(
        [(papers.server_key.read_bytes(), papers.server_cert.read_bytes())],
        root_certificates=client_ca.read_bytes() if client_ca else None,
        require_client_auth=client_ca is not None,
    )
    async with grpc.aio.insecure_channel(target, options=_LARGE) as channel:
        server = grpc.aio.server(handlers=[_Relay(front, channel, api_key)], options=_LARGE)
        front.port = server.add_secure_port("127.0.0.1:0", credentials)
        await server.start()
        try:
            yield front
        finally:
            await server.stop(0.2)


_LARGE: Sequence[tuple[str, int]] = (("grpc.max_receive_message_length", 16 << 20), ("grpc.max_send_message_length", 16 << 20))
