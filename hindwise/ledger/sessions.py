"""Sessions and their turns: idempotent by turn id, numbered by the ledger, never rewritten."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, insert, select, update

from hindwise.errors import NotFound, SessionOwner, TurnConflict
from hindwise.ledger.databases import insert_new
from hindwise.ledger.direct import Direct
from hindwise.ledger.newest_first import Place, newest_first
from hindwise.ledger.schema import sessions, turns
from hindwise.model.ids import keyed_hash
from hindwise.model.turn import Origin, ToolCall, Turn

RUN_KEY_PREFIX = "~run:"
"""Session key of turns that came with a whole episode; no caller's session id starts with `~`."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as the ledger knows it. `open_seq`: first turn of the open task; `seen_seq`: last turn its workflow acknowledged."""

    tenant_id: str
    session_id: str
    handle: str
    user_id: str
    agent_id: str
    state: str
    last_seq: int
    open_seq: int
    seen_seq: int
    checkpoint: dict[str, Any] | None
    opened_at: datetime
    last_turn_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a batch of turns. `first_seq..last_seq`: the new ones; 0..0 when all were duplicates."""

    session: SessionRow
    recorded: int
    duplicates: int
    first_seq: int
    last_seq: int


_COLUMNS = [sessions.c[name] for name in SessionRow.__dataclass_fields__]

# What every turn runs is told to SQLite directly: SQLAlchemy's way takes several times as long as the answer.
_ASKED = select(*_COLUMNS).where(sessions.c.tenant_id == bindparam("tenant"), sessions.c.session_id == bindparam("session"))
_FIND, _LOCK = Direct(_ASKED), Direct(_ASKED.with_for_update())
_APPEND = Direct(insert(turns))
_KNOWN = Direct(
    select(turns.c.turn_id, turns.c.digest).where(
        turns.c.tenant_id == bindparam("tenant"),
        turns.c.session_key == bindparam("session"),
        turns.c.turn_id.in_(bindparam("turns", expanding=True)),
    )
)
_NEWEST = Direct(
    select(turns.c.turn_id, turns.c.digest, turns.c.seq)
    .where(
        turns.c.tenant_id == bindparam("tenant"),
        turns.c.session_key == bindparam("session"),
        turns.c.seq.between(bindparam("first"), bindparam("last")),
    )
    .order_by(turns.c.seq)
)
_RANGE = Direct(
    select(turns)
    .where(
        turns.c.tenant_id == bindparam("tenant"),
        turns.c.session_key == bindparam("session"),
        turns.c.seq.between(bindparam("first"), bindparam("last")),
    )
    .order_by(turns.c.seq)
)
_ADVANCE = Direct(
    update(sessions)
    .where(sessions.c.tenant_id == bindparam("tenant"), sessions.c.session_id == bindparam("session"))
    .values(last_seq=bindparam("last"), last_turn_at=bindparam("now"), state="open", closed_at=None)
)


def session_handle(secret: bytes, tenant_id: str, session_id: str) -> str:
    """The name of a session in Temporal."""
    return keyed_hash(secret, "session", tenant_id, session_id)


def find(conn: Connection, tenant_id: str, session_id: str) -> SessionRow | None:
    """Return the session, or None."""
    return _session(conn, _FIND, tenant_id, session_id)


def _session(conn: Connection, query: Direct, tenant_id: str, session_id: str) -> SessionRow | None:
    row = query.first(conn, {"tenant": tenant_id, "session": session_id})
    return SessionRow(*row) if row else None


def by_handle(conn: Connection, handle: str) -> SessionRow:
    """Return the session behind a workflow. Raises NotFound."""
    row = conn.execute(select(*_COLUMNS).where(sessions.c.handle == handle)).first()
    if row is None:
        raise NotFound("no session behind this workflow: it was erased")
    return SessionRow(*row)


def page(
    conn: Connection, tenant_id: str, state: str, *, user_id: str = "", ownerless: bool = False, after: Place | None = None, limit: int
) -> list[SessionRow]:
    """Return sessions, newest turn first. `state` empty = any; `ownerless`: only those that name no user."""
    query = select(*_COLUMNS).where(sessions.c.tenant_id == tenant_id)
    if state:
        query = query.where(sessions.c.state == state)
    if user_id:
        query = query.where(sessions.c.user_id == user_id)
    if ownerless:
        query = query.where(sessions.c.user_id == "")
    return [SessionRow(*row) for row in conn.execute(newest_first(query, sessions.c.last_turn_at, sessions.c.handle, after, limit))]


def lock_or_open(
    conn: Connection, secret: bytes, tenant_id: str, session_id: str, user_id: str, agent_id: str, now: datetime
) -> SessionRow:
    """Return the session under a row lock, opened or reopened if needed. Raises SessionOwner when it belongs to another."""
    found = _session(conn, _LOCK, tenant_id, session_id)
    if found is None:
        row = {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "handle": session_handle(secret, tenant_id, session_id),
            "user_id": user_id,
            "agent_id": agent_id,
            "state": "open",
            "last_seq": 0,
            "open_seq": 1,
            "seen_seq": 0,
            "opened_at": now,
            "last_turn_at": now,
        }
        insert_new(conn, sessions, [row])  # another may have opened it just now: then its row stands
        return lock(conn, tenant_id, session_id, user_id, agent_id)
    return _owned(found, user_id, agent_id)


def lock(conn: Connection, tenant_id: str, session_id: str, user_id: str | None = None, agent_id: str | None = None) -> SessionRow:
    """Return an existing session under a row lock. Raises NotFound; SessionOwner when a named user or agent is not its owner."""
    found = _session(conn, _LOCK, tenant_id, session_id)
    if found is None:
        raise NotFound(f"no session {session_id!r}: record a turn first")
    return _owned(found, user_id, agent_id)


def _owned(found: SessionRow, user_id: str | None, agent_id: str | None) -> SessionRow:
    if (user_id is not None and found.user_id != user_id) or (agent_id is not None and found.agent_id != agent_id):
        raise SessionOwner(f"session {found.session_id!r} belongs to another user or agent: use a session id of your own")
    return found


def record_turns(conn: Connection, session: SessionRow, new: Sequence[Turn], now: datetime) -> Recorded:
    """Append turns to a locked session; `seq` of the given turns is ignored.

    The same turn id with the same content counts as a duplicate. Raises TurnConflict (nothing written) for other content.
    Turns without an id are named here; of them, those that the open task ends with already are duplicates (see `_repeated`).
    """
    named = {turn.turn_id for turn in new if turn.turn_id}
    places = range(session.last_seq + 1, session.last_seq + len(new) + 1) if len(named) < len(new) else ()
    known = _digests(conn, session.tenant_id, session.session_id, [*named, *(_own_name(seq) for seq in places)])
    repeated = _repeated(conn, session, new, known) if places else 0
    rows: list[dict[str, Any]] = []
    conflicts: list[str] = []
    for turn in new:
        digest, seq = turn.content_digest(), session.last_seq + len(rows) + 1
        if not turn.turn_id:
            if repeated:
                repeated -= 1
            else:
                name = _own_name(seq) if _own_name(seq) not in known else f"{_own_name(seq)}-{digest[:16]}"
                rows.append(_row(session.tenant_id, session.session_id, seq, turn.model_copy(update={"turn_id": name}), digest, now))
        elif turn.turn_id not in known:
            known[turn.turn_id] = digest
            rows.append(_row(session.tenant_id, session.session_id, seq, turn, digest, now))
        elif known[turn.turn_id] != digest:
            conflicts.append(turn.turn_id)
    if conflicts:
        raise TurnConflict(
            f"{len(conflicts)} turn id(s) are known with other content; nothing was written: send changed words as a new turn",
            extra={"conflicts": conflicts},
        )
    if not rows:
        return Recorded(session, 0, len(new), 0, 0)
    _APPEND.run_each(conn, rows)
    last = session.last_seq + len(rows)
    _ADVANCE.run(conn, {"tenant": session.tenant_id, "session": session.session_id, "last": last, "now": now})
    # Under the row lock nobody else changes it, so it need not be read back.
    changed = replace(session, last_seq=last, last_turn_at=now, state="open", closed_at=None)
    return Recorded(changed, len(rows), len(new) - len(rows), session.last_seq + 1, last)


def _own_name(seq: int) -> str:
    """The id of a turn that came without one."""
    return f"auto-{seq}"


def _repeated(conn: Connection, session: SessionRow, new: Sequence[Turn], known: Collection[str]) -> int:
    """How many of the unnamed turns, from the first on, the session has already.

    A batch begins with what a request before it sent where its first turns are, in order, the newest ones of the open task: the
    whole batch for a request sent again, its older part for a caller who sends the conversation from its beginning each time.
    """
    span = {"first": max(session.open_seq, session.last_seq - len(new) + 1), "last": session.last_seq}
    asked = {"tenant": session.tenant_id, "session": session.session_id, **span}
    tail = [_mark(row.turn_id, row.digest, row.seq) for row in _NEWEST.rows(conn, asked)]
    # A named turn that stands further back was a duplicate in the first request too, and left no row behind.
    marks = [_mark(turn.turn_id, turn.content_digest(), 0) for turn in new]
    head = [mark for mark in marks if not mark[0] or mark in tail or mark[0] not in known]
    longest = next((size for size in range(min(len(head), len(tail)), 0, -1) if tail[-size] == head[0] and tail[-size:] == head[:size]), 0)
    return sum(1 for name, _ in head[:longest] if not name)


def _mark(turn_id: str, digest: str, seq: int) -> tuple[str, str]:
    """What a turn is recognised by: its id, or its content where the id is none of the caller's."""
    unnamed = not turn_id or turn_id == _own_name(seq) or turn_id.startswith(_own_name(seq) + "-")
    return ("", digest) if unnamed else (turn_id, "")


