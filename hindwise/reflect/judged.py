"""The whole judgement over an answer: what the validators refuse goes back to the reflector, what the gate refuses is only recorded."""

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft
from hindwise.model.reflection import Answer, Rejected
from hindwise.reflect.gate import keep
from hindwise.reflect.validators import GATE, Grounded, ground


def judge(episode: Episode, answer: Answer) -> Grounded:
    """Return what may be kept, and all that may not with its rule and reason. Complaints are the validators' alone."""
    grounded = ground(episode, answer)
    kept: list[tuple[int, Draft]] = []
    refused: list[tuple[int, Rejected]] = []
    for ordinal, draft in grounded.accepted:
        if reason := keep(episode, draft):
            refused.append((ordinal, Rejected(draft=draft, rule=GATE, reason=reason)))
        else:
            kept.append((ordinal, draft))
    return grounded.model_copy(update={"accepted": tuple(kept), "rejected": (*grounded.rejected, *refused)})
