"""One run reported ten times at once, through two API processes, is one episode and one reflection, also a day later; a turn likewise."""

import asyncio
import copy
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import Connection, select
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from api.app import create_app
from api.sweeper import Sweeper
from hindwise.cli.supervisor import ports
from hindwise.engine import open_engine
from hindwise.ledger import episodes, sessions
from hindwise.ledger.schema import drafts, memories, memory_events, reflections, turns
from hindwise.settings import Settings
from hindwise.testing import FixedClock
from tests.accounts import Accounts, check, is_settled
from tests.processes import NAMESPACE, ROOT, Roles, until
from workflows.ids import reflection_workflow
from workflows.plugin import hindwise_plugin

TIMES = 10
BODY = json.loads((ROOT / "examples" / "dify" / "canvas_failed_zh.json").read_text(encoding="utf-8"))
TABLES = (episodes.episodes, reflections, drafts, memories, memory_events, turns)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """Everything, with two API processes on one ledger."""
    with Roles(tmp_path_factory.mktemp("once")) as roles:
        assert isinstance(roles, Roles)
        (port,) = ports.free_ports(1)
        roles.others.append(roles.make_api("second", port).start())
        roles.start()
        roles.second_url = f"http://127.0.0.1:{port}"
        roles.ready(url=roles.second_url)
        yield roles


@pytest.fixture(scope="module")
def reported(house: Roles) -> list[dict[str, Any]]:
    """The answers to the same body, sent ten times at once, half of them to each API."""
    answers = _at_once(house, lambda http, _: http.post("/v1/hooks/dify", json=BODY))
    assert [answer.status_code for answer in answers] == [202] * TIMES
    return [answer.json() for answer in answers]


