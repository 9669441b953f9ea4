"""How long to wait before a dead child is started again, and when to stop trying. Pure: lifetimes in, pauses out."""

from dataclasses import dataclass

_LONGEST_PAUSE_S = 30.0


@dataclass(slots=True)
class Backoff:
    """Pauses of 1, 2, 4 … 30 s; after a life of `stable_s` the count starts again; `give_up_after` quick deaths end it.

    Before the first success the patience is short: what never worked is a mistake in the settings, not an accident.
    """

    stable_s: float = 60.0
    give_up_after: int = 3
    quick_deaths: int = 0

    def worked_once(self) -> None:
        """From now on deaths are accidents: be patient."""
        self.give_up_after = 10

    def after(self, lived_s: float) -> float | None:
        """Note a death after `lived_s`; return the pause in seconds, or None to give up."""
        self.quick_deaths = 1 if lived_s >= self.stable_s else self.quick_deaths + 1
        if self.quick_deaths >= self.give_up_after:
            return None
        return float(min(2.0 ** (self.quick_deaths - 1), _LONGEST_PAUSE_S))
