"""How much of a transcript a model is shown: all of it where it fits, else shortened tool results, else head and tail.

Shortening keeps whole pieces word for word with a visible gap between them, so that what is quoted from them still occurs in the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hindwise.model.turn import Origin, Turn
from hindwise.text.token_budget import count_tokens

HEAD_SHARE = 0.3
"""Of the room, when the middle is left out: the task is set at the beginning, and decided near the end."""
TURN_TOKENS = 6
"""What numbering one turn and naming its speaker costs; a tool's name comes on top."""

_STEPS: tuple[tuple[int | None, int | None], ...] = ((None, None), (4_000, None), (1_600, 12_000), (600, 4_000), (300, 1_200))
"""Characters kept of a tool or web turn and of any other turn, tried in this order."""


@dataclass(frozen=True)
class ShownTurn:
    """One turn as the model sees it. `number` counts from 1 within the episode."""

    number: int
    turn: Turn
    text: str


@dataclass(frozen=True)
class Gap:
    """Turns left out, first and last number inclusive."""

    first: int
    last: int


Piece = ShownTurn | Gap


def cost_of(turn: Turn, text: str) -> int:
    """Tokens of one turn as it is shown: its words, and who says them."""
    return count_tokens(text) + TURN_TOKENS + count_tokens(turn.name)


def fit(text: str, budget: int) -> str:
    """Return `text` within `budget` tokens (at least a few words), the middle left out where it is longer."""
    spent = count_tokens(text)
    keep = len(text)
    while spent > budget and keep > 60:
        keep = min(int(keep * 0.9), int(keep * budget / spent)) - 10
        shorter = cut_middle(text, max(keep, 30))
        spent = count_tokens(shorter)
        if spent <= budget or keep <= 60:
            return shorter
    return text


def cut_middle(text: str, keep: int | None) -> str:
    """Keep the first two thirds and the last third of `keep` characters, with a note of what is missing between them."""
    if keep is None or len(text) <= keep:
        return text
    head, tail = keep * 2 // 3, keep // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[len(text) - tail :]}"


def window(turns: Sequence[Turn], texts: Sequence[str], budget: int) -> tuple[Piece, ...]:
    """Return the pieces to show, in order, within `budget` tokens. `texts`: the turns' words, masked, one for each turn."""
    pairs = list(zip(turns, texts, strict=True))
    shown: list[ShownTurn] = []
    for tool_keep, other_keep in _STEPS:
        shown = [
            ShownTurn(number, turn, cut_middle(text, tool_keep if turn.origin in (Origin.TOOL, Origin.WEB) else other_keep))
            for number, (turn, text) in enumerate(pairs, start=1)
        ]
        if sum(cost_of(piece.turn, piece.text) for piece in shown) <= budget:
            return tuple(shown)
    return _head_and_tail(shown, budget)


def _head_and_tail(shown: Sequence[ShownTurn], budget: int) -> tuple[Piece, ...]:
    head = _as_many_as_fit(shown, int(budget * HEAD_SHARE))
    rest = shown[len(head) :]
    used = sum(cost_of(piece.turn, piece.text) for piece in head)
    tail = _as_many_as_fit(list(reversed(rest)), budget - used - 2 * TURN_TOKENS)[::-1]
    left_out = rest[: len(rest) - len(tail)]
    gap = (Gap(left_out[0].number, left_out[-1].number),) if left_out else ()
    return (*head, *gap, *tail)


def _as_many_as_fit(pieces: Sequence[ShownTurn], budget: int) -> list[ShownTurn]:
    kept: list[ShownTurn] = []
    for piece in pieces:
        budget -= cost_of(piece.turn, piece.text)
        if budget < 0:
            break
        kept.append(piece)
    return kept
