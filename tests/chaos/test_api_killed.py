"""Kill -9 of the API between the ledger write and the call to Temporal, and between that call and the note that it arrived."""

import random
import signal
from collections.abc import Iterator
from threading import Thread
from typing import Any

import httpx2
import pytest

from hindwise.cli.supervisor import ports
from hindwise.ledger import sessions
from tests.accounts import Accounts, check, is_settled
from tests.chaos.dying_api import POINTS
from tests.chaos.load import messages
from tests.processes import Process, Roles, frozen, until


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """Temporal, a worker and an API that lives, on one data directory."""
    with Roles(tmp_path_factory.mktemp("killed"), HINDWISE_TEMPORAL_RPC_TIMEOUT_S="2") as roles:
        assert isinstance(roles, Roles)
        roles.start()
        yield roles


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    """Of all tests of this module: they share a ledger."""
    return Accounts()


def turns_of(session: str) -> list[dict[str, Any]]:
    return messages(1, random.Random(session))


def send(house: Roles, url: str, path: str, body: dict[str, Any], expected: int) -> dict[str, Any] | None:
    """The answer, or None where the connection broke before there was one."""
    try:
        with house.http(url) as http:
            answer = http.post(path, json=body)
    except httpx2.TransportError:
        return None
    assert answer.status_code == expected, answer.text
    told: dict[str, Any] = answer.json()
    return told


def finish(house: Roles, accounts: Accounts) -> None:
    """Everything that was accepted completes, and the ledger agrees."""
    expected = len(accounts.episodes)
    until(lambda: house.book.read(lambda conn: is_settled(conn, expected)), "every reflection final and indexed", 60)
    house.book.read(lambda conn: check(conn, accounts))


def test_what_the_ledger_has_is_done_once_wherever_the_api_dies(house: Roles, accounts: Accounts) -> None:
    """The caller repeats what was not answered, at another API of the same house; nothing else is needed."""
    dying = dict(zip(POINTS, ports.free_ports(len(POINTS)), strict=True))
    house.others = [house.make_api(f"dies-at-{at}", port, "tests.chaos.dying_api", "--at", at).start() for at, port in dying.items()]
    for process, (point, port) in zip(house.others, dying.items(), strict=True):
        house.ready(url=f"http://127.0.0.1:{port}")
        _send_all(house, accounts, process, f"http://127.0.0.1:{port}", point)
    finish(house, accounts)


def _send_all(house: Roles, accounts: Accounts, dying: Process, url: str, point: str) -> None:
    session, owner, turns = f"s-{point}", {"user_id": "ann", "agent_id": "desk"}, turns_of(f"s-{point}")
    steps: list[tuple[str, dict[str, Any], int]] = [
        (f"/v1/sessions/{session}/turns", {**owner, "turns": turns}, 200),
        (f"/v1/sessions/{session}/complete", {"outcome": {"status": "failure", "source": "env"}}, 202),
        ("/v1/episodes", {**owner, "run_id": f"r-{point}", "turns": turns, "outcome": {"status": "failure"}}, 202),
    ]
    unanswered = _until_it_dies(house, dying, url, steps)
    answers = [send(house, house.url, *step) for step in steps[unanswered:]]
    told = {path: answer for (path, _, _), answer in zip(steps[unanswered:], answers, strict=True) if answer}
    _book(accounts, session, f"r-{point}", turns, told, house)


def _until_it_dies(house: Roles, dying: Process, url: str, steps: list[tuple[str, dict[str, Any], int]]) -> int:
    """Send step after step until the API is gone; the number of the first one that its caller has to repeat.

    A step that is answered is done in the background; the caller does not repeat it, whatever becomes of the API then.
    """
    for number, step in enumerate(steps):
        answer = send(house, url, *step)
        if answer is None:
            assert dying.gone() == -signal.SIGKILL
            return number
    assert dying.gone() == -signal.SIGKILL
    return len(steps)


def _book(accounts: Accounts, session: str, run: str, turns: list[dict[str, Any]], told: dict[str, dict[str, Any]], house: Roles) -> None:
    """Note what was accepted: from the answers to repetitions, else by asking again, which changes nothing."""
    accounts.recorded(session, turns)
    for key, path, body in (
        (session, f"/v1/sessions/{session}/complete", {"outcome": {"status": "failure", "source": "env"}}),
        (
            run,
            "/v1/episodes",
            {"user_id": "ann", "agent_id": "desk", "run_id": run, "turns": turns, "outcome": {"status": "failure"}},
        ),
    ):
        answer = told.get(path) or send(house, house.url, path, body, 202)
        assert answer is not None
        accounts.accepted(key, answer, turns if key == run else ())


def test_an_api_killed_while_temporal_stands_still_loses_nothing(house: Roles, accounts: Accounts) -> None:
    """The usual case behind it: Temporal does not answer, the callers are told `queued`, and then the API dies too."""
    turns, owner = turns_of("still"), {"user_id": "ann", "agent_id": "desk"}
    with frozen(house.temporal):
        queued = send(house, house.url, "/v1/sessions/still/turns", {**owner, "turns": turns}, 200)
        assert queued is not None
        assert queued["status"] == "queued"
        accounts.recorded("still", turns)
        done = send(house, house.url, "/v1/sessions/still/complete", {"outcome": {"status": "failure"}, "close": True}, 202)
        assert done is not None
        accounts.accepted("still", done)
        run = {**owner, "run_id": "r-still", "turns": turns, "outcome": {"status": "failure"}}
        kept = send(house, house.url, "/v1/episodes", run, 202)
        assert kept is not None
        accounts.accepted("r-still", kept, turns)
        house.api.kill()
    house.api.start()
    finish(house, accounts)


def test_a_call_cut_by_the_kill_is_there_once_after_it_is_repeated(house: Roles, accounts: Accounts) -> None:
    """The API dies while the caller waits for the answer to its turns, which stand in the ledger already."""
    turns = turns_of("cut")
    body = {"user_id": "ann", "agent_id": "desk", "turns": turns}
    with frozen(house.temporal), house.http() as http, pytest.raises(httpx2.TransportError):
        _kill_once_written(house, http, body)
    house.api.start()
    house.ready()
    again = send(house, house.url, "/v1/sessions/cut/turns", body, 200)
    assert again is not None
    assert (again["recorded"], again["duplicates"]) == (0, len(turns))
    accounts.recorded("cut", turns)
    done = send(house, house.url, "/v1/sessions/cut/complete", {"outcome": {"status": "failure"}}, 202)
    assert done is not None
    accounts.accepted("cut", done)
    finish(house, accounts)


def _kill_once_written(house: Roles, http: httpx2.Client, body: dict[str, Any]) -> None:
    def written() -> bool:
        row = house.book.read(lambda conn: sessions.find(conn, "default", "cut"))
        return row is not None and row.last_seq > 0

    def strike() -> None:
        until(written, "the turns in the ledger", 20, every=0.01)
        house.api.send(signal.SIGKILL)

    striker = Thread(target=strike)
    striker.start()
    try:
        http.post("/v1/sessions/cut/turns", json=body)
    finally:
        striker.join()
        house.api.gone()


def test_the_accounts_hold_something(accounts: Accounts) -> None:
    """So that the checks above are not about nothing."""
    assert accounts.count() == 2 * len(POINTS) + 3
