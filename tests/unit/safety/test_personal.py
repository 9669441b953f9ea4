"""What leads to one person is found before a lesson is shared."""

import pytest

from hindwise.safety.personal import identities, personal_data, scrub
from tests.build import make_call, make_episode, make_turn

NAMES = ["mia_li_3668", "王小明"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mail mia@shop.example now", ["mia@shop.example"]),
        ("call 13812345678", ["13812345678"]),
        ("打电话 138-1234-5678", ["138-1234-5678"]),
        ("call +49 170 1234567", ["+49 170 1234567"]),
        ("cancel XEHM4B on HAT069", ["XEHM4B", "HAT069"]),
        ("the upcoming flight in reservation HXDUBJ", ["HXDUBJ"]),
        ("use credit_card_4421486", ["credit_card_4421486"]),
        ("for mia_li_3668", ["mia_li_3668"]),
        ("for mia_li", ["mia_li"]),
        ("for Mia and Li", ["Mia", "Li"]),
        ("给王小明退款", ["王小明"]),
        ("card ending in 7447", ["ending in 7447"]),
        ("at 975 Sunset Drive", ["975 Sunset Drive"]),
        ("order #12345678", ["#12345678"]),
    ],
)
def test_personal_words_are_found(text: str, found: list[str]) -> None:
    assert personal_data(text, names=NAMES) == found


@pytest.mark.parametrize(
    "text",
    [
        "When update_reservation_flights fails with HTTP 422, check payment_id first",
        "when asked to like or mind something, milk it",
        "use UTF8, SHA256 or GPT4; wait 60 seconds; retry 3 times",
        "当任务是“提交年假申请”时，先确认条件再执行“校验天数”",
        "get_user_details → search_direct_flight → book_reservation",
    ],
)
def test_general_words_are_not(text: str) -> None:
    assert personal_data(text, names=NAMES) == []


def test_scrubbing_leaves_nothing_personal_in_either_language() -> None:
    for language, text in (("en", "Refund XEHM4B to Mia at mia@shop.example"), ("zh", "给王小明的13812345678退订单HAT069")):
        assert personal_data(scrub(text, names=NAMES, language=language), names=NAMES) == []


def test_who_it_is_about_is_read_from_the_episode() -> None:
    turns = (
        make_turn("Hi, I'm Ana Petrova", seq=1),
        make_turn("我叫李雷", seq=2),
        make_turn("", role="assistant", seq=3, tool_calls=(make_call("get_reservation", reservation_id="AQLBTL"),)),
        make_turn('{"name": {"first_name": "Sofia", "last_name": "Kim"}, "cabin": "economy"}', role="tool", name="get_reservation", seq=4),
    )
    names = identities(make_episode(turns=turns, user_id="mia_li_3668"))
    assert {"mia_li_3668", "Ana Petrova", "李雷", "AQLBTL", "Sofia", "Kim"} <= names
    assert "economy" not in names


def test_a_plain_user_id_names_nobody() -> None:
    for user in ("user-1", "default", "agent", "customer_service"):
        names = identities(make_episode(user_id=user))
        assert personal_data("User, agent, default and customer service agree", names=names) == []
