"""What a question to a model may cost, before it is asked, and what it did cost. Pure: the ledger keeps the sums (`ledger/spending.py`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hindwise.errors import BudgetSpent
from hindwise.model.reflection import Usage
from hindwise.model.turn import Turn
from hindwise.reflect.llm.prompt import MODEL_BUDGET
from hindwise.reflect.llm.window import TURN_TOKENS
from hindwise.text.token_budget import count_tokens

MARK = "budget"
"""Why rules stood in, where the day's tokens were used up."""
PER_TRANSCRIPT_TOKEN = 1.3
FIXED_TOKENS = 6_000
"""Of one question, beside the transcript: instructions, what is known, the form where an endpoint shows it, and the longest answer."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens read and written. One that is 0 is not known."""

    read: float = 0.0
    written: float = 0.0

    def cost_of(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """In the prices' currency; None where a price is not known."""
        if not (self.read and self.written):
            return None
        return (prompt_tokens * self.read + completion_tokens * self.written) / _MILLION


def accounted(usage: Usage, model: str, prices: Prices, *, again: bool) -> Usage:
    """What one question cost, with the model's name and the money. again: it was asked after a complaint."""
    if not usage.calls:
        return usage
    cost = prices.cost_of(usage.prompt_tokens, usage.completion_tokens)
    return usage.model_copy(update={"model": model, "cost": cost, "reasks": usage.calls if again else 0})


def estimate(turns: Iterable[Turn]) -> int:
    """Tokens that one question about these turns costs at the most, by our counter: what is held for it until it was answered.

    Grows with the transcript up to what a question may ever cost. Counting ends there, however long the transcript is.
    """
    whole, enough = 0, MODEL_BUDGET
    for turn in turns:
        whole += TURN_TOKENS + count_tokens(turn.text()[: 10 * MODEL_BUDGET]) + count_tokens(turn.name)
        if whole > enough:
            return MODEL_BUDGET
    return min(MODEL_BUDGET, int(PER_TRANSCRIPT_TOKEN * whole) + FIXED_TOKENS)


def day_of(now: datetime) -> str:
    """The day that a question counts for: YYYY-MM-DD in UTC."""
    return now.astimezone(UTC).date().isoformat()


def next_day(now: datetime) -> datetime:
    """When the next day's tokens may be used."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def spent(ceiling: int, used: int, held: int, now: datetime) -> BudgetSpent:
    """The error that says so, with the figures and when to go on. used, held: tokens of the tenant's day."""
    again = next_day(now)
    sooner = ", or when those are answered" if held else ""
    error = BudgetSpent(
        f"the model may cost {ceiling:,} tokens a day (HINDWISE_LLM_DAILY_TOKENS): {used:,} are used and {held:,} held for questions under "
        f"way, too few are left for this one; go on after {again:%Y-%m-%d %H:%M} UTC{sooner}",
        retry_after_s=(again - now).total_seconds(),
    )
    error.extra = {"ceiling": ceiling, "used": used, "held": held, "resumes_at": again.isoformat().replace("+00:00", "Z")}
    return error
