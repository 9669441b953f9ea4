"""What models cost, by tenant, day and model; and what is held for questions under way, so that many workers keep to one ceiling.

Before a question its estimate is held, under a lock of the tenant's day; after the answer the real cost takes its place. A hold whose
worker died counts as used when the question is asked again: nobody knows whether it was answered.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from hindwise.ledger import tallies
from hindwise.ledger.databases import insert_new
from hindwise.ledger.schema import model_days, model_holds, model_totals
from hindwise.model.ids import derive
from hindwise.model.reflection import Usage

_HEAD = ""
"""In the place of a model: the row that is locked, which counts nothing."""
_OUTLIVED = timedelta(days=1)
"""No question takes so long: what is held for longer was never asked, or nobody lived to tell what it cost."""
_ROUNDING = 1e-9
"""Costs that were added in another order may differ by so much."""
_COUNTED = ("calls", "reasks", "prompt_tokens", "completion_tokens", "lost_tokens", "cost", "priced_calls", "saved", "refused")


@dataclass(frozen=True, slots=True)
class Hold:
    """What one question may cost, kept free for it. `asked_by`: names the asking; another asking of the same question has another."""

    id: str
    tenant_id: str
    day: str
    tokens: int
    asked_by: str


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens of one tenant's day. `held`: for questions under way."""

    used: int
    held: int

    def takes(self, tokens: int, ceiling: int) -> bool:
        """Whether one more question of so many fits. A ceiling of 0 is none."""
        return not ceiling or self.used + self.held + tokens <= ceiling


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model cost on one day (UTC), or in all. `cost`: null where no price is known; else of `priced_calls` of the `calls`.

    `reasks`: calls after a complaint. `lost_tokens`: held for questions that were cut off, and counted as used. `saved`: tasks that the
    free check found not worth a question. `refused`: tasks that rules reflected because the day's tokens were used up.
    """

    day: str
    model: str
    calls: int
    reasks: int
    prompt_tokens: int
    completion_tokens: int
    lost_tokens: int
    cost: float | None
    priced_calls: int
    saved: int
    refused: int


def hold_id(reflection_id: str, attempt: int) -> str:
    """Id of the hold for one question of a reflection."""
    return derive("hold", reflection_id, attempt)


def room(conn: Connection, tenant_id: str, day: str, *, but: str = "") -> Room:
    """Return what is used and held. but: id of a hold that is left out.

    One statement, so that a question which is settled meanwhile counts once: as held, or as used.
    """
    spent = func.coalesce(func.sum(model_days.c.prompt_tokens + model_days.c.completion_tokens + model_days.c.lost_tokens), 0)
    kept = func.coalesce(func.sum(model_holds.c.tokens), 0)
    used = select(spent).where(model_days.c.tenant_id == tenant_id, model_days.c.day == day).scalar_subquery()
    held = select(kept).where(model_holds.c.tenant_id == tenant_id, model_holds.c.day == day, model_holds.c.id != but).scalar_subquery()
    row = conn.execute(select(used, held)).one()
    return Room(int(row[0]), int(row[1]))


def is_held(conn: Connection, held: str, day: str) -> bool:
    """Whether tokens of this day are kept for a question already."""
    return conn.execute(select(model_holds.c.id).where(model_holds.c.id == held, model_holds.c.day == day)).first() is not None


def hold(
    conn: Connection, held: str, tenant_id: str, model: str, day: str, *, tokens: int, ceiling: int, asked_by: str, now: datetime
) -> Hold | Room:
    """Keep `tokens` free for a question, or return the room that is too small. Asked again by the same `asked_by` it finds the first.

    asked_by: "" where it is only planned; whoever asks then takes that over. Locks the tenant's day until the transaction ends.
    """
    insert_new(conn, model_days, [{"tenant_id": tenant_id, "day": day, "model": _HEAD}])
    conn.execute(select(model_days.c.day).where(_key(tenant_id, day, _HEAD)).with_for_update()).one()
    _end_outlived(conn, tenant_id, model, now - _OUTLIVED)
    if (before := _taken_over(conn, held, day, model, asked_by)) is not None:
        return before
    found = room(conn, tenant_id, day)
    if not found.takes(tokens, ceiling):
        return found
    row = {"id": held, "tenant_id": tenant_id, "day": day, "tokens": tokens, "asked_by": asked_by, "at": now}
    insert_new(conn, model_holds, [row])
    return Hold(held, tenant_id, day, tokens, asked_by)


def _end_outlived(conn: Connection, tenant_id: str, model: str, before: datetime) -> None:
    """Free what was only planned. What was asked counts as used: its worker died, or the clock of another leapt ahead of it."""
    outlived = (model_holds.c.tenant_id == tenant_id, model_holds.c.at < before)
    rows = conn.execute(select(model_holds.c.day, model_holds.c.tokens, model_holds.c.asked_by).where(*outlived)).all()
    for row in rows:
        if row.asked_by:
            _count(conn, tenant_id, row.day, model, lost_tokens=row.tokens)
    if rows:
        conn.execute(delete(model_holds).where(*outlived))


def _taken_over(conn: Connection, held: str, day: str, model: str, asked_by: str) -> Hold | None:
    """What was planned for this question or held by this asking. What another asking held is counted as used: it may have been asked."""
    before = conn.execute(select(model_holds).where(model_holds.c.id == held)).first()
    if before is None:
        return None
    mine = before.asked_by in ("", asked_by)
    if mine and before.day == day:
        conn.execute(update(model_holds).where(model_holds.c.id == held).values(asked_by=asked_by))
        return Hold(held, before.tenant_id, day, before.tokens, asked_by)
    conn.execute(delete(model_holds).where(model_holds.c.id == held))
    if not mine:
        _count(conn, before.tenant_id, before.day, model, lost_tokens=before.tokens)
    return None


def settle(conn: Connection, held: Hold, usage: Usage, model: str, *, lost: bool = False) -> bool:
    """Count what a question cost in the place of what was held for it. False, and nothing is counted, where that was done already.

    lost: nobody knows what it cost; what was held for it counts as used.
    """
    of_this = (model_holds.c.id == held.id, model_holds.c.asked_by == held.asked_by)
    if not conn.execute(delete(model_holds).where(*of_this)).rowcount:
        return False
    if lost:
        _count(conn, held.tenant_id, held.day, model, lost_tokens=held.tokens)
    elif usage.calls:
        priced = {"cost": usage.cost, "priced_calls": usage.calls} if usage.cost is not None else {}
        counts = {name: getattr(usage, name) for name in ("calls", "reasks", "prompt_tokens", "completion_tokens")}
        _count(conn, held.tenant_id, held.day, model, **counts, **priced)
    return True


def give_back(conn: Connection, reflection_id: str) -> None:
    """Free what was planned for a reflection's first question and never asked."""
    conn.execute(delete(model_holds).where(model_holds.c.id == hold_id(reflection_id, 1), model_holds.c.asked_by == ""))


