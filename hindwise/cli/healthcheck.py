"""`python -m hindwise.cli.healthcheck`: exit code 0 while the API of this container answers with its ledger; for health checks alone.

An index or a Temporal that is away does not count: the API serves on without them, and starting it again would cure nothing.
"""

import os
import sys

from hindwise.cli.readiness import ask_ready

_DEFAULT_PORT = "8080"


def main() -> int:
    """Ask /readyz on loopback, at HINDWISE_PORT; say why not."""
    port = os.environ.get("HINDWISE_PORT") or _DEFAULT_PORT
    answered, told = ask_ready(f"http://127.0.0.1:{port}")
    if not answered:
        sys.stderr.write(f"not ready: {told or 'no answer'}\n")
    return 0 if answered else 1


if __name__ == "__main__":
    sys.exit(main())
