"""`hindwise_drafts_rejected_total{rule=}`: counted in the ledger by whichever worker refused, told by the API that is asked."""

from collections.abc import Iterable, Mapping

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from hindwise.reflect.validators import NAMES


class RefusalCounts(Collector):
    """A counter whose values the ledger keeps: the same from every API, and it survives every process."""

    def __init__(self) -> None:
        self._counted: Mapping[str, int] | None = None

    def told(self, counted: Mapping[str, int] | None) -> None:
        """Set what is told next; None = the ledger does not answer, and nothing is guessed."""
        self._counted = counted

    def collect(self) -> Iterable[CounterMetricFamily]:
        """One sample for each rule, 0 for those that never refused, so that an alert finds them."""
        if self._counted is None:
            return
        family = CounterMetricFamily("hindwise_drafts_rejected", "Drafts, or whole answers, that a rule refused", labels=["rule"])
        for rule in (*NAMES, *sorted(set(self._counted) - set(NAMES))):
            family.add_metric([rule], self._counted.get(rule, 0))
        yield family