def count_saved(conn: Connection, tenant_id: str, day: str, model: str) -> None:
    """A task that the free check found not worth a question."""
    _count(conn, tenant_id, day, model, saved=1)


def count_refused(conn: Connection, tenant_id: str, day: str, model: str) -> None:
    """A task that rules reflected because the day's tokens were used up."""
    _count(conn, tenant_id, day, model, refused=1)


def by_day(conn: Connection, tenant_id: str, since: str) -> list[Spent]:
    """What a tenant's models cost from the day `since` on, the newest day first."""
    query = select(model_days).where(model_days.c.tenant_id == tenant_id, model_days.c.day >= since, model_days.c.model != _HEAD)
    return [_spent(row) for row in conn.execute(query.order_by(model_days.c.day.desc(), model_days.c.model))]


def by_model(conn: Connection) -> list[Spent]:
    """What each model cost in all, over all tenants and days: a few rows for each, however many of both there are."""
    sums = [func.sum(model_totals.c[name]).label(name) for name in _COUNTED]
    query = select(model_totals.c.model, *sums).group_by(model_totals.c.model).order_by(model_totals.c.model)
    return [_spent(row) for row in conn.execute(query)]


def complete_sums(conn: Connection) -> int:
    """Add to the sums by model what the days hold and they lack, and return of how many models: see `catch_up`.

    Whoever counts at the same moment adds to both, so what they lack stays the same.
    """
    of_days, of_sums = (
        select(table.c.model, *(func.sum(table.c[name]).label(name) for name in _COUNTED)).group_by(table.c.model).subquery()
        for table in (model_days, model_totals)
    )
    lacking = [(of_days.c[name] - func.coalesce(of_sums.c[name], 0)).label(name) for name in _COUNTED]
    joined = of_days.join(of_sums, of_sums.c.model == of_days.c.model, isouter=True)
    completed = 0
    for row in conn.execute(select(of_days.c.model, *lacking).select_from(joined).where(of_days.c.model != _HEAD)).all():
        more = {name: value for name in _COUNTED if (value := getattr(row, name)) > _ROUNDING}
        if more:
            tallies.add(conn, model_totals, row.model, {name: value if name == "cost" else int(value) for name, value in more.items()})
            completed += 1
    return completed


def _spent(row: Any) -> Spent:
    counts = {name: int(getattr(row, name)) for name in _COUNTED if name != "cost"}
    return Spent(day=getattr(row, "day", ""), model=row.model, cost=float(row.cost) if row.priced_calls else None, **counts)


def _count(conn: Connection, tenant_id: str, day: str, model: str, **more: float) -> None:
    insert_new(conn, model_days, [{"tenant_id": tenant_id, "day": day, "model": model}])
    added = {name: model_days.c[name] + value for name, value in more.items()}
    conn.execute(update(model_days).where(_key(tenant_id, day, model)).values(added))
    tallies.add(conn, model_totals, model, more)


def _key(tenant_id: str, day: str, model: str) -> Any:
    return (model_days.c.tenant_id == tenant_id) & (model_days.c.day == day) & (model_days.c.model == model)
