"""Which ports are free, and the API's listening socket, which the supervisor keeps so that its port survives a restart."""

import errno
import ipaddress
import random
import socket

from hindwise.errors import InvalidInput

_LOW, _HIGH = 20_000, 32_000
"""Below the range from which systems take ports for outgoing connections, so that a port of ours is still free after a restart."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def reachable_host(host: str) -> str:
    """The name under which this machine reaches a server bound to `host`, ready for a URL."""
    if host in {"", "0.0.0.0"}:  # noqa: S104  compared, not bound
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _open(host: str, port: int) -> socket.socket:
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((bare, port))
    except OSError:
        opened.close()
        raise
    return opened


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could bind `port` now."""
    try:
        _open(host, port).close()
    except OSError:
        return False
    return True


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Return `count` different ports that are free now."""
    found: list[int] = []
    candidates = random.sample(range(_LOW, _HIGH), 200)
    for port in candidates:
        if len(found) == count:
            return found
        if is_free(port, host):
            found.append(port)
    while len(found) < count:  # a crowded machine: whatever the system gives
        with _open(host, 0) as opened:
            found.append(int(opened.getsockname()[1]))
    return found


def listen(host: str, port: int, *, explicit: bool) -> tuple[socket.socket, int]:
    """Return a listening socket and its port; 0 = any free one. A busy port that nobody asked for falls back to a free one.

    Raises InvalidInput with the next step: a busy port that was asked for, a host that is not ours, a port below 1024.
    """
    try:
        opened = _open(host, port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise InvalidInput(f"cannot listen on {host}:{port} ({error.strerror}): choose another with --host and --port") from error
        if explicit:
            raise InvalidInput(f"port {port} of {host} is in use: choose another with --port, or any free one with --port 0") from error
        opened = _open(host, 0)
    opened.listen(512)
    return opened, int(opened.getsockname()[1])
