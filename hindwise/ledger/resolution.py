"""The one transaction in which drafts become memories: lock the spaces, read the heads, decide, write, mark dirty.

Deciding is `hindwise.resolve`; here is only what carries it out. Called twice for the same reflection it changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from hindwise.ledger import memories as rows
from hindwise.ledger import memory_changes as changes
from hindwise.ledger import review, spaces, taking_back
from hindwise.ledger.direct import Direct
from hindwise.ledger.schema import evidence, memories
from hindwise.ledger.spaces import SpaceRow
from hindwise.ledger.writing import Writing
from hindwise.lifecycle.aging import AgingRules, due_dates
from hindwise.model.ids import memory_of
from hindwise.model.memory import LIVE, SLOTTED, Draft, Memory, Status, Words
from hindwise.model.reflection import Decision
from hindwise.resolve.decide import Plan, decide, decide_in_quarantine
from hindwise.resolve.slots import duplicate_key, same_value, slot_key
from hindwise.safety.origin import LESS_BELIEVED

_KNOWN = Direct(select(memories.c.id).where(memories.c.id.in_(bindparam("memories", expanding=True))))


@dataclass(frozen=True, slots=True)
class Placement:
    """A draft, the space it goes to, and its number within the reflection."""

    ordinal: int
    draft: Draft
    space: str
    quarantine: str = ""
    """Why it is kept away from briefs; empty = it is not."""
    proven: bool = False
    """The environment itself said that the task succeeded."""


@dataclass(slots=True)
class Resolution:
    """Carries one reflection's drafts (or one written memory) into the ledger, inside a transaction of the caller's."""

    conn: Connection
    tenant_id: str
    reflection_id: str
    """Names the writer: memory ids derive from it."""
    actor: str
    now: datetime
    rules: AgingRules
    min_confidence: float
    default_valid_from: datetime
    by_reflection: bool = True
    """False for a direct write: then `reflection_id` only names the write, and no memory points to it."""
    epochs: Mapping[str, int] = field(default_factory=dict)
    _writing: Writing = field(init=False)
    _spaces: dict[str, SpaceRow] = field(default_factory=dict)
    _before: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._writing = Writing(self.conn, self.actor, self.now)

    def run(
        self,
        placements: Sequence[Placement],
        *,
        replaces: Sequence[str] = (),
        replaces_why: str = "",
        captured: Sequence[str] = (),
        also_lock: Sequence[str] = (),
    ) -> list[Decision]:
        """Resolve the drafts in order; return one decision each. Raises SpaceErased when an epoch moved.

        replaces: earlier reflections of the same episode; what they concluded is superseded, unless the new drafts say it again.
        captured: writers of what was kept while the episode's task was open; treated alike, and what confirmed others stays as long as the
        new drafts confirm them too.
        """
        earlier = (*replaces, *captured)
        old = taking_back.written_by(self.conn, earlier)
        confirmed = taking_back.confirmed_by(self.conn, self.tenant_id, earlier)
        names = sorted({p.space for p in placements} | {m.space for m, _ in (*old, *confirmed)} | set(also_lock))
        if not names:
            return []
        self._spaces = spaces.lock(self.conn, self.tenant_id, names, self.epochs)
        self._before = self._kept_before(placements)
        old = taking_back.written_by(self.conn, earlier)
        for memory, space_no in taking_back.confirmed_by(self.conn, self.tenant_id, replaces):
            taking_back.withdraw(self._writing, memory, space_no, replaces, replaces_why)
        decisions: list[Decision] = []
        kept: set[str] = set()
        for placement in placements:
            if same := taking_back.said_again(placement.draft, placement.space, old):
                kept.add(same.id)
                decisions.append(
                    Decision(ordinal=placement.ordinal, action="agree", memory_id=same.id, reason="the earlier reflection said the same")
                )
            else:
                decisions.append(self._place(placement))
        written = {d.memory_id for d in decisions if d.memory_id}
        for memory, space_no in taking_back.confirmed_by(self.conn, self.tenant_id, captured):
            if memory.id not in written and memory.status in LIVE and memory.reflection_id != self.reflection_id:
                taking_back.withdraw(self._writing, memory, space_no, captured, replaces_why)
        for memory, _ in old:
            # Read anew: a draft of this very resolution may have closed it.
            current, space_no = rows.load(self.conn, self.tenant_id, memory.id)
            # What a person vouched for is not taken back by another look.
            if memory.id not in kept and current.status in LIVE and not current.confirmed_by:
                taking_back.take_back(self._writing, current, space_no, earlier, replaces_why, written)
        self._writing.mark()
        return decisions

    def _place(self, placement: Placement) -> Decision:
        draft, space_no = placement.draft, self._spaces[placement.space].no
        memory_id = memory_of(self.reflection_id, placement.ordinal)
        if memory_id in self._before:
            return Decision(ordinal=placement.ordinal, action="add", memory_id=memory_id, reason="written before")
        valid_from = draft.valid_from or self.default_valid_from
        key = slot_key(draft)
        slot = rows.in_slot(self.conn, space_no, key) if key else []
        if self._rejected_by_person(draft, space_no, key, slot, valid_from):
            return Decision(ordinal=placement.ordinal, action="rejected", reason="a person rejected the same")
        alike = [] if key else rows.alike(self.conn, space_no, duplicate_key(draft))
        if not key and not alike:
            alike = rows.quarantined(self.conn, space_no, duplicate_key(draft))
        placement = self._if_less_believed(placement, slot)
        if placement.quarantine:
            plan = decide_in_quarantine(draft, slot, alike)
        else:
            plan = decide(draft, valid_from, slot, alike, sure=draft.confidence >= self.min_confidence, now=self.now)
        return self._carry_out(placement, plan, space_no, valid_from, {m.id: m for m in (*slot, *alike)})

    def _rejected_by_person(self, draft: Draft, space_no: int, key: str | None, slot: Sequence[Memory], said_at: datetime) -> bool:
        """A no of a person holds against every later look; against a writing by hand it does not, which is a person's too."""
        if not self.by_reflection or (key and not any(known.status is Status.RETRACTED for known in slot)):
            return False
        return bool(review.was_rejected(self.conn, space_no, draft, key, duplicate_key(draft), said_at))

    def _if_less_believed(self, placement: Placement, slot: Sequence[Memory]) -> Placement:
        """What a tool or a page says against the words of a user waits in quarantine: it closes nothing."""
        head = next((memory for memory in slot if memory.head), None)
        if placement.quarantine or head is None or placement.draft.trust > head.trust - LESS_BELIEVED or same_value(placement.draft, head):
            return placement
        return replace(placement, quarantine=f"{placement.draft.origin} says otherwise than what is known, and is believed less")

    def _kept_before(self, placements: Sequence[Placement]) -> frozenset[str]:
        ids = [memory_of(self.reflection_id, placement.ordinal) for placement in placements]
        return frozenset(row.id for row in _KNOWN.rows(self.conn, {"memories": ids})) if ids else frozenset()

    def _carry_out(self, placement: Placement, plan: Plan, space_no: int, valid_from: datetime, known: Mapping[str, Memory]) -> Decision:
        draft = placement.draft
        reason = f"in quarantine: {placement.quarantine}" if placement.quarantine and plan.action == "add" else plan.reason
        decision = Decision(ordinal=placement.ordinal, action=plan.action, reason=reason[:500])
        if plan.action == "complementary":
            return decision
        if plan.action == "agree":
            self._agree(known[plan.target], placement, space_no, valid_from)
            return decision.model_copy(update={"memory_id": plan.target, "touched": (plan.target,)})
        if plan.action == "retract":
            target = known[plan.target]
            self._writing.close(target, space_no, Status.RETRACTED, plan.reason, superseded_by="", valid_to=target.valid_from)
            if not draft.value:
                return decision.model_copy(update={"touched": (target.id,)})
        memory = self._new_memory(placement, plan, valid_from, known)
        if plan.action == "supersede":
            target = known[plan.target]
            self._writing.close(
                target, space_no, Status.SUPERSEDED, plan.reason, superseded_by=memory.id, valid_to=max(valid_from, target.valid_from)
            )
        self._writing.add(memory, space_no, decision.reason)
        self._tie_to_known(memory, draft, space_no)
        touched = tuple(name for name in (plan.target, plan.successor) if name)
        if plan.action in {"supersede", "retract"}:
            self._writing.link(memory.id, plan.target, "supersedes" if plan.action == "supersede" else "retracts", plan.reason)
        if plan.action == "late":
            self._writing.link(memory.id, plan.successor, "precedes", plan.reason)
        return decision.model_copy(update={"memory_id": memory.id, "touched": touched})

    def _tie_to_known(self, memory: Memory, draft: Draft, space_no: int) -> None:
        """Note what the reflector says this refines or contradicts; it closes nothing, since only keys and times decide that.

        Within one space alone: whoever reads a shared memory learns no id out of a user's space. What is in quarantine ties to nothing.
        """
        known_id = draft.refines or draft.contradicts
        if not known_id or draft.known_in != memory.space or memory.status not in LIVE:
            return
        known = rows.rows_by_ids(self.conn, [space_no], [known_id])
        if known and known[0].status in {str(status) for status in LIVE} and known[0].kind == str(memory.kind):
            kind = "refines" if draft.refines else "contradicts"
            self._writing.link(memory.id, known_id, kind, f"the reflector says that it {kind} what is known")

    def _new_memory(self, placement: Placement, plan: Plan, valid_from: datetime, known: Mapping[str, Memory]) -> Memory:
        draft = placement.draft
        late = plan.action == "late"
        beside_a_head = (plan.action == "add" and bool(plan.target)) or bool(placement.quarantine)
        words = draft.model_dump(include=set(Words.model_fields))
        memory = Memory(
            **words,
            id=memory_of(self.reflection_id, placement.ordinal),
            tenant_id=self.tenant_id,
            space=placement.space,
            status=Status.SUPERSEDED if late else self._status(placement),
            head=not late and not beside_a_head and draft.kind in SLOTTED and slot_key(draft) is not None,
            confidence=draft.confidence,
            valid_from=valid_from,
            valid_to=_end_of_late(known[plan.successor], valid_from) if late else None,
            recorded_at=self.now,
            closed_at=self.now if late else None,
            close_reason=plan.reason if late else "",
            superseded_by=plan.successor if late else "",
            version=plan.version,
            reflection_id=self.reflection_id if self.by_reflection else "",
        )
        due = due_dates(memory, self.rules)
        return memory.model_copy(update={"review_at": due.review_at, "expires_at": due.expires_at})

    def _status(self, placement: Placement) -> Status:
        if placement.quarantine:
            return Status.QUARANTINED
        return Status.ACTIVE if placement.draft.confidence >= self.min_confidence else Status.PENDING

    def _agree(self, target: Memory, placement: Placement, space_no: int, said_at: datetime) -> None:
        """Another episode says the same: evidence +1. Said again without one (by hand), it only holds longer: repetition is no evidence.

        Words of tools and pages bear out nothing that is told. What is in quarantine leaves it when another task bears it out: on its
        own grounds, or by a success that the environment saw.
        """
        draft = placement.draft
        if placement.quarantine and target.status is not Status.QUARANTINED:
            return
        episodes = {item.episode_id for item in draft.evidence}
        standing = select(evidence.c.episode_id).where(evidence.c.memory_id == target.id, evidence.c.withdrawn_at.is_(None))
        had = set(self.conn.execute(standing).scalars())
        known_until = target.said_at or target.valid_from
        counts = bool(episodes - had)
        if not counts and said_at <= known_until:
            return
        due = due_dates(target.model_copy(update={"recorded_at": self.now}), self.rules)
        held: dict[str, Any] = {"said_at": max(said_at, known_until), "review_at": due.review_at, "expires_at": due.expires_at}
        if counts:
            changes.add_evidence(self.conn, target.id, draft.evidence, self.reflection_id)
            held["evidence_count"] = target.evidence_count + 1
            held["confidence"] = min(0.99, target.confidence + (1 - target.confidence) * 0.25)
        if target.status is Status.QUARANTINED and slot_key(target) is None and counts and (placement.proven or not placement.quarantine):
            held["status"] = Status.ACTIVE
        self._writing.change(target, space_no, "agreed", "another task says the same" if counts else "it was said again", **held)


def _end_of_late(successor: Memory, valid_from: datetime) -> datetime:
    """Until when a late fact held: until what followed began, or was said again after it."""
    return successor.valid_from if successor.valid_from > valid_from else (successor.said_at or valid_from)