def _at_once(house: Roles, send: Any) -> list[httpx2.Response]:
    urls = [house.url, house.second_url] * (TIMES // 2)
    with ThreadPoolExecutor(TIMES) as pool:

        def one(number: int) -> httpx2.Response:
            with house.http(urls[number]) as http:
                return send(http, number)

        return list(pool.map(one, range(TIMES)))


def _rows(conn: Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {table.name: sorted(tuple(map(str, row)) for row in conn.execute(select(table))) for table in TABLES}


def test_ten_reports_at_once_are_one_episode_and_one_reflection(house: Roles, reported: list[dict[str, Any]]) -> None:
    """One of the ten was first, the others were told so; one answer was asked for, its conclusions stand once."""
    assert Counter(answer["duplicate"] for answer in reported) == {False: 1, True: TIMES - 1}
    assert {(answer["episode_id"], answer["reflection_id"]) for answer in reported} == {
        (reported[0]["episode_id"], reported[0]["reflection_id"])
    }
    assert not any(answer["differs"] for answer in reported)
    until(lambda: house.book.read(lambda conn: is_settled(conn, 1)), "the reflection final and indexed", 60)
    accounts = Accounts()
    accounts.accepted(BODY["run"]["workflow_run_id"], reported[0])
    house.book.read(lambda conn: check(conn, accounts))


def test_another_body_of_the_same_run_is_told_and_the_first_is_kept(house: Roles, reported: list[dict[str, Any]]) -> None:
    """202 all the same: a 4xx would fail the sender's run."""
    other = copy.deepcopy(BODY)
    other["task"]["goal"] = "提交上海出差的交通费报销单"
    with house.http() as http:
        answer = http.post("/v1/hooks/dify", json=other)
        assert answer.status_code == 202
        assert (answer.json()["duplicate"], answer.json()["differs"]) == (True, True)
        kept = http.get(f"/v1/episodes/{reported[0]['episode_id']}").json()
    assert kept["goal"] == BODY["task"]["goal"]


async def test_a_day_later_it_is_still_the_same_run_though_temporal_has_forgotten_it(house: Roles, reported: list[dict[str, Any]]) -> None:
    """The day is skipped by the clock of a third API on the same ledger; behind it is a Temporal that has never heard of the run."""
    reflection_id = reported[0]["reflection_id"]
    await asyncio.to_thread(until, lambda: house.book.read(lambda conn: is_settled(conn, 1)), "the reflection final", 60)
    await asyncio.to_thread(_forget_everything, house)
    client = await _connected(house)
    assert await _is_unknown(client, reflection_workflow(reflection_id))
    before = house.book.read(_rows)
    async with _a_day_later(house) as http:
        answers = await asyncio.gather(*(http.post("/v1/hooks/dify", json=BODY) for _ in range(TIMES)))
        assert [answer.status_code for answer in answers] == [202] * TIMES
        assert [answer.json()["duplicate"] for answer in answers] == [True] * TIMES
        assert {answer.json()["reflection_id"] for answer in answers} == {reflection_id}
        assert {answer.json()["status"] for answer in answers} == {"completed"}
    assert house.book.read(_rows) == before
    assert await _is_unknown(client, reflection_workflow(reflection_id))  # nobody started it again


@asynccontextmanager
async def _a_day_later(house: Roles) -> AsyncIterator[httpx2.AsyncClient]:
    """An API in this process whose clock is a day ahead; at the end it also sweeps once, and has told all it had to tell."""
    settings = Settings(_env_file=None, data=house.data, embed="none", reflector="rules", temporal_address=house.temporal_address)  # type: ignore[call-arg]
    async with open_engine(settings, FixedClock(datetime.now(UTC) + timedelta(days=1))) as engine:
        app = create_app(settings, engine=engine, sweep=False)
        async with app.router.lifespan_context(app):
            dispatch = app.state.services.dispatch
            async with asyncio.timeout(20):
                while not dispatch.starter.available():
                    await asyncio.sleep(0.05)
            headers = {"Authorization": f"Bearer {(house.data / 'api_key').read_text().strip()}"}
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
                yield http
            await dispatch.idle()
            await Sweeper(dispatch).sweep()


def _forget_everything(house: Roles) -> None:
    """What the namespace's retention does in the end, for all of them at once."""
    house.temporal.kill()
    for path in house.data.glob("temporal.db*"):
        path.unlink()
    house.start_temporal()


async def _connected(house: Roles) -> Client:
    """A server that takes connections may still say for a moment that it is not healthy."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await Client.connect(house.temporal_address, namespace=NAMESPACE, plugins=[hindwise_plugin()])
            except RuntimeError:
                await asyncio.sleep(0.2)


async def _is_unknown(client: Client, workflow_id: str) -> bool:
    try:
        await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        return error.status is RPCStatusCode.NOT_FOUND
    return False


def test_the_same_turn_sent_ten_times_at_once_is_one_turn(house: Roles) -> None:
    """Whoever came first recorded it; all are told 200."""
    body = {"user_id": "ann", "turns": [{"turn_id": "t1", "role": "user", "content": "请退掉我的订单"}]}
    answers = _at_once(house, lambda http, _: http.post("/v1/sessions/tenfold/turns", json=body))
    assert [answer.status_code for answer in answers] == [200] * TIMES
    assert sorted((answer.json()["recorded"], answer.json()["duplicates"]) for answer in answers) == [(0, 1)] * (TIMES - 1) + [(1, 0)]
    assert {answer.json()["turn_count"] for answer in answers} == {1}
    assert [turn.content for turn in house.book.read(lambda conn: sessions.turns_of(conn, "default", "tenfold", 1, 99))] == [
        "请退掉我的订单"
    ]


def test_ten_contents_under_one_turn_id_keep_the_first_and_tell_the_others(house: Roles) -> None:
    """At once, through both processes: one 200, nine 409 that name the id and write nothing, not even their other turns."""

    def send(http: httpx2.Client, number: int) -> httpx2.Response:
        said = [
            {"turn_id": "t1", "role": "user", "content": f"version {number}"},
            {"turn_id": f"n{number}", "role": "user", "content": "x"},
        ]
        return http.post("/v1/sessions/contested/turns", json={"user_id": "ann", "turns": said})

    answers = _at_once(house, send)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: TIMES - 1}
    first = next(number for number, answer in enumerate(answers) if answer.status_code == 200)
    for answer in answers:
        if answer.status_code == 409:
            assert answer.headers["content-type"].startswith("application/problem+json")
            assert answer.json()["conflicts"] == ["t1"]
    kept = house.book.read(lambda conn: sessions.turns_of(conn, "default", "contested", 1, 99))
    assert [(turn.turn_id, turn.content) for turn in kept] == [("t1", f"version {first}"), (f"n{first}", "x")]
    with house.http() as http:
        again = http.post(
            "/v1/sessions/contested/turns",
            json={"user_id": "ann", "turns": [{"turn_id": "t1", "role": "user", "content": f"version {first}"}]},
        )
    assert (again.status_code, again.json()["duplicates"]) == (200, 1)
