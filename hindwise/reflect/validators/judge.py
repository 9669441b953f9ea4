"""Every rule by its name, and the judgement over a whole answer."""

from collections import Counter

from hindwise.model.base import Model
from hindwise.model.episode import Episode
from hindwise.model.memory import SLOTTED, Draft, Kind
from hindwise.model.reflection import Answer, Complaint, Rejected
from hindwise.reflect.transcript import language_of_episode
from hindwise.reflect.validators.base import Rule, Said
from hindwise.reflect.validators.confidential import no_personal_data, no_secrets
from hindwise.reflect.validators.form import agrees_with_itself, fits_in_one_line, has_slot, lesson_has_trigger, speaks_the_language
from hindwise.reflect.validators.grounds import has_evidence, not_from_a_brief, quotes_occur, statement_is_quoted, tools_occur
from hindwise.reflect.validators.trust import from_whom_it_may_come, not_words_of_others, repeats_no_order

MAX_LESSONS = 3
MAX_SEMANTIC = 8
MAX_OTHERS = 20

RULES: tuple[tuple[str, Rule], ...] = (
    ("evidence", has_evidence),
    ("quoted", statement_is_quoted),
    ("quote-occurs", quotes_occur),
    ("not-from-brief", not_from_a_brief),
    ("tool-occurs", tools_occur),
    ("trigger", lesson_has_trigger),
    ("slot", has_slot),
    ("secret", no_secrets),
    ("personal-data", no_personal_data),
    ("origin", from_whom_it_may_come),
    ("words-of-others", not_words_of_others),
    ("order", repeats_no_order),
    ("one-line", fits_in_one_line),
    ("language", speaks_the_language),
    ("consistent", agrees_with_itself),
)
"""Name on the wire and in metrics, and the rule; asked in this order, and the first that complains names the reason."""

COUNT, EMPTY, FORM, GATE, OWNER = "count", "empty", "form", "gate", "owner"
ELSEWHERE = {
    COUNT: "at most 3 lessons, 8 statements and 20 others in one answer",
    EMPTY: "an answer without drafts says why",
    FORM: "the answer is one JSON object in the agreed form, and names only turns and known items that were shown",
    GATE: "a new entity, a statement of the user, unfinished work, an outcome or enough importance; no fillers",
    OWNER: "what a person said is kept only where a user is named",
}
"""Names of what is refused by no single rule: over the whole answer, by the gate, or because nobody would own it."""

NAMES = (*(name for name, _ in RULES), *ELSEWHERE)
"""Every name under which a draft or an answer can be refused."""


class Grounded(Model):
    """What became of an answer: drafts that may be kept and drafts that may not, by their ordinal in the answer, and why."""

    accepted: tuple[tuple[int, Draft], ...] = ()
    rejected: tuple[tuple[int, Rejected], ...] = ()
    complaints: tuple[Complaint, ...] = ()


def validate(episode: Episode, draft: Draft, ordinal: int) -> list[Complaint]:
    """Return every complaint about one draft in the transcript's language; `ordinal` is its place in the answer, counted from 0."""
    found = [(name, said) for name, rule in RULES if (said := rule(episode, draft)) is not None]
    return [_complaint(episode, name, said, ordinal) for name, said in found]


def ground(episode: Episode, answer: Answer) -> Grounded:
    """Judge a whole answer. Drafts in excess of 3 lessons or 8 statements are refused from the end; an empty answer needs its reason."""
    accepted: list[tuple[int, Draft]] = []
    rejected: list[tuple[int, Rejected]] = []
    complaints: list[Complaint] = []
    counts: Counter[str] = Counter()
    for ordinal, draft in enumerate(answer.drafts):
        found = validate(episode, draft, ordinal)
        if not found and (said := _in_excess(draft, counts)):
            found = [_complaint(episode, COUNT, said, ordinal)]
        complaints += found
        if found:
            rejected.append((ordinal, Rejected(draft=draft, rule=found[0].rule, reason=found[0].text)))
        else:
            accepted.append((ordinal, draft))
    if not answer.drafts and not answer.nothing_because.strip():
        complaints.append(_complaint(episode, EMPTY, _NOTHING, None))
    return Grounded(accepted=tuple(accepted), rejected=tuple(rejected), complaints=tuple(complaints))


_NOTHING = Said(
    "the answer holds nothing: give drafts, or say in `nothing_because` why there are none",
    "回答是空的：请写出内容，或在 `nothing_because` 中说明为什么没有",
)


def _complaint(episode: Episode, rule: str, said: Said, ordinal: int | None) -> Complaint:
    return Complaint(rule=rule, text=said.by(language_of_episode(episode)), ordinal=ordinal)


def _in_excess(draft: Draft, counts: Counter[str]) -> Said | None:
    """Counts accepted drafts by sort and complains about the one too many."""
    if draft.kind is Kind.LESSON:
        limit, sort, in_chinese = MAX_LESSONS, "lessons", "经验"
    elif draft.kind in SLOTTED:
        limit, sort, in_chinese = MAX_SEMANTIC, "statements", "条目"
    else:
        limit, sort, in_chinese = MAX_OTHERS, "others", "其他内容"
    if counts[sort] >= limit:
        return Said(f"at most {limit} {sort}: keep the most useful ones", f"{in_chinese}最多 {limit} 条：只保留最有用的")
    counts[sort] += 1
    return None
