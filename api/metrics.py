"""Prometheus figures: by route and status, by recall stage; what the ledger counts is asked when somebody looks."""

import math
from collections.abc import Mapping
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from sqlalchemy import Connection

from api.model_costs import ModelCosts
from api.refusal_counts import RefusalCounts
from hindwise.engine import Engine
from hindwise.errors import LedgerMismatch, LedgerUnavailable
from hindwise.ledger import erasures, outbox, reflections, refusals, spending
from hindwise.model.brief import Recalled

_FAST = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """One registry per application, so that two in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("hindwise_requests", "Requests by route and status", ["method", "route", "status"], registry=self.registry)
        self._seconds = Histogram("hindwise_request_seconds", "Time to answer", ["route"], buckets=_FAST, registry=self.registry)
        self._recall = Histogram("hindwise_recall_seconds", "Recall by stage", ["stage"], buckets=_FAST, registry=self.registry)
        self._recalls = Counter("hindwise_recalls", "Recalls by kind of answer", ["answer"], registry=self.registry)
        self._turns = Counter("hindwise_turns", "Turns by what became of them", ["result"], registry=self.registry)
        self._up = Gauge("hindwise_up", "Whether ledger, index and temporal answer", ["part"], registry=self.registry)
        self._reflections = Gauge("hindwise_reflections", "Reflections by status", ["status"], registry=self.registry)
        self._erasures = Gauge("hindwise_erasures", "Erasures that are not done, by status", ["status"], registry=self.registry)
        self._refusals = RefusalCounts()
        self.registry.register(self._refusals)
        self._costs = ModelCosts()
        self.registry.register(self._costs)
        self._outbox = Gauge("hindwise_outbox_rows", "Memories the index does not know yet", registry=self.registry)
        self._outbox_age = Gauge("hindwise_outbox_age_seconds", "Age of the oldest of them", registry=self.registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def recalled(self, answer: Recalled) -> None:
        """Count a recall and its stages."""
        self._recalls.labels("degraded" if answer.degraded else "items" if answer.items else "empty").inc()
        for stage, milliseconds in answer.timings.items():
            self._recall.labels(stage).observe(milliseconds / 1000)

    def turns(self, recorded: int, duplicates: int) -> None:
        """Count turns."""
        self._turns.labels("recorded").inc(recorded)
        self._turns.labels("duplicate").inc(duplicates)

    async def render(self, engine: Engine, parts: Mapping[str, bool]) -> bytes:
        """Return the text that Prometheus reads. `parts`: ledger, index and temporal, and whether each answers.

        Without the ledger its counts are left out, not guessed: the figures of this process are told all the same.
        """
        for part, answers in parts.items():
            self._up.labels(part).set(answers)
        self._reflections.clear()
        self._erasures.clear()
        try:
            if not parts["ledger"]:
                raise LedgerUnavailable("it did not answer a moment ago")
            by_status, erasing, (rows, oldest), refused, spent = await engine.ledger.read(_count)
        except (LedgerMismatch, LedgerUnavailable):
            self._up.labels("ledger").set(False)
            self._refusals.told(None)
            self._costs.told(None)
            self._outbox.set(math.nan)
            self._outbox_age.set(math.nan)
            return generate_latest(self.registry)
        self._refusals.told(refused)
        self._costs.told(spent)
        for status, number in by_status.items():
            self._reflections.labels(status).set(number)
        for status, number in erasing.items():
            self._erasures.labels(status).set(number)
        self._outbox.set(rows)
        self._outbox_age.set((engine.clock.now() - oldest).total_seconds() if oldest else 0)
        return generate_latest(self.registry)


_Counted = tuple[dict[str, int], dict[str, int], tuple[int, datetime | None], dict[str, int], list[spending.Spent]]


def _count(conn: Connection) -> _Counted:
    told = reflections.count_by_status(conn), erasures.unfinished(conn), outbox.depth(conn), refusals.counted(conn)
    return *told, spending.by_model(conn)
