"""Which index serves, which is being built beside it, and which are kept from before: one row per build, numbered for good.

    wanted ─▶ building ─▶ live ─▶ draining ─▶ old ─▶ dropped
        │        └─▶ abandoned ─────────────────────▶┤
        └───────────────────────────────────────────▶┘

One row is live. While others build or drain, each change goes to all of them: whoever takes off an outbox mark reads this table in the
same transaction. The row also keeps how far a build has come, so that it goes on after whatever ended it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Connection, case, insert, literal_column, or_, select, type_coerce, update

from hindwise.errors import NotAllowed, NotFound
from hindwise.ledger import leases, whole_index
from hindwise.ledger.prepared import Prepared
from hindwise.ledger.schema import generations


class State(StrEnum):
    """Where a generation stands."""

    WANTED = "wanted"
    BUILDING = "building"
    LIVE = "live"
    DRAINING = "draining"
    OLD = "old"
    ABANDONED = "abandoned"
    DROPPED = "dropped"


WRITTEN: Final = frozenset({State.BUILDING, State.LIVE, State.DRAINING})
"""Get every change. Draining: replaced a moment ago, so a process that has not noticed yet still asks it."""
KEPT: Final = WRITTEN | {State.OLD, State.ABANDONED}
"""May hold something, so what is erased is taken out of them too."""
OPEN: Final = (State.WANTED, State.BUILDING)


class Spec(NamedTuple):
    """What vectors and words of a generation were made with. Of two specs the vectors are never compared with each other."""

    model: str
    dim: int
    tokenizer: int


class Generation(NamedTuple):
    """One build, as far as everybody needs to know it. `holes`: not all of it was written with its own embedder."""

    no: int
    kind: str
    model: str
    dim: int
    tokenizer: int
    state: str
    holes: bool

    @property
    def spec(self) -> Spec:
        """What it was made with."""
        return Spec(self.model, self.dim, self.tokenizer)


@dataclass(frozen=True, slots=True)
class Build:
    """How far a build has come. `done`, `total`: memories; `report`: counts of checks and comparison, once there are any."""

    generation: Generation
    phase: str
    note: str
    done: int
    total: int
    space_no: int
    memory_id: str
    report: Mapping[str, Any]
    created_at: datetime
    switched_at: datetime | None


HELD_FOR: Final = timedelta(minutes=2)
"""So long what a worker said keeps a generation from being begun is told; clocks of machines may differ by one."""
_HELD = "held"
_REPLACES = "replaces"
_REFILL = "refill"
REPLACED_AGAIN: Final = timedelta(minutes=10)
"""So long what took the place of a damaged index is not replaced itself: a disk that damages all of them gets no new one each second."""
_SHORT = tuple(generations.c[name] for name in ("no", "index_kind", "embed_model", "dim", "tokenizer_version", "state", "holes"))
_KEPT_ROWS = Prepared(
    select(*_SHORT)
    .where(generations.c.state.in_([literal_column(f"'{state}'") for state in sorted(KEPT)]))
    .order_by(type_coerce(generations.c.no, BigInteger))
)
_IS_LIVE = generations.c.state == str(State.LIVE)


def kept(conn: Connection) -> tuple[Generation, ...]:
    """Return what may hold something, by number. Asked at every lease, so it costs microseconds."""
    return tuple(_generation(*row) for row in _KEPT_ROWS.rows(conn, {}))


def _generation(no: int, kind: str, model: str, dim: int, tokenizer: int, state: str, holes: int) -> Generation:
    return Generation(no, kind, model, dim, tokenizer, state, bool(holes))


def written(found: Sequence[Generation]) -> tuple[Generation, ...]:
    """Those of `found` that get every change."""
    return tuple(generation for generation in found if generation.state in WRITTEN)


def live_of(found: Sequence[Generation]) -> Generation | None:
    """The one that serves, if there is any."""
    return next((generation for generation in found if generation.state == State.LIVE), None)


def _lock(conn: Connection) -> None:
    """Let one transaction at a time change which generation is what."""
    leases.alone(conn, "generations")


def ensure_live(conn: Connection, kind: str, spec: Spec, now: datetime) -> Generation:
    """Return the live generation, whatever it was made with; the first one begins here.

    Where nothing is remembered yet, one of another kind or spec is simply replaced: there is nothing to build.
    """
    _lock(conn)
    found = live_of(kept(conn))
    if found is not None and ((found.kind, found.spec) == (kind, spec) or whole_index.has_memories(conn)):
        return found
    conn.execute(update(generations).where(_IS_LIVE).values(state=str(State.OLD)))
    number = _insert(conn, kind, spec, State.LIVE, now)
    whole_index.mark_all_dirty(conn, now)
    return Generation(number, kind, *spec, state=str(State.LIVE), holes=False)


def request(conn: Connection, kind: str, now: datetime, spec: Spec | None = None) -> Generation:
    """Ask for a new generation beside the live one; a build of the same kind that is under way is the answer.

    spec: what it must be made with; None = whatever the worker that begins it has. A build of another spec is given up for it.
    Raises NotAllowed where one of another kind is being built.
    """
    _lock(conn)
    for row in conn.execute(select(*_SHORT).where(generations.c.state.in_([str(state) for state in OPEN]))).all():
        found = Generation(*row)
        if spec is not None and found.model and found.spec != spec:
            _set(conn, found.no, state=str(State.ABANDONED), note="another embedding model or tokeniser came")
        elif found.kind != kind:
            raise NotAllowed(f"generation {found.no} ({found.kind}) is being built: wait for it, or `hindwise reindex --cancel`")
        else:
            return found
    number = _insert(conn, kind, spec or Spec("", 0, 0), State.WANTED, now)
    return Generation(number, kind, *(spec or Spec("", 0, 0)), state=str(State.WANTED), holes=False)


def _insert(conn: Connection, kind: str, spec: Spec, state: State, now: datetime) -> int:
    made = conn.execute(
        insert(generations)
        .values(index_kind=kind, embed_model=spec.model, dim=spec.dim, tokenizer_version=spec.tokenizer, state=str(state), created_at=now)
        .returning(generations.c.no)
    )
    return int(made.scalar_one())


def _set(conn: Connection, number: int, **values: Any) -> None:
    conn.execute(update(generations).where(generations.c.no == number).values(**values))


def build_of(conn: Connection, number: int) -> Build:
    """Return one generation with its progress. Raises NotFound."""
    row = conn.execute(select(generations).where(generations.c.no == number)).first()
    if row is None:
        raise NotFound(f"no generation {number}")
    return _build(row)


def open_builds(conn: Connection) -> list[Build]:
    """Return what is wanted or being built, oldest first."""
    query = select(generations).where(generations.c.state.in_([str(state) for state in OPEN])).order_by(generations.c.no)
    return [_build(row) for row in conn.execute(query)]


def _build(row: Any) -> Build:
    short = Generation(row.no, row.index_kind, row.embed_model, row.dim, row.tokenizer_version, row.state, bool(row.holes))
    return Build(
        short, row.phase, row.note, row.done, row.total, row.space_no, row.memory_id, row.report or {}, row.created_at, row.switched_at
    )


def begin(conn: Connection, number: int, spec: Spec) -> Build:
    """Begin, or go on with, a wanted generation: from here on each change reaches it too. Counts what there is to do.

    One that was given up, or serves already, is returned as it is. Raises NotFound.
    """
    _lock(conn)
    build = build_of(conn, number)
    if build.generation.state == State.WANTED:
        made_with = {"embed_model": spec.model, "dim": spec.dim, "tokenizer_version": spec.tokenizer}
        _set(conn, number, state=str(State.BUILDING), phase="fill", note="", report=None, **made_with)
    if build.generation.state in OPEN:
        _set(conn, number, total=whole_index.live_memories(conn))
    return build_of(conn, number)


def progress(conn: Connection, number: int, *, space_no: int, memory_id: str, added: int) -> None:
    """Note that everything up to this memory of this space is in the new generation."""
    _set(conn, number, space_no=space_no, memory_id=memory_id, done=generations.c.done + added, phase="fill", note="")


def restart(conn: Connection, number: int) -> None:
    """Fill a building generation from the beginning: what is there is written again."""
    _set(conn, number, space_no=0, memory_id="", done=0, phase="fill", note="", total=whole_index.live_memories(conn))


def note(conn: Connection, number: int, phase: str, text: str = "") -> None:
    """Say what happens to a generation, or what it waits for."""
    _set(conn, number, phase=phase, note=text[:1000])


def say(conn: Connection, number: int, phase: str, text: str | None = "") -> None:
    """As `note`, of a build that is under way; text: None leaves what is said of the same phase, for a step that is tried again.

    Raises NotFound where it was given up, or serves.
    """
    its = (generations.c.no == number, generations.c.state.in_([str(state) for state in OPEN]))
    told: Any = case((generations.c.phase == phase, generations.c.note), else_="") if text is None else text[:1000]
    if not conn.execute(update(generations).where(*its).values(phase=phase, note=told)).rowcount:
        raise NotFound(f"generation {number} is not being built any more")


def release(conn: Connection, number: int) -> None:
    """A person answered what waits; without effect where the answer was carried out already."""
    waits = (generations.c.no == number, generations.c.phase == "needs_attention", generations.c.state.in_([str(state) for state in OPEN]))
    conn.execute(update(generations).where(*waits).values(phase="released", note=""))


def hold(conn: Connection, number: int, why: str, now: datetime) -> None:
    """Say what keeps a wanted generation from being begun; whoever can begin it does so all the same.

    Workers may lack different things: each says its own again and again, all are told, and what nobody says any more is left out.
    """
    _lock(conn)
    build = build_of(conn, number)
    if build.generation.state != State.WANTED:
        return
    said = build.report.get(_HELD, {}) if build.phase == "needs_attention" else {}
    lasting = {cause: at for cause, at in said.items() if now - datetime.fromisoformat(at) < HELD_FOR} | {why: now.isoformat()}
    _set(conn, number, report={_HELD: lasting})
    causes = sorted(lasting)
    told = why if len(causes) == 1 else " ".join(f"({at}) {cause.rstrip('.')}." for at, cause in enumerate(causes, start=1))
    note(conn, number, "needs_attention", told if len(causes) == 1 else f"Workers lack different things. {told}")


def switch(conn: Connection, number: int, report: Mapping[str, Any], now: datetime) -> bool:
    """Let a built generation serve; the one before drains. True also where it serves already; False where it was given up."""
    _lock(conn)
    state = build_of(conn, number).generation.state
    if state in (State.LIVE, State.DRAINING, State.OLD):
        return True
    if state != State.BUILDING:
        return False
    conn.execute(update(generations).where(_IS_LIVE).values(state=str(State.DRAINING)))
    _set(conn, number, state=str(State.LIVE), phase="drain", note="", report=dict(report), switched_at=now)
    return True


def replace_damaged(conn: Connection, number: int, why: str, now: datetime) -> int | None:
    """Let a new, empty generation like it serve instead of a lost one, and return its number; it is to be filled by whoever opens it.

    None where this one does not serve (another process came first), or itself took the place of a lost one a moment ago. The lost one may
    hold something of what is erased later, until its files are removed.
    """
    _lock(conn)
    live = live_of(kept(conn))
    if live is None or live.no != number:
        return None
    build = build_of(conn, number)
    if _REPLACES in build.report and now - build.created_at < REPLACED_AGAIN:
        return None
    _set(conn, number, state=str(State.ABANDONED), phase="abandoned", note=why[:1000])
    new = _insert(conn, live.kind, live.spec, State.LIVE, now)
    _set(conn, new, phase=_REFILL if whole_index.has_memories(conn) else "", report={_REPLACES: number}, switched_at=now)
    return new


def settle(conn: Connection, number: int) -> None:
    """After a switch was noticed everywhere: what served before gets no changes any more, and is kept until told."""
    _lock(conn)
    # By time, not by number alone: what took the place of a damaged one has a higher number than a build that began before.
    switched = conn.execute(select(generations.c.switched_at).where(generations.c.no == number)).scalar_one_or_none()
    before = or_(generations.c.no < number, generations.c.switched_at < switched)
    conn.execute(update(generations).where(generations.c.state == str(State.DRAINING), before).values(state=str(State.OLD)))
    conn.execute(update(generations).where(generations.c.no == number, generations.c.phase != _REFILL).values(phase="done"))


def overdue(conn: Connection, before: datetime) -> int | None:
    """Return the live generation that replaced another one before `before`, where that still drains: whoever was to end it is gone."""
    if not any(generation.state == State.DRAINING for generation in kept(conn)):
        return None
    return conn.execute(select(generations.c.no).where(_IS_LIVE, generations.c.switched_at < before)).scalar_one_or_none()


def abandon(conn: Connection, number: int, why: str) -> bool:
    """Give a build up; False where there is none to give up. One that nobody began holds nothing, so nothing of it is kept."""
    _lock(conn)
    state = build_of(conn, number).generation.state
    if state not in OPEN:
        return False
    left = State.DROPPED if state == State.WANTED else State.ABANDONED
    _set(conn, number, state=str(left), phase="abandoned", note=why[:1000])
    return True


def droppable(conn: Connection) -> list[Generation]:
    """What serves no longer, and was not removed yet."""
    return [generation for generation in kept(conn) if generation.state in (State.OLD, State.ABANDONED)]


def set_dropped(conn: Connection, number: int) -> None:
    """Its index was removed. The number is never given again."""
    _set(conn, number, state=str(State.DROPPED))


def set_holes(conn: Connection, number: int) -> None:
    """Note that something was written without the vectors that belong there: it must be built anew before it counts as whole."""
    _set(conn, number, holes=True)


def models_in_use(conn: Connection) -> set[str]:
    """Embedding models of all generations that are kept."""
    return {generation.model for generation in kept(conn)} | {build.generation.model for build in open_builds(conn)}


def begin_refill(conn: Connection, number: int) -> bool:
    """Note that the index of the live generation lost something and is being filled again.

    False where this one does not serve, or there is nothing that could be lost.
    """
    live = live_of(kept(conn))
    if live is None or live.no != number or not whole_index.has_memories(conn):
        return False
    note(conn, number, _REFILL, "its index was lost: every memory is being marked to be written again")
    return True


def is_refilled(conn: Connection, number: int) -> bool:
    """Whether that began and did not end."""
    return conn.execute(select(generations.c.phase).where(generations.c.no == number)).scalar_one_or_none() == _REFILL


def end_refill(conn: Connection, number: int) -> None:
    """Every memory is marked: until each is written, a recall reads past the index."""
    _set(conn, number, phase="done", note="")
