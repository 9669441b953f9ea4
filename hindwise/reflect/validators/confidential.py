"""Does a draft hold what must not be kept, or what others must not read?"""

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Kind
from hindwise.reflect.validators.base import Said, shorten, words_of
from hindwise.safety.identities import identities
from hindwise.safety.masking import mask
from hindwise.safety.personal import personal_data

_PERSONAL_FREE = (Kind.LESSON,)


def no_secrets(episode: Episode, draft: Draft) -> Said | None:
    """No key, password, card or id number anywhere, quotes included.

    Telephone numbers and e-mail addresses are no complaint: no model can help what a turn of before the setting holds. They are masked
    where the answer is kept (`kept_words`).
    """
    for name, text in [*words_of(draft), *(("evidence.quote", place.quote) for place in draft.evidence)]:
        if found := mask(text).found:
            return Said(f"`{name}` holds a secret ({found[0]}): leave it out", f"`{name}` 含有机密信息（{found[0]}）：请去掉")
    return None


def no_personal_data(episode: Episode, draft: Draft) -> Said | None:
    """A lesson names no person, address, number or code: others read it. Quotes are kept apart, with the user."""
    if draft.kind not in _PERSONAL_FREE:
        return None
    names = identities(episode)
    for name, text in words_of(draft):
        if found := personal_data(text, names=names):
            told = shorten(found[0])
            return Said(
                f'`{name}` of a lesson holds "{told}": say what it is in general words (the customer, a reservation, a card)',
                f"经验的 `{name}` 含有“{told}”：请改用概括的说法（客户、某个预订、某张卡）",
            )
    return None
