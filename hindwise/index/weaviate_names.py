"""The names under which Weaviate keeps our things: derivable, and none that could be read back to a person."""

import base64
import hashlib
import hmac
import json
import uuid

from hindwise.text.remembered import remembered

_NAMESPACE = uuid.UUID("6f0b1f0e-6f57-5c5e-9a53-3d9b6a4d2f11")

MARKER_ID = str(uuid.uuid5(_NAMESPACE, "marker"))
"""The one object of a tenant that is no memory: rewritten whenever something was taken out."""


def collection_name(generation: int, secret: bytes) -> str:
    """One collection per generation and installation, so that several may share a server."""
    return f"Hindwise_g{generation}_{_keyed(secret, 'collection')[:12]}"


@remembered(4_096)
def tenant_name(secret: bytes, space: str) -> str:
    """A space's tenant: `s_` and 52 letters and digits; without the secret nobody can tell which space it is."""
    return f"s_{_keyed(secret, space)[:52]}"


def object_id(memory_id: str) -> str:
    """The id of a memory's object: the memory's own where it is a UUID, else one derived from it."""
    try:
        own = str(uuid.UUID(memory_id))
    except ValueError:
        own = ""
    # The server knows ids in lower case only.
    return own if own == memory_id else str(uuid.uuid5(_NAMESPACE, json.dumps(["memory", memory_id])))


def _keyed(secret: bytes, text: str) -> str:
    return base64.b32encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).decode()