def _digests(conn: Connection, tenant_id: str, session_key: str, turn_ids: Sequence[str]) -> dict[str, str]:
    asked = {"tenant": tenant_id, "session": session_key, "turns": list(turn_ids)}
    return {row.turn_id: row.digest for row in _KNOWN.rows(conn, asked)}


def _row(tenant_id: str, session_key: str, seq: int, turn: Turn, digest: str, now: datetime) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "session_key": session_key,
        "seq": seq,
        "turn_id": turn.turn_id,
        "role": turn.role,
        "origin": str(turn.origin),
        "participant": turn.participant,
        "content": turn.content,
        "name": turn.name,
        "tool_calls": [call.model_dump(mode="json") for call in turn.tool_calls],
        "tool_call_id": turn.tool_call_id,
        "digest": digest,
        "occurred_at": turn.occurred_at,
        "recorded_at": now,
    }


def run_key(episode_id: str) -> str:
    """The session key of the turns that came with a whole episode."""
    return RUN_KEY_PREFIX + episode_id


def record_run_turns(
    conn: Connection, tenant_id: str, key: str, run_turns: Sequence[Turn], now: datetime, *, digests: Sequence[str] | None = None
) -> None:
    """Keep the turns of a whole episode, numbered from 1. `key`: see `run_key`; digests: of their contents, where they are known."""
    known = [turn.content_digest() for turn in run_turns] if digests is None else digests
    if run_turns:
        each = enumerate(zip(run_turns, known, strict=True), start=1)
        _APPEND.run_each(conn, [_row(tenant_id, key, seq, turn, said, now) for seq, (turn, said) in each])


