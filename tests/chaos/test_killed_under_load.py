"""Kill -9 of a server, of the API, and of the whole tree while callers send: nothing is lost, nothing is there twice."""

from collections.abc import Callable
from pathlib import Path

from tests.accounts import Accounts, check, is_settled
from tests.chaos.load import Callers
from tests.processes import Up, until

CALLERS, TASKS = 3, 9


def _kill_tree_and_start_again(up: Up) -> None:
    up.kill_tree()
    up.start()


BLOWS: dict[str, Callable[[Up], object]] = {
    "the Temporal server": lambda up: up.ready(without=up.kill("temporal_server")),
    "the API": lambda up: up.ready(without=up.kill("api")),
    "the whole tree": _kill_tree_and_start_again,
}


def test_nothing_is_lost_and_nothing_is_there_twice_whatever_is_killed(tmp_path: Path) -> None:
    """One load through three blows, each at a moment when tasks are accepted and reflections run."""
    accounts = Accounts()
    with Up(tmp_path / "data").start() as up:
        assert isinstance(up, Up)
        callers = [Callers(str(number), TASKS, up.http, accounts) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        for number, strike in enumerate(BLOWS.values()):
            due = 3 + number * CALLERS * TASKS // 4
            until(lambda due=due: accounts.count() >= due or _failed(callers), f"{due} tasks accepted", 60)
            strike(up)
        for caller in callers:
            caller.join(90)
        assert not [caller.name for caller in callers if caller.is_alive()]
        assert _failed(callers) == []
        assert sum(caller.repeated for caller in callers) > 0  # somebody felt it
        assert len(accounts.episodes) == CALLERS * TASKS
        until(lambda: up.book.read(lambda conn: is_settled(conn, len(accounts.episodes))), "every reflection final and indexed", 90)
        up.book.read(lambda conn: check(conn, accounts))
        with up.http() as http:
            found = http.post("/v1/recall", json={"user_id": "user-0", "agent_id": "desk", "query": "refund the late order"}).json()
            assert found["items"]
            assert not found["degraded"]


def _failed(callers: list[Callers]) -> list[str]:
    return [caller.failed for caller in callers if caller.failed]
