"""From the form a model filled in to drafts: numbers become turns and memories, origins come from the turns, never from the model."""

from collections.abc import Sequence

from hindwise.errors import AnswerUnusable
from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Evidence, Kind, LessonType, Retrospective
from hindwise.model.turn import Origin
from hindwise.reflect.llm.prompt import Question
from hindwise.reflect.llm.quotes import place_of
from hindwise.reflect.llm.schema import NOTHING_SAID, AgreedForm, AnswerForm, CitedForm, ItemForm, LessonForm, NewForm
from hindwise.reflect.rules.attributes import ATTRIBUTES, VALUES_ZH
from hindwise.reflect.rules.slots import Slot, slot_of
from hindwise.safety.origin import trust_of
from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import tokens

_LISTED = frozenset(attribute.name for attribute in ATTRIBUTES)
_USERS = lazy_re(r"(?i)\b(?:the )?(?:user|customer)['’]s ")
_USER_DOES = lazy_re(r"(?i)\b(?:the )?(?:user|customer) (\w+)")
_FIRST_PERSON = {"is": "am", "has": "have", "was": "was", "does": "do"}
_USER = frozenset({"", "user", "the user", "用户", "客户", "customer", "the customer"})


def drafts_of(form: AnswerForm, episode: Episode, asked: Question) -> tuple[Draft, ...]:
    """Return lessons, items and agreements, in this order. What happened is told by code (`reflect/judged.py`), not by a model.

    Raises AnswerUnusable naming each turn or known item that the model was not shown. A quote that is in none of its turns is kept as
    it is: refusing it is the validators' affair.
    """
    form = _without_placeholders(form, asked)
    if form.holds_nothing() and not form.nothing_because:
        raise AnswerUnusable(NOTHING_SAID)
    _check_numbers(form, asked)
    retrospective = Retrospective(**form.retrospective.model_dump())
    drafts = [_lesson(lesson, form, retrospective, episode, asked) for lesson in form.lessons]
    drafts += [_item(item, form, episode, asked) for item in form.items]
    drafts += [_agreement(agreed, episode, asked) for agreed in form.agreed]
    return tuple(drafts)


def _without_placeholders(form: AnswerForm, asked: Question) -> AnswerForm:
    """Without agreements that name nothing and quote nothing, and without relations where no known item was shown.

    Small models fill every list of a form. Agreeing adds no words, so nothing is lost with one that has neither number nor quote; a claim
    with a quote stays, and is complained about. What relates to nothing known is new.
    """
    agreed = [one for one in form.agreed if one.quote or (asked.known and one.known != 0)]
    if asked.known:
        return form.model_copy(update={"agreed": agreed})
    unrelated = {"relation": "new", "known": 0}
    return form.model_copy(
        update={
            "agreed": agreed,
            "lessons": [one.model_copy(update=unrelated) for one in form.lessons],
            "items": [one.model_copy(update=unrelated) for one in form.items],
        }
    )


def _check_numbers(form: AnswerForm, asked: Question) -> None:
    no_turn, no_known = (
        ("不是所示轮次的编号", "不是所示已知条目的编号")
        if asked.lang == "zh"
        else ("is not the number of a turn that was shown", "is not the number of a known item")
    )
    faults = []
    lists: tuple[tuple[str, Sequence[NewForm | AgreedForm]], ...] = (
        ("lessons", form.lessons),
        ("items", form.items),
        ("agreed", form.agreed),
    )
    for name, entries in lists:
        for place, entry in enumerate(entries):
            strange = [number for number in entry.turns if number not in asked.shown]
            if strange:
                faults.append(f"{name}[{place}].turns: {strange[0]} {no_turn}")
            names_known = isinstance(entry, AgreedForm) or entry.relation != "new"
            if names_known and entry.known not in asked.known:
                faults.append(f"{name}[{place}].known: {entry.known} {no_known}")
    if faults:
        raise AnswerUnusable("; ".join(faults[:5]))


def _evidence(entry: CitedForm, episode: Episode, asked: Question) -> tuple[Evidence, ...]:
    """One for each turn; the quote goes to the turn that holds it, which stands first. Where none does, it stays with the first.

    A quote that stands in a turn that the model did not name is that turn's: what does not hold it is no evidence.
    """
    numbers = list(dict.fromkeys(entry.turns))
    holder, quote = place_of(entry.quote, numbers, asked.shown) or (numbers[0], entry.quote)
    ordered = [holder, *(n for n in numbers if n != holder)] if holder in numbers else [holder]
    turns = [(asked.shown[n].turn, quote if n == holder else "") for n in ordered]
    return tuple(Evidence(episode_id=episode.id, seq=turn.seq, turn_id=turn.turn_id, quote=words) for turn, words in turns)


def _belief(evidence: Sequence[Evidence], asked: Question) -> tuple[Origin, float]:
    """Whose words they are (those of the turn that is quoted), and the trust of the best evidence."""
    by_seq = {shown.turn.seq: shown.turn.origin for shown in asked.shown.values()}
    origins = [by_seq[one.seq] for one in evidence if one.seq is not None]
    return origins[0], trust_of(origins)