def turns_of(conn: Connection, tenant_id: str, session_key: str, first_seq: int, last_seq: int) -> tuple[Turn, ...]:
    """Return turns first_seq..last_seq (inclusive) in order."""
    asked = {"tenant": tenant_id, "session": session_key, "first": first_seq, "last": last_seq}
    return tuple(_turn(row) for row in _RANGE.rows(conn, asked))


def recorded_times(conn: Connection, tenant_id: str, session_key: str, seqs: Collection[int]) -> dict[int, datetime]:
    """When the turns of these numbers came, by the ledger's clock; those that are gone are left out."""
    query = select(turns.c.seq, turns.c.recorded_at).where(
        turns.c.tenant_id == tenant_id, turns.c.session_key == session_key, turns.c.seq.in_(list(seqs))
    )
    return {row.seq: row.recorded_at for row in conn.execute(query)}


def _turn(row: Row[Any]) -> Turn:
    return Turn(
        seq=row.seq,
        turn_id=row.turn_id,
        role=row.role,
        origin=Origin(row.origin),
        participant=row.participant,
        content=row.content,
        name=row.name,
        tool_calls=tuple(ToolCall(**call) for call in row.tool_calls),
        tool_call_id=row.tool_call_id,
        occurred_at=row.occurred_at,
    )


def mark_seen(conn: Connection, handle: str, seq: int) -> None:
    """Note that the session's workflow acknowledged turns up to `seq`; never backwards."""
    conn.execute(update(sessions).where(sessions.c.handle == handle, sessions.c.seen_seq < seq).values(seen_seq=seq))


def set_open_seq(conn: Connection, session: SessionRow, open_seq: int) -> None:
    """The next task begins at `open_seq`."""
    conn.execute(
        update(sessions)
        .where(sessions.c.tenant_id == session.tenant_id, sessions.c.session_id == session.session_id)
        .values(open_seq=open_seq)
    )


def set_checkpoint(conn: Connection, session: SessionRow, checkpoint: dict[str, Any]) -> None:
    """Keep what is done, what is next and notes, for whoever resumes."""
    conn.execute(
        update(sessions)
        .where(sessions.c.tenant_id == session.tenant_id, sessions.c.session_id == session.session_id)
        .values(checkpoint=checkpoint)
    )


def close(conn: Connection, session: SessionRow, now: datetime) -> None:
    """The session ended; a later turn reopens it."""
    conn.execute(
        update(sessions)
        .where(sessions.c.tenant_id == session.tenant_id, sessions.c.session_id == session.session_id)
        .values(state="closed", closed_at=now)
    )


def unseen(conn: Connection, older_than: datetime, limit: int) -> list[SessionRow]:
    """Return sessions with turns that no workflow acknowledged and whose last turn is older than `older_than`."""
    behind = and_(sessions.c.seen_seq < sessions.c.last_seq, sessions.c.last_turn_at < older_than)
    query = select(*_COLUMNS).where(behind).order_by(sessions.c.last_turn_at).limit(limit)
    return [SessionRow(*row) for row in conn.execute(query)]
