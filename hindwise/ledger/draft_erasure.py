"""Erasing one memory out of the answers that reflections keep: its own draft, and whatever may say the same in other words.

That a draft rewords a memory cannot be told by looking at it: it may use other words, another language or another slot, and quote another
turn. So of a reflection that is settled only those drafts stay which another memory was made of. A refusal stays as a refusal, with its
rule and kind. Of one that is under way, what was accepted and says something else stays too: it is settled next.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, or_, select, update

from hindwise.ledger.schema import drafts, evidence, memories, reflections
from hindwise.model.memory import Draft, Memory
from hindwise.resolve.decide import brief_words

GONE = "erased"
"""Stands where words were."""


def lock(conn: Connection, memory: Memory, neighbours: Sequence[str]) -> list[str]:
    """Lock and return the ids of all reflections that may tell a memory's words.

    Those that wrote, confirmed, replaced or were replaced by it, and all others of the tasks it stands on: a run before, or one under way.
    Taken before the lock of the space, in the order of those who settle a reflection.
    """
    confirmed = select(evidence.c.reflection_id).where(evidence.c.memory_id == memory.id)
    around = select(memories.c.reflection_id).where(memories.c.id.in_(neighbours))
    wrote = or_(
        reflections.c.id == memory.reflection_id,
        reflections.c.id.in_(confirmed),
        reflections.c.id.in_(around),
    )
    stands_on = select(evidence.c.episode_id).where(evidence.c.memory_id == memory.id)
    tasks = {*conn.execute(stands_on).scalars(), *conn.execute(select(reflections.c.episode_id).where(wrote)).scalars()}
    query = select(reflections.c.id).where(reflections.c.episode_id.in_(sorted(tasks)), reflections.c.tenant_id == memory.tenant_id)
    return list(conn.execute(query.order_by(reflections.c.id).with_for_update()).scalars())


def blank(conn: Connection, memory: Memory, reflection_ids: Sequence[str]) -> None:
    """Take the words of a memory out of all that these reflections keep. They are locked."""
    for row in conn.execute(select(reflections).where(reflections.c.id.in_(reflection_ids))).all():
        attempts = conn.execute(select(drafts).where(drafts.c.reflection_id == row.id).with_for_update()).all()
        standing = _standing(conn, memory, row, attempts)
        for attempt in attempts:
            _blank_attempt(conn, attempt, standing)
        conn.execute(
            update(reflections)
            .where(reflections.c.id == row.id)
            .values(
                decisions=[_decision(item, memory) for item in row.decisions],
                rejected=_refused(row.rejected),
                skip_reason=row.skip_reason and GONE,
            )
        )


@dataclass(frozen=True, slots=True)
class _Standing:
    """Which accepted drafts stay. `others`: conclusions of the other memories that were made of them; None = not settled yet."""

    others: frozenset[str] | None
    said: frozenset[str]
    attribute: str
    value: str

    def holds(self, draft: Mapping[str, Any]) -> bool:
        if draft["conclusion"] in self.said or (self.value and (draft["attribute"], draft["value"]) == (self.attribute, self.value)):
            return False
        return self.others is None or draft["conclusion"] in self.others


def _standing(conn: Connection, memory: Memory, row: Row[Any], attempts: Sequence[Row[Any]]) -> _Standing:
    """A shared lesson is kept with fewer words than its draft had: that one is known by its number."""
    became = {item["ordinal"] for item in row.decisions if item["memory_id"] == memory.id}
    drafted = _drafted([attempt.grounded for attempt in attempts if attempt.grounded], became)
    others: frozenset[str] | None = None
    if row.written_by:
        made = sorted({item["memory_id"] for item in row.decisions} - {memory.id, ""})
        others = frozenset(conn.execute(select(memories.c.conclusion).where(memories.c.id.in_(made))).scalars())
    return _Standing(others, frozenset({memory.conclusion, *drafted}), memory.attribute, memory.value)


def _drafted(grounded: Sequence[Mapping[str, Any]], ordinals: Collection[int]) -> set[str]:
    return {draft["conclusion"] for found in grounded for ordinal, draft in found["accepted"] if ordinal in ordinals}


def _refused(rejected: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """That something was refused, by which rule and of which kind; no word of it."""
    blank_drafts = [Draft(kind=item["draft"]["kind"], conclusion=GONE).model_dump(mode="json") for item in rejected]
    return [{"draft": draft, "rule": item["rule"], "reason": GONE} for item, draft in zip(rejected, blank_drafts, strict=True)]


def _decision(item: dict[str, Any], memory: Memory) -> dict[str, Any]:
    named = memory.id in (item["memory_id"], *item["touched"])
    return {**item, "reason": GONE} if named or brief_words(memory) in item["reason"] else item


def _blank_attempt(conn: Connection, row: Row[Any], standing: _Standing) -> None:
    """The raw answer of a model goes whole, since it may quote anything; so do its reasons and the complaints, which quote drafts."""
    grounded: dict[str, Any] | None = row.grounded
    accepted = [item for item in grounded["accepted"] if standing.holds(item[1])] if grounded is not None else []
    kept = [draft for _, draft in accepted] if grounded is not None else _unjudged(row, standing)
    # Drafts that code put beside the answer are not of the answer.
    answered = [draft for draft in row.answer["drafts"] if draft in kept]
    answer = row.answer | {"drafts": answered, "raw": "", "nothing_because": "" if answered else GONE}
    if grounded is not None:
        complaints = [{**item, "text": GONE} for item in grounded["complaints"]]
        grounded = {"accepted": accepted, "rejected": _refused(grounded["rejected"]), "complaints": complaints}
    same = (drafts.c.reflection_id == row.reflection_id, drafts.c.attempt == row.attempt)
    conn.execute(update(drafts).where(*same).values(answer=answer, grounded=grounded, unusable=row.unusable and GONE))


def _unjudged(row: Row[Any], standing: _Standing) -> list[dict[str, Any]]:
    """Of an answer that is judged next: what says something else. Of a settled reflection nobody will judge it any more."""
    return [draft for draft in row.answer["drafts"] if standing.others is None and standing.holds(draft)]
