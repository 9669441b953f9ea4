"""Does a running API answer, with everything behind it? And where is its first key?"""

import http.client
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Without the environment's proxies: the API that is asked runs on this machine. Standard library: the supervisor stays small."""


def ask_ready(api_url: str, limit_s: float = 3.0) -> tuple[bool, dict[str, Any]]:
    """GET /readyz: whether all is well, and what it says; ({} when nothing answers)."""
    try:
        with _OPENER.open(f"{api_url}/readyz", timeout=limit_s) as answer:
            return True, _document(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return False, _document(error.read())
    except (OSError, http.client.HTTPException):  # nothing there, or something that speaks no HTTP
        return False, {}


def _document(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def is_ready(api_url: str) -> bool:
    """Whether the API answers and everything behind it does, Temporal included."""
    answered, told = ask_ready(api_url)
    # Not the status: it is `degraded` also where the disk is nearly full, which no start cures.
    return answered and all(told.get(part) == "ok" for part in ("ledger", "index", "temporal"))


def first_key(data: Path) -> str:
    """The key that was made at the first start; empty before."""
    path = data / "api_key"
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""
