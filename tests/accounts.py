"""What a caller was promised, and whether the ledger kept it: nothing lost, nothing twice. Temporal is never asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from sqlalchemy import Connection, func, select

from hindwise.ledger import outbox as outbox_rows
from hindwise.ledger.schema import drafts, episodes, evidence, memories, memory_events, outbox, reflections, turns
from hindwise.ledger.sessions import run_key
from hindwise.model.ids import memory_of
from hindwise.model.reflection import FINAL

_WROTE = {"add", "supersede", "late", "retract"}


@dataclass
class Accounts:
    """Everything that was accepted (200 or 202), as the caller saw it. Safe from any thread."""

    turns: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Session id, or the ledger's name for a run -> (turn id, content) in the order of acceptance."""
    episodes: dict[str, str] = field(default_factory=dict)
    """Episode id -> reflection id."""
    completed: Counter[str] = field(default_factory=Counter)
    """Session or run id -> how many tasks of it were completed."""
    lock: Lock = field(default_factory=Lock)

    def recorded(self, session_id: str, sent: Sequence[dict[str, Any]]) -> None:
        """Turns were accepted."""
        with self.lock:
            self.turns.setdefault(session_id, []).extend((turn["turn_id"], turn["content"] or "") for turn in sent)

    def accepted(self, key: str, answer: dict[str, Any], run: Sequence[dict[str, Any]] = ()) -> None:
        """A task was accepted. `key`: its session or run; `run`: the turns that came with it, where it is a whole run."""
        with self.lock:
            known = self.episodes.setdefault(answer["episode_id"], answer["reflection_id"])
            assert known == answer["reflection_id"]
            self.completed[key] += 1
        if run:
            self.recorded(run_key(answer["episode_id"]), run)

    def count(self) -> int:
        """Accepted tasks so far."""
        with self.lock:
            return len(self.episodes)


def unfinished(conn: Connection) -> int:
    """Reflections that are not final."""
    open_ones = reflections.c.status.not_in([str(status) for status in FINAL])
    return int(conn.execute(select(func.count()).select_from(reflections).where(open_ones)).scalar_one())


def is_settled(conn: Connection, expected: int) -> bool:
    """Whether all reflections are final, `expected` of them, and no memory waits for the index."""
    total = conn.execute(select(func.count()).select_from(reflections)).scalar_one()
    waiting = conn.execute(select(func.count()).select_from(outbox)).scalar_one()
    return total >= expected and not unfinished(conn) and not waiting


def check(conn: Connection, accounts: Accounts) -> None:
    """Assert that the ledger holds all of `accounts` exactly once, and what follows from it exactly once."""
    _check_turns(conn, accounts)
    _check_episodes(conn, accounts)
    for episode_id, reflection_id in accounts.episodes.items():
        _check_reflection(conn, episode_id, reflection_id)
    _check_memories(conn)
    assert not list(outbox_rows.space_numbers(conn, 10))


def _check_turns(conn: Connection, accounts: Accounts) -> None:
    for session_id, sent in accounts.turns.items():
        query = select(turns.c.seq, turns.c.turn_id, turns.c.content).where(turns.c.session_key == session_id).order_by(turns.c.seq)
        rows = list(conn.execute(query))
        assert [(row.turn_id, row.content) for row in rows] == sent, f"turns of {session_id}"
        assert [row.seq for row in rows] == list(range(1, len(sent) + 1))


def _check_episodes(conn: Connection, accounts: Accounts) -> None:
    rows = list(conn.execute(select(episodes.c.id, episodes.c.session_id, episodes.c.run_id)))
    assert {row.id for row in rows} == set(accounts.episodes)
    assert Counter(row.session_id or row.run_id for row in rows) == accounts.completed


def _check_reflection(conn: Connection, episode_id: str, reflection_id: str) -> None:
    """One, final, its answer asked for once, its memories those that it decided on."""
    rows = list(conn.execute(select(reflections).where(reflections.c.episode_id == episode_id)))
    assert [row.id for row in rows] == [reflection_id]
    row = rows[0]
    assert row.status == "completed", (row.status, row.skip_reason, row.error)
    assert row.written_by
    attempts = conn.execute(select(func.count()).select_from(drafts).where(drafts.c.reflection_id == reflection_id)).scalar_one()
    assert attempts == 1
    wrote = {memory_of(reflection_id, decision["ordinal"]) for decision in row.decisions if decision["action"] in _WROTE}
    kept = list(conn.execute(select(memories.c.id).where(memories.c.reflection_id == reflection_id)).scalars())
    assert sorted(kept) == sorted(wrote)
    ordinals = Counter(decision["ordinal"] for decision in row.decisions)
    assert all(number == 1 for number in ordinals.values())


def _check_memories(conn: Connection) -> None:
    """No conclusion stands twice, each memory was added by one event, and evidence counts episodes and not retries."""
    rows = list(conn.execute(select(memories)))
    live = Counter((row.space, row.kind, row.slot_key or row.duplicate_key) for row in rows if row.status == "active" and not _older(row))
    assert [key for key, number in live.items() if number > 1] == []
    per_reflection = Counter((row.reflection_id, row.space, row.kind, row.conclusion) for row in rows)
    assert [key for key, number in per_reflection.items() if number > 1] == []
    recorded = Counter(conn.execute(select(memory_events.c.memory_id).where(memory_events.c.action == "recorded")).scalars())
    assert recorded == Counter(row.id for row in rows)
    places = Counter(
        tuple(row) for row in conn.execute(select(evidence.c.memory_id, evidence.c.episode_id, evidence.c.seq, evidence.c.quote))
    )
    assert [key for key, number in places.items() if number > 1] == []
    for row in rows:
        standing = select(func.count(evidence.c.episode_id.distinct())).where(evidence.c.memory_id == row.id)
        assert row.evidence_count == max(1, conn.execute(standing).scalar_one()), row.conclusion


def _older(row: Any) -> bool:
    """A former value of a slot that stayed active behind the head."""
    return row.slot_key is not None and not row.head
