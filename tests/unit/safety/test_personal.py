"""What leads to one person is found before a lesson is shared."""

import pytest

from hindwise.safety.identities import identities
from hindwise.safety.personal import personal_data, scrub
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


@pytest.mark.parametrize(
    ("said", "shared"),
    [
        ("Hi, I'm Wilma Krath-Boone", "Refund the order of Boone"),
        ("my name is jöhanna o'dwyer and I want a seat", "Jöhanna asked for a seat"),
        ("my name is hugo zeb, please help", "ask Zeb first"),
        ("my husband Grzegorz needs a vegan meal", "grzegorz has no booking"),
        ("Passenger: Nils Holm", "Holm must confirm"),
        ("我叫李雷想退票", "先核实李雷的身份"),
        ("我是欧阳梓涵，请退款", "没有核实欧阳梓涵"),
        ("收货人:司马青鸾,地址不变", "客户司马青鸾很生气"),
        ("王翠花是我妈妈", "王翠花的改签失败"),
    ],
)
def test_who_is_introduced_in_plain_words_stays_out_of_what_is_shared(said: str, shared: str) -> None:
    assert personal_data(shared, names=identities(make_episode(turns=(make_turn(said),))))


def test_whoever_stands_under_a_persons_key_stays_out_of_what_is_shared() -> None:
    called = {"passengers": ["grzegorz"], "乘客": "王翠花", "name": "司马青鸾", "recipient": "Mbeki Tshaba"}
    turns = (make_turn("", role="assistant", tool_calls=(make_call("book", **called),)),)
    names = identities(make_episode(turns=turns))
    for shared in ("grzegorz has no booking", "Grzegorz", "王翠花没有权限", "客户司马青鸾", "Tshaba should confirm"):
        assert personal_data(shared, names=names), shared


@pytest.mark.parametrize(
    "text",
    ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "1Z999AA10123456784", "tell Aunt Philomena", "Dr. Quimby"],
)
def test_accounts_parcels_and_titled_people_are_found_without_being_known(text: str) -> None:
    assert personal_data(text)


def test_introductions_take_no_ordinary_words() -> None:
    for said in (
        "i am looking for a flight",
        "My name is not on the list",
        "my husband needs a seat",
        "我是金卡会员，想退票",
        "联系人有误",
    ):
        assert identities(make_episode(turns=(make_turn(said),), user_id="user-1")) == {"user-1"}, said


def test_a_plain_user_id_names_nobody() -> None:
    for user in ("user-1", "default", "agent", "customer_service"):
        names = identities(make_episode(user_id=user))
        assert personal_data("User, agent, default and customer service agree", names=names) == []


def test_what_reaches_beyond_another_find_is_hidden_to_its_end() -> None:
    assert "LI" not in scrub("a@b.co.MIA LI asked", names=["MIA LI"])
