"""What became of one run that a real model reflected over: lost, refused, or kept, and does what is kept stand in the transcript?

The checks are the bench's own and simpler than the validators', so that both cannot be wrong in the same way.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hindwise.ledger.attempts import Attempt
from hindwise.model.base import Model
from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import SLOTTED, Kind, Memory
from hindwise.reflect.judged import BESIDE, own_share
from hindwise.reflect.rules import reflect_by_rules

GROUPS = ("airline, English", "own, English", "own, Chinese")
_OF_PERSONS = re.compile(r"[\w.+-]+@[\w-]+\.\w+|\d{5,}|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b|\b[a-z]+_[a-z]+_\d{4}\b")
"""E-mail addresses, long numbers, reservation codes, customer ids."""
_FAILED = re.compile(r"\bfail(?:ed|s|ure)?\b|\bcould not\b|\bunable to\b|失败|未能|无法", re.IGNORECASE)
_DONE = re.compile(r"\bsuccess|\bsucceed|\bresolved\b|\bcompleted\b|成功|已完成", re.IGNORECASE)
_OUTSIDE = frozenset({"tool", "web"})


@dataclass(frozen=True)
class Run:
    """One run of the sample. `body`: what is posted."""

    id: str
    group: str
    lang: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """All that is left of a run. `shown`: the reflection as the API tells it; the rest as the ledger holds it."""

    shown: dict[str, Any]
    episode: Episode
    attempts: tuple[Attempt, ...]
    memories: tuple[Memory, ...]


class Asked(Model):
    """One attempt. `rejected`: drafts by the first rule that refused them."""

    by: str
    unusable: str
    drafts: int
    accepted: int
    rejected: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    raw: str


class Kept(Model):
    """One memory. `faults`: what our own checks say against it; empty is good. `own`: the model said it, code did not put it beside."""

    kind: str
    status: str
    conclusion: str
    quote: str
    turn: int | None
    faults: tuple[str, ...]
    own: bool = False


class Told(Model):
    """What became of a run. `by`: model or rules; `lost`: in words, empty is good.

    refused_unseen: what was refused of the model, and the API does not show.
    """

    id: str
    group: str
    seconds: float
    status: str
    by: str
    cause: str
    skip_reason: str
    attempts: tuple[Asked, ...]
    kept: tuple[Kept, ...]
    lost: tuple[str, ...]
    refused_unseen: int
    by_rules: int
    """Drafts but events that rules make of the same run: what stood to be kept without any model."""

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The attempts of the model."""
        return tuple(attempt for attempt in self.attempts if attempt.by == "llm")

    @property
    def learned(self) -> int:
        """Memories but events: an event alone says only that the task took place."""
        return sum(kept.kind != "event" for kept in self.kept)


def judged(run: Run, stored: Stored, seconds: float) -> Told:
    """Judge what is stored of a run."""
    origin, _, cause = str(stored.shown["fallback_from"]).partition(": ")
    final = stored.shown["status"] in ("completed", "skipped")
    return Told(
        id=run.id,
        group=run.group,
        seconds=round(seconds, 1),
        status=stored.shown["status"],
        by=("rules" if origin else "model") if final else "nobody",
        cause=cause,
        skip_reason=stored.shown["skip_reason"],
        attempts=tuple(map(_asked, stored.attempts)),
        kept=tuple(_kept(run, stored.episode, memory, own=memory.id in _own(stored)) for memory in stored.memories),
        lost=tuple(_lost(run, stored)),
        refused_unseen=_refused_unseen(stored),
        by_rules=sum(draft.kind is not Kind.EVENT for draft in reflect_by_rules(stored.episode).drafts),
    )


def _asked(attempt: Attempt) -> Asked:
    grounded = attempt.grounded or {}
    usage = attempt.answer.usage
    return Asked(
        by=attempt.reflector,
        unusable=attempt.unusable,
        drafts=len(attempt.answer.drafts),
        accepted=own_share([ordinal for ordinal, _ in grounded.get("accepted", [])]),
        rejected=dict(Counter(item["rule"] for item in grounded.get("rejected", []))),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        raw=attempt.answer.raw,
    )


def _lost(run: Run, stored: Stored) -> Iterator[str]:
    """What is not accounted for: turns, the reflection itself, drafts without a word about what became of them."""
    shown = stored.shown
    if len(stored.episode.turns) != len(run.body["turns"]):
        yield f"{len(run.body['turns'])} turns were sent, {len(stored.episode.turns)} are stored"
    if shown["status"] not in ("completed", "skipped"):
        yield f"the reflection is {shown['status']}: {shown['error']}"
        return
    if shown["status"] == "skipped" and not shown["skip_reason"]:
        yield "skipped without a reason"
    if shown["status"] == "completed" and not stored.attempts:
        yield "completed, but nobody reflected"
    for attempt in stored.attempts:
        told = _asked(attempt)
        if not told.unusable and told.drafts != told.accepted + sum(told.rejected.values()):
            yield f"attempt {attempt.number}: {told.drafts} drafts, {told.accepted} accepted, {sum(told.rejected.values())} refused"
        if told.by == "llm" and not (told.raw or told.unusable):
            yield f"attempt {attempt.number}: what the model said is not kept"
    yield from _undecided(stored)


