"""An address of this machine where nobody listens. A fixed low port may be served by the machine that the tests run on."""

import socket
from functools import cache


@cache
def nobody_at() -> str:
    """host:port of loopback that refuses every connection: bound, so that nobody takes it, as long as this process lives, and deaf."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.bind(("127.0.0.1", 0))
    port = int(bound.getsockname()[1])
    bound.detach()  # never closed: the system does so in the end
    return f"127.0.0.1:{port}"
