"""A polite or firm request for the task at hand is no standing order, in English and Chinese."""

import pytest

from bench.reflection.one_off import examples, is_kept
from hindwise.model.memory import Kind
from hindwise.reflect.rules.slots import slot_of
from hindwise.reflect.rules.statements import kind_of, statements_of


@pytest.mark.parametrize("language", ["en", "zh"])
def test_most_requests_of_once_are_left_and_most_standing_orders_are_kept(language: str) -> None:
    """Of twenty each; before there was a rule, half of the English and four of five Chinese requests were kept."""
    kept = {
        standing: [is_kept(said) for _, holds, of, said in examples() if of == language and holds is standing] for standing in (True, False)
    }
    assert len(kept[True]) == len(kept[False]) == 20
    assert sum(kept[True]) >= 19
    assert sum(kept[False]) <= 1


@pytest.mark.parametrize(
    "said",
    [
        "你好，请把我明天去苏州的高铁票改签到下午三点以后的车次",
        "Hello, please change my train to Suzhou tomorrow to one after 3 pm",
        "明天的会议请提前半小时开始，务必通知所有人",
        "Please remember to attach the receipt to this order",
        "Don't ship order 88213 before Friday",
        "Never book tomorrow's flight with a stopover",
        "Always deliver tomorrow's parcels to the back door",
        "Never move tomorrow's meeting",
        "Tomorrow's meetings must never start before nine",
        "明天的会都不要排在九点前",
        "明天的会一律不要排在九点前",
        "永远不要取消明天的航班",
        "Please never ever call me today.",
        "今天千万不要给我打电话",
        "Please call me back",
        "请给我回个电话",
    ],
)
def test_what_ends_with_its_task_is_no_memory(said: str) -> None:
    """Bound to a day, to one order, or to what is pointed at."""
    assert list(statements_of(said)) == []


@pytest.mark.parametrize(
    "said",
    [
        "从明天起，发票抬头一律用公司名",
        "Starting tomorrow, send me the schedule every morning, please always by e-mail",
        "Ignore the old layout; from today use tables for every comparison.",
        "In this project, always run the tests before you commit",
        "这个项目的提交说明一律用英文写",
        "Always put today's date on letters",
        "以后订今天这种票都选靠窗的座位",
        "请记住我今天说的：发票一律开公司抬头",
        "Please always answer in English, as you did today",
        "Don't use this form again",
        "Never put tomorrow's meetings before nine",
        "Always send me tomorrow's schedule in the evening",
        "永远不要把明天的会排在九点前",
        "总是在晚上把明天的日程发给我",
        "以后明天的会都不要排在九点前",
    ],
)
def test_a_standing_order_may_name_a_day_or_a_place(said: str) -> None:
    """It says from when it holds, or where; or it begins with never or always, and means what each day has."""
    assert [statement.kind for statement in statements_of(said)] in ([Kind.INSTRUCTION], [Kind.PREFERENCE])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("帮我订明天去上海的酒店，我对海鲜过敏", [Kind.FACT]),
        ("帮我订明天去上海的酒店，以后房间都要高楼层", [Kind.INSTRUCTION]),
        ("帮我订明天去上海的酒店，房间必须高楼层", []),
        ("Book me a hotel in Bern for tomorrow, and always pick a high floor", [Kind.INSTRUCTION]),
    ],
)
def test_beside_a_request_of_once_only_what_outlasts_it_is_kept(said: str, kept: list[Kind]) -> None:
    """Each clause by its own words."""
    assert [Kind.INSTRUCTION if s.kind is Kind.PREFERENCE else s.kind for s in statements_of(said)] == kept


@pytest.mark.parametrize(
    ("said", "kind"), [("Please call me Ann", Kind.FACT), ("Never call me Annie", Kind.INSTRUCTION), ("请叫我小安", Kind.FACT)]
)
def test_a_name_that_somebody_is_to_be_called_by_is_no_telephone_call(said: str, kind: Kind) -> None:
    assert kind_of(said) is kind
    assert slot_of(said).attribute == "form of address"


@pytest.mark.parametrize("said", ["Never call me today", "昨天叫我的人是经理", "叫我起床的人是我妈妈"])
def test_what_is_no_call_by_name_stands_in_no_slot_of_one(said: str) -> None:
    assert slot_of(said).attribute != "form of address"
