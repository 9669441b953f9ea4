"""How an id is made. The same input gives the same id, so a repeated step finds what the first one wrote.

Parts go through JSON, so ("a", "bc") and ("ab", "c") differ. All ids are lower-case uuids without any readable part.
"""

import hashlib
import hmac
import json
from base64 import b32encode
from uuid import UUID, uuid5

_NAMESPACE = UUID("6b7f6f6e-5f3c-5b0e-9a55-68696e647773")

# Made once: `json.dumps` makes one for each call, which takes as long as a short list.
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str).encode


def derive(kind: str, *parts: str | int) -> str:
    """Return the uuid5 of `[kind, *parts]` as JSON."""
    return str(uuid5(_NAMESPACE, _as_json([kind, *parts])))


def episode_of_run(tenant: str, source: str, run_id: str) -> str:
    """Id of the episode that a caller delimited by its own run id."""
    return derive("episode", tenant, "run", source, run_id)


def episode_of_range(tenant: str, session_id: str, first_seq: int, last_seq: int) -> str:
    """Id of the episode cut from a session: sequence numbers are the ledger's, both inclusive."""
    return derive("episode", tenant, "session", session_id, first_seq, last_seq)


def reflection_of(episode_id: str, reflector: str, model: str, prompt_version: str, run_number: int) -> str:
    """Id of one look back. `run_number` rises with a corrected outcome or a wanted re-run."""
    return derive("reflection", episode_id, reflector, model, prompt_version, run_number)


def memory_of(reflection_id: str, ordinal: int) -> str:
    """Id of the memory that a reflection's draft number `ordinal` becomes."""
    return derive("memory", reflection_id, ordinal)


def keyed_hash(secret: bytes, *parts: str) -> str:
    """Return 32 lower-case characters that name `parts` without telling them (HMAC-SHA256, base32).

    Everything a caller chose reaches Temporal and index tenants in this form only.
    """
    hashed = hmac.digest(secret, _as_json(list(parts)).encode(), "sha256")
    return b32encode(hashed[:20]).decode().lower()  # 20 bytes are 32 characters


def digest(value: object) -> str:
    """Return the sha256 of `value` as canonical JSON: same content, same digest, whatever the key order."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()
