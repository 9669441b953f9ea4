"""`hindwise_llm_…`: what models cost, counted in the ledger by whichever process asked, told by the API that is asked."""

from collections.abc import Iterable, Sequence

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from hindwise.ledger.spending import Spent


class ModelCosts(Collector):
    """Counters whose values the ledger keeps: the same from every API, and they survive every process. Summed over all tenants."""

    def __init__(self) -> None:
        self._spent: Sequence[Spent] | None = None

    def told(self, spent: Sequence[Spent] | None) -> None:
        """Set what is told next, one entry for each model; None = the ledger does not answer, and nothing is guessed."""
        self._spent = spent

    def collect(self) -> Iterable[CounterMetricFamily]:
        """A cost is told only for models whose prices are known."""
        if self._spent is None:
            return
        calls = CounterMetricFamily(
            "hindwise_llm_calls", "Answers of a model: to a first question, or asked again", labels=["model", "kind"]
        )
        tokens = CounterMetricFamily(
            "hindwise_llm_tokens", "Tokens read and written; lost: held by what was cut off", labels=["model", "kind"]
        )
        cost = CounterMetricFamily("hindwise_llm_cost", "Money, by the prices in the settings", labels=["model"])
        spared = CounterMetricFamily("hindwise_llm_calls_spared", "Tasks that no model was asked about", labels=["model", "why"])
        for one in self._spent:
            calls.add_metric([one.model, "first"], one.calls - one.reasks)
            calls.add_metric([one.model, "again"], one.reasks)
            for kind, number in (("prompt", one.prompt_tokens), ("completion", one.completion_tokens), ("lost", one.lost_tokens)):
                tokens.add_metric([one.model, kind], number)
            if one.cost is not None:
                cost.add_metric([one.model], one.cost)
            spared.add_metric([one.model, "nothing-to-learn"], one.saved)
            spared.add_metric([one.model, "budget"], one.refused)
        yield from (calls, tokens, cost, spared)
