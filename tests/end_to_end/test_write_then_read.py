"""What was written is found by the very next search, over HTTP, with nothing but the API: no worker, no dispatcher, no Temporal."""

import random
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select

from hindwise.ledger.schema import outbox
from tests.processes import Roles

TIMES = 1_000

_PLACES = ["Lisbon", "Oslo", "Kyoto", "Lima", "Accra", "Turin", "Perth", "Quito"]
_FOODS = ["noodles", "olives", "lentils", "plums", "cashews", "spinach", "waffles", "radishes"]
_ORTE = ["成都", "西安", "青岛", "厦门", "昆明", "大理", "苏州", "兰州"]
_SPEISEN = ["米线", "饺子", "豆腐", "荔枝", "核桃", "莲藕", "汤圆", "年糕"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """An API without anything behind it. Requests of one key are not the question here, so their rate is not limited."""
    with Roles(tmp_path_factory.mktemp("alone"), HINDWISE_RATE_LIMIT_PER_MINUTE="1000000") as roles:
        assert isinstance(roles, Roles)
        roles.api.start()
        roles.ready("degraded")
        yield roles


def _sentence(number: int, chooser: random.Random) -> tuple[str, str]:
    """A sentence of its own, and a question whose words it shares; every second one in Chinese."""
    if number % 2:
        place, food = chooser.choice(_ORTE), chooser.choice(_SPEISEN)
        return f"{place}第{number}号仓库里存放着{food}", f"{place}第{number}号仓库存放{food}吗"
    place, food = chooser.choice(_PLACES), chooser.choice(_FOODS)
    return f"Warehouse {number} in {place} stores {food}", f"what does warehouse {number} in {place} store, {food}?"


def test_a_thousand_memories_are_each_found_by_the_next_search(alone: Roles) -> None:
    """1,000 of 1,000; all of the last 200 and far more still wait for the index while they are found."""
    chooser, missed = random.Random(7), []
    with alone.http() as http:
        for number in range(TIMES):
            content, question = _sentence(number, chooser)
            user = f"user-{number % 7}"
            written = http.post("/memory", json={"content": content, "user_id": user})
            assert written.status_code == 201, written.text
            found = http.get("/memory/search", params={"q": question, "user_id": user})
            assert found.status_code == 200, found.text
            if written.json()["id"] not in [item["id"] for item in found.json()["results"]]:
                missed.append((content, found.json()["results"]))
    assert missed == []
    waiting = alone.book.read(lambda conn: conn.execute(select(func.count()).select_from(outbox)).scalar_one())
    print(f"\nfound {TIMES - len(missed)} of {TIMES}; {waiting} rows wait for the index")


def test_the_default_user_of_the_two_lines_of_curl_finds_a_sentence_in_both_languages(alone: Roles) -> None:
    """As the articles show it: no user, no kind, nothing but the sentence."""
    with alone.http() as http:
        for content, question in (
            ("User prefers replies in Chinese", "In which language are replies preferred?"),
            ("用户偏好用表格查看报销数据", "报销数据用表格吗"),
        ):
            written = http.post("/memory", json={"content": content})
            assert written.status_code == 201
            assert written.json()["status"] == "active"
            results = http.get("/memory/search", params={"q": question}).json()["results"]
            assert written.json()["id"] in [item["id"] for item in results]
