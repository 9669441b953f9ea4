"""What is kept of an answer holds no secret, and no way to reach somebody that the settings mask.

A turn is masked before it is stored. But one that was stored before the setting was made still holds the number, and what rules conclude
from it, or what a model put together, is stored today.
"""

from collections.abc import Iterable

from hindwise.model.memory import MAX_SNIPPET_CHARS, Draft
from hindwise.model.reflection import Answer, Rejected
from hindwise.reflect.gate import ONLY_A_MASK, keep_words
from hindwise.reflect.validators import GATE, Grounded
from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask, mask_json


def masked_answer(answer: Answer, contacts: Contacts) -> Answer:
    """Return the answer with all its drafts and its raw text masked; the same object where there is nothing to mask."""
    drafts = tuple(masked_draft(draft, contacts) for draft in answer.drafts)
    masked = answer.model_copy(update={"drafts": drafts, "raw": mask(answer.raw, contacts).text})
    return answer if masked == answer else masked


def masked_conclusions(answer: Answer, contacts: Contacts) -> Answer:
    """Return what rules concluded as it is kept: masked, and without statements of which only the mask is left."""
    masked = masked_answer(answer, contacts)
    return masked if masked is answer else masked.model_copy(update={"drafts": tuple(filter(keep_words, masked.drafts))})


def masked_drafts(drafts: Iterable[Draft], contacts: Contacts) -> list[Draft]:
    """Return drafts of rules as they are kept at once: masked, and without statements of which only the mask is left."""
    return [masked for draft in drafts if keep_words(masked := masked_draft(draft, contacts))]


def masked_judgement(judged: Grounded, contacts: Contacts) -> Grounded:
    """Return what was judged with its drafts masked. A statement of which only the mask is left is refused by the gate."""
    masked = [(ordinal, masked_draft(draft, contacts)) for ordinal, draft in judged.accepted]
    rejected = [(ordinal, item.model_copy(update={"draft": masked_draft(item.draft, contacts)})) for ordinal, item in judged.rejected]
    emptied = [(ordinal, Rejected(draft=draft, rule=GATE, reason=ONLY_A_MASK)) for ordinal, draft in masked if not keep_words(draft)]
    kept = [(ordinal, draft) for ordinal, draft in masked if keep_words(draft)]
    return judged.model_copy(update={"accepted": tuple(kept), "rejected": (*rejected, *emptied)})


def masked_draft(draft: Draft, contacts: Contacts) -> Draft:
    """Return the draft masked; a mark may be longer than what it stands for, and no field outgrows its bounds."""
    told = draft.model_dump(mode="json")
    masked = mask_json(told, contacts)
    if masked == told:
        return draft
    for name, field in Draft.model_fields.items():
        limit = next((rule.max_length for rule in field.metadata if hasattr(rule, "max_length")), None)
        if isinstance(masked[name], str) and limit:
            masked[name] = masked[name][:limit]
    for place in masked["evidence"]:
        place["quote"] = place["quote"][:MAX_SNIPPET_CHARS]
    return Draft(**masked)