def _undecided(stored: Stored) -> Iterator[str]:
    """Accepted drafts of the attempt that was kept, about which nothing was decided."""
    chosen = [a for a in stored.attempts if a.grounded and a.written_by == stored.shown["written_by"]]
    if not chosen or stored.shown["status"] == "skipped":
        return
    decided = {decision["ordinal"] for decision in stored.shown["decisions"]}
    options = [{int(ordinal) for ordinal, _ in attempt.grounded.get("accepted", [])} for attempt in chosen if attempt.grounded]
    if decided not in options and not any(decided < accepted and _refused_later(stored, accepted - decided) for accepted in options):
        yield f"decided: drafts {sorted(decided)}; accepted: {options}"


def _refused_later(stored: Stored, missing: set[int]) -> bool:
    return sum(1 for item in stored.shown["rejected"] if item["rule"] == "owner") == len(missing)


def _refused_unseen(stored: Stored) -> int:
    """Answers and drafts of the model that were refused and that GET /v1/reflections/{id} does not list under their attempt."""
    seen = Counter(item["attempt"] for item in stored.shown["rejected"])
    asked = [attempt for attempt in stored.attempts if attempt.reflector == "llm"]
    refused = {a.number: len((a.grounded or {}).get("rejected", [])) + bool(a.unusable) for a in asked}
    return sum(max(0, number - seen[attempt]) for attempt, number in refused.items())


def _own(stored: Stored) -> set[str]:
    """Memories that the model's own drafts became; none where rules stood in."""
    if stored.shown["fallback_from"]:
        return set()
    return {decision.get("memory_id", "") for decision in stored.shown["decisions"] if decision["ordinal"] < BESIDE}


def _kept(run: Run, episode: Episode, memory: Memory, *, own: bool) -> Kept:
    place = next((place for place in memory.evidence if place.quote), memory.evidence[0] if memory.evidence else None)
    return Kept(
        kind=str(memory.kind),
        status=str(memory.status),
        conclusion=memory.conclusion,
        quote=place.quote if place else "",
        turn=place.seq if place else None,
        faults=tuple(_faults(run, episode, memory)),
        own=own,
    )


def _faults(run: Run, episode: Episode, memory: Memory) -> Iterator[str]:
    """Why a kept memory should not have been kept, as far as code can tell. Whether it is true, only a reader can."""
    places = [(place.quote, [turn for turn in episode.turns if turn.seq == place.seq]) for place in memory.evidence]
    if not any(turns for _, turns in places):
        yield "no turn of the transcript stands behind it"
    if memory.kind in SLOTTED and not any(quote for quote, _ in places):
        yield "no words of the transcript stand behind it"
    for quote, turns in places:
        if quote and not any(_fold(quote) in _fold(turn.text()) for turn in turns):
            yield f"quotes what is not there: {quote}"
    origins = {str(turn.origin) for quote, turns in places if quote for turn in turns}
    if memory.kind in SLOTTED - {Kind.FACT} and origins and origins <= _OUTSIDE:
        yield f"{memory.kind} in the words of {', '.join(sorted(origins))}"
    called = {call.name for turn in episode.turns for call in turn.tool_calls} | {turn.name for turn in episode.turns if turn.name}
    yield from (f"names a tool that was not used: {tool}" for tool in memory.tools if tool not in called)
    words = json.dumps(
        memory.model_dump(mode="json", include={"conclusion", "applies_when", "not_when", "retrospective"}), ensure_ascii=False
    )
    if memory.kind is Kind.LESSON and (found := _OF_PERSONS.search(words)):
        yield f"a lesson with a person's data: {found[0]}"
    if memory.kind is Kind.EVENT and (said := _against_verdict(episode, memory.conclusion)):
        yield said
    if (sum("\u4e00" <= char <= "\u9fff" for char in memory.conclusion) >= 4) != (run.lang == "zh"):
        yield "not in the transcript's language"


def _against_verdict(episode: Episode, event: str) -> str:
    """Whether an event plainly tells another end than the verdict: failure alone of a success, or success alone of a failure."""
    failed, done = bool(_FAILED.search(event)), bool(_DONE.search(event))
    if episode.outcome.status is OutcomeStatus.SUCCESS and failed and not done:
        return "tells a success as a failure"
    return "tells a failure as a success" if episode.outcome.status is OutcomeStatus.FAILURE and done and not failed else ""


def _fold(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
