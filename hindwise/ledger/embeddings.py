"""Vectors by space, model and text hash: computed once, erased with their space, never mixed between models."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, select

from hindwise.embed.precision import as_kept
from hindwise.ledger.databases import insert_new
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import embeddings, memories

Vector = npt.NDArray[np.float32]


def store(conn: Connection, space_no: int, model: str, vectors: Mapping[str, Vector]) -> None:
    """Keep vectors (float32 [dim], see `kept_passages`) by text hash."""
    rows = [
        {"space_no": space_no, "model": model, "text_hash": text_hash, "vector": vector.astype(np.float32).tobytes()}
        for text_hash, vector in vectors.items()
    ]
    if rows:
        insert_new(conn, embeddings, rows)


_LOAD = Prepared(
    select(embeddings.c.space_no, embeddings.c.text_hash, embeddings.c.vector).where(
        embeddings.c.space_no.in_(bindparam("spaces", expanding=True)),
        embeddings.c.model == bindparam("model"),
        embeddings.c.text_hash.in_(bindparam("hashes", expanding=True)),
    ),
    few=["spaces"],
)


def load(conn: Connection, space_nos: Sequence[int], model: str, text_hashes: Sequence[str]) -> dict[tuple[int, str], Vector]:
    """Return known vectors by (space number, text hash)."""
    if not space_nos or not text_hashes:
        return {}
    rows = _LOAD.rows(conn, {"spaces": list(space_nos), "model": model, "hashes": list(text_hashes)})
    return dict(zip([(space_no, text_hash) for space_no, text_hash, _ in rows], read_vectors([vector for *_, vector in rows]), strict=True))


def read_vectors(stored: Sequence[bytes]) -> list[Vector]:
    """Return vectors (float32 [dim]) of one model from their bytes, as they are kept: those of earlier versions were not rounded."""
    if not stored:
        return []
    together = np.frombuffer(b"".join(stored), dtype=np.float32)
    return list(as_kept(together.reshape(len(stored), -1)))


def purge_unused(conn: Connection, space_no: int, limit: int) -> int:
    """Delete vectors of a space whose text no memory there has any more, at most `limit` texts; return how many rows went."""
    used = select(memories.c.text_hash).where(memories.c.space_no == space_no)
    query = select(embeddings.c.text_hash).where(embeddings.c.space_no == space_no, embeddings.c.text_hash.not_in(used)).distinct()
    unused = list(conn.execute(query.limit(limit)).scalars())
    if not unused:
        return 0
    return int(conn.execute(delete(embeddings).where(embeddings.c.space_no == space_no, embeddings.c.text_hash.in_(unused))).rowcount)


def purge_models(conn: Connection, kept: set[str], limit: int) -> int:
    """Delete vectors of models that are not in `kept`, at most `limit`; return how many went."""
    query = select(embeddings.c.space_no, embeddings.c.model, embeddings.c.text_hash).where(embeddings.c.model.not_in(sorted(kept)))
    found = conn.execute(query.limit(limit)).all()
    for row in found:
        same = (embeddings.c.space_no == row.space_no, embeddings.c.model == row.model, embeddings.c.text_hash == row.text_hash)
        conn.execute(delete(embeddings).where(*same))
    return len(found)
