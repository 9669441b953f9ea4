"""Two APIs, two workers, Temporal, Postgres and Weaviate: kill -9 of any one of them under load. The longer run: make cluster."""

import pytest

from tests.chaos.blows import BLOWS, RECALL_LIMIT_S, Felt, Outcome, strike_all
from tests.servers.cluster import Cluster
from tests.servers.fixtures import or_left_out


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Of all blows; it asserts itself that the ledger holds everything once."""
    folder = tmp_path_factory.mktemp("cluster")
    cluster = or_left_out(lambda: Cluster(folder, HINDWISE_EMBED="none", HINDWISE_SWEEP_INTERVAL_S="1"))
    assert isinstance(cluster, Cluster)
    with cluster:
        told = strike_all(cluster)
    return told


def felt(outcome: Outcome, name: str) -> Felt:
    return next(blow for blow in outcome.blows if blow.name == name)


def test_nothing_is_lost_or_doubled_whatever_is_killed(outcome: Outcome) -> None:
    """Asserted on the ledger when the blows were over; here that they met a load."""
    assert [blow.name for blow in outcome.blows] == list(BLOWS)
    assert outcome.tasks >= 4 * len(BLOWS)
    assert outcome.wrong == []


@pytest.mark.parametrize("name", [name for name in BLOWS if name != "ledger"], ids="without {}".format)
def test_recall_is_answered_all_the_time(outcome: Outcome, name: str) -> None:
    recalls = felt(outcome, name).recalls
    assert set(recalls) <= {"answered", "degraded"}, recalls
    assert sum(recalls.values()) >= 5
    assert felt(outcome, name).slowest_recall_s < RECALL_LIMIT_S


def test_without_its_ledger_recall_is_refused_with_a_time_to_wait(outcome: Outcome) -> None:
    recalls = felt(outcome, "ledger").recalls
    assert set(recalls) <= {"answered", "degraded", "refused"}, recalls
    assert recalls.get("refused", 0) > 0
    assert recalls.get("answered", 0) > 0


def test_callers_meet_broken_connections_and_503_and_nothing_else(outcome: Outcome) -> None:
    kinds = {kind for blow in outcome.blows for kind in blow.errors}
    assert not {kind for kind in kinds if kind.isdigit()} - {"503"}, kinds
