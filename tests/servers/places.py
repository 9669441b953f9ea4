"""Where the servers' programs lie, and which running servers the environment names."""

import os
import shutil
from pathlib import Path

WEAVIATE_VERSION = "1.39.0"
WEAVIATE_NAME = "weaviate-server"
POSTGRES_URL = "HINDWISE_TEST_POSTGRES_URL"
WEAVIATE_URL = "HINDWISE_TEST_WEAVIATE_URL"
WEAVIATE_GRPC_URL = "HINDWISE_TEST_WEAVIATE_GRPC_URL"
WEAVIATE_API_KEY = "HINDWISE_TEST_WEAVIATE_API_KEY"
HOW = "run `make servers`"


class Missing(RuntimeError):
    """A server is neither found nor named; the message says how to get it."""


def cache() -> Path:
    """Where `make servers` keeps what it built."""
    if given := os.environ.get("HINDWISE_SERVERS_DIR"):
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hindwise" / "servers"


def postgres_bin() -> Path:
    """The directory of initdb and postgres: of the newest release that is installed. Raises Missing."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb") if (path.parent / "postgres").exists()]
    if found:
        return max(found, key=_release)
    on_path = shutil.which("initdb")
    if on_path and (Path(on_path).resolve().parent / "postgres").exists():
        return Path(on_path).resolve().parent
    raise Missing(f"PostgreSQL is not installed: {HOW}, or name a running one with {POSTGRES_URL}")


def _release(bin_dir: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in bin_dir.parent.name.split(".") if part.isdigit())


def weaviate_binary() -> Path:
    """The Weaviate server's program. Raises Missing."""
    built = cache() / WEAVIATE_NAME
    if built.is_file() and os.access(built, os.X_OK):
        return built
    raise Missing(f"Weaviate {WEAVIATE_VERSION} is not built: {HOW}, or name a running one with {WEAVIATE_URL}")