def _lesson(lesson: LessonForm, form: AnswerForm, retrospective: Retrospective, episode: Episode, asked: Question) -> Draft:
    evidence = _evidence(lesson, episode, asked)
    origin, trust = _belief(evidence, asked)
    kind = LessonType(lesson.lesson_type)
    why_part = "what_failed_and_why" if kind in (LessonType.PITFALL, LessonType.RECOVERY) else "what_worked"
    return Draft(
        kind=Kind.LESSON,
        lesson_type=kind,
        conclusion=lesson.conclusion,
        retrospective=retrospective.model_copy(update={why_part: lesson.why} if lesson.why else {}),
        applies_when=lesson.applies_when,
        not_when=lesson.not_when,
        task_type=form.task_type,
        generalized_query=form.generalized_query,
        topics=tuple(lesson.topics),
        tools=tuple(lesson.tools),
        language=asked.lang,
        importance=lesson.importance,
        confidence=lesson.confidence,
        unproven=lesson.unproven,
        origin=origin,
        trust=trust,
        evidence=evidence,
        **_related(lesson, asked),
    )


def _related(entry: NewForm, asked: Question) -> dict[str, str]:
    """What the model says it means for a known item: a proposal, which names the item by id and space."""
    if entry.relation == "new":
        return {}
    memory = asked.known[entry.known]
    return {entry.relation: memory.id, "known_in": memory.space}


def _slot(item: ItemForm, asked: Question) -> Slot:
    """Where an item about the user belongs: the listed attribute that its words name, so that it meets what rules found; else the model's.

    The quote may speak of more than the item, so what it names counts only where the item says the same value.
    """
    own = Slot("user" if item.subject.lower() in _USER else item.subject, item.attribute, item.value)
    if own.subject != "user" or item.kind == "todo":
        return own
    if (known := _contradicted(item, own, asked)) is not None:
        return known
    says = f"{item.conclusion} {item.value}".lower()
    for words in (item.conclusion, item.quote):
        found = slot_of(words)
        value = VALUES_ZH.get(found.value, found.value) if asked.lang == "zh" else found.value
        if found.attribute in _LISTED and (words == item.conclusion or value.lower() in says or found.value.lower() in says):
            return Slot("user", found.attribute, value or item.value)
    return own


def _contradicted(item: ItemForm, own: Slot, asked: Question) -> Slot | None:
    """The slot of the known statement that this says otherwise than, so that the two meet where keys and times decide.

    Only where the words bear the model out: the same kind, of the user, and the attribute is the same by its name or by the list. Else
    None: both are kept, since two that meet wrongly lose one.
    """
    known = asked.known[item.known] if item.relation == "contradicts" else None
    if known is None or known.kind != item.kind or known.scope != item.scope or known.subject.lower() not in _USER:
        return None
    listed = [slot_of(_as_said(words)).attribute for words in (item.conclusion, known.conclusion)]
    by_list = listed[0] == listed[1] and listed[0] in _LISTED
    by_name = bool(set(tokens(own.attribute)) & set(tokens(known.attribute)))
    return Slot(known.subject, known.attribute, own.value) if by_list or by_name else None


def _as_said(conclusion: str) -> str:
    """ "The user lives in …" as the user would say it, since the list knows attributes by how people say them."""
    told = _USERS.sub("my ", conclusion)
    return _USER_DOES.sub(lambda match: f"I {_FIRST_PERSON.get(match[1].lower(), match[1].removesuffix('s'))}", told)


def _item(item: ItemForm, form: AnswerForm, episode: Episode, asked: Question) -> Draft:
    evidence = _evidence(item, episode, asked)
    origin, trust = _belief(evidence, asked)
    kind = Kind(item.kind)
    slot = _slot(item, asked)
    behind = Retrospective(still_open=item.conclusion) if kind is Kind.TODO else Retrospective(goal=form.retrospective.goal)
    return Draft(
        kind=kind,
        conclusion=item.conclusion,
        retrospective=behind,
        subject=slot.subject,
        attribute=slot.attribute,
        scope=item.scope,
        value=slot.value,
        topics=tuple(item.topics),
        entities=tuple(item.entities),
        language=asked.lang,
        importance=item.importance,
        confidence=item.confidence,
        origin=origin,
        trust=trust,
        evidence=evidence,
        valid_from=item.since,
        retracts=item.never_true,
        **_related(item, asked),
    )


def _agreement(agreed: AgreedForm, episode: Episode, asked: Question) -> Draft:
    """The known item's own words with this episode's evidence: agreeing adds no words. Tools that this episode did not use are left out."""
    memory = asked.known[agreed.known]
    words = {name: getattr(memory, name) for name in Draft.model_fields if name in type(memory).model_fields}
    evidence = _evidence(agreed, episode, asked)
    used = {call.name for turn in episode.turns for call in turn.tool_calls} | {turn.name for turn in episode.turns if turn.role == "tool"}
    words["tools"] = tuple(tool for tool in memory.tools if tool in used)
    return Draft(**(words | {"evidence": evidence, "valid_from": None, "agrees_with": memory.id, "known_in": memory.space}))
