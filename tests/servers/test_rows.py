"""What was left out is said plainly, and each row's time is told."""

from types import SimpleNamespace

import pytest

from tests.servers import places, rows
from tests.servers.fixtures import or_left_out


@pytest.mark.parametrize(
    ("test", "row"),
    [
        ("tests/conformance/ledger/test_sessions.py::test_a[postgres]", "conformance/ledger on postgres"),
        ("tests/conformance/ledger/test_resolution.py::test_a[sqlite-replaced]", "conformance/ledger on sqlite"),
        ("tests/end_to_end/test_story.py::test_a[postgres+weaviate]", "end_to_end on postgres+weaviate"),
        ("tests/conformance/ledger/test_postgres_away.py::test_a", "conformance/ledger on postgres"),
        ("tests/unit/test_words.py::test_a[postgre]", ""),
        ("tests/unit/test_words.py::test_a", ""),
    ],
)
def test_a_test_belongs_to_the_row_of_its_folder_and_set_up(test, row):
    assert rows.row_of(test) == row


def test_a_rows_time_holds_set_up_and_tear_down_and_counts_tests_once():
    name = "tests/conformance/ledger/test_sessions.py::test_a[postgres]"
    parts = [SimpleNamespace(nodeid=name, when=when, duration=0.5) for when in ("setup", "call", "teardown")]
    assert rows.times(parts) == {"conformance/ledger on postgres": (1, 1.5)}


def test_a_file_that_cannot_be_imported_has_no_time_and_hides_no_other():
    """Else the summary would end in an error of its own, in the place of the one that is to be read."""
    broken = SimpleNamespace(nodeid="tests/engine/test_weaviate_outage.py", when="collect")
    ran = SimpleNamespace(nodeid="tests/engine/test_weaviate_rest.py::test_a", when="call", duration=0.5)
    assert rows.times([broken, ran]) == {"engine on weaviate": (1, 0.5)}


def test_only_what_make_servers_cures_is_told_as_left_out():
    def skipped(reason):
        return SimpleNamespace(longrepr=("file.py", 1, f"Skipped: {reason}"))

    missing = f"Weaviate is not built: {places.HOW}, or name one"
    assert rows.left_out([skipped(missing), skipped(missing), skipped("no evaluation data")]) == {missing: 2}


def missing_server():
    raise places.Missing(f"PostgreSQL is not installed: {places.HOW}")


def test_a_missing_server_leaves_its_tests_out_here_and_fails_them_in_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="make servers"):
        or_left_out(missing_server)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="make servers"):
        or_left_out(missing_server)


def test_a_cache_that_holds_no_server_says_how_to_fill_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HINDWISE_SERVERS_DIR", str(tmp_path))
    with pytest.raises(places.Missing, match=r"make servers.*HINDWISE_TEST_WEAVIATE_URL"):
        places.weaviate_binary()
