"""Masking loses nothing that is no secret: neither parts of JSON, nor ids, messages, paths and dates, in the text as in the object."""

import json
import time
from typing import Any

import pytest

from api.storing import Storing
from hindwise.safety.contacts import Contacts
from hindwise.safety.json_text import is_json, still_json
from hindwise.safety.masking import mask, mask_json
from tests.unit.safety.masking_attacks import attacks

PHONES = Contacts(phones=True)


def both_ways(value: Any) -> Any:
    """The value masked as an object; as text, closely and widely written, it says the same."""
    told = mask_json(value, PHONES)
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, indent=1)):
        masked = mask(text, PHONES)
        assert json.loads(masked.text) == told, text
        assert mask(masked.text, PHONES) == (masked.text, ())
    return told


def test_two_names_that_are_masked_alike_keep_both_values() -> None:
    assert both_ways({"13800138000": "Li", "13900139000": "王", "15012345678": 3}) == {
        "[masked:phone]": "Li",
        "[masked:phone] 2": "王",
        "[masked:phone] 3": 3,
    }
    assert both_ways({"a": [{"13800138000": 1}, {"13900139000": 2}]}) == {"a": [{"[masked:phone]": 1}, {"[masked:phone]": 2}]}
    assert mask_json({"[masked:phone] 2": 0, "13800138000": 1, "13900139000": 2}, PHONES) == {
        "[masked:phone] 2": 0,
        "[masked:phone]": 1,
        "[masked:phone] 3": 2,
    }


def test_names_within_escaped_json_and_names_that_come_twice_stay_apart() -> None:
    inner = json.dumps({"13800138000": "Li", "13900139000": "Wang"})
    told = json.loads(mask(json.dumps({"answer": inner}), PHONES).text)
    assert json.loads(told["answer"]) == {"[masked:phone]": "Li", "[masked:phone] 2": "Wang"}
    twice = mask('{"13800138000": "L\\"i", "a": 1, "a": 2}', PHONES).text
    assert json.loads(twice) == {"[masked:phone]": 'L"i', "a": 1, "a 2": 2}
    assert Storing().json({"a\u0000": 1, "a": 2}) == {"a": 1, "a 2": 2}


def test_bare_numbers_in_lists_are_masked_so_that_it_stays_json() -> None:
    assert both_ways({"mobiles": [15012345678, 15112345678], "contacts": [1, 13812345678], "n": [1, 13812345678]}) == {
        "mobiles": ["[masked:phone]", "[masked:phone]"],
        "contacts": [1, "[masked:phone]"],
        "n": [1, 13812345678],
    }
    assert both_ways([[13812345678], {"contact": 13812345678}]) == [["[masked:phone]"], {"contact": "[masked:phone]"}]
    assert json.loads(mask('{"say": "[13812345678]"}', PHONES).text) == {"say": "[[masked:phone]]"}
    assert mask("见[13812345678](x)和[a, 13812345678]", PHONES).text == "见[[masked:phone]](x)和[a, [masked:phone]]"


def test_a_secret_at_the_end_of_a_string_leaves_its_marks() -> None:
    for attack in attacks():
        for value in ({"content": attack.text}, [attack.text]):
            masked = mask(json.dumps(value, ensure_ascii=False), PHONES)
            assert is_json(masked.text), masked.text
            assert not any(part in masked.text and part not in mask(attack.text, PHONES).text for part in attack.gone), attack.text


@pytest.mark.parametrize(
    "value",
    [
        {"user_ids": [15012345678, 15112345678]},
        {"userIds": ["15012345678", "15112345678"]},
        {"user_ids": [15012345678, None, 15112345678], "order_ids": [[15012345678], [15112345678, 15212345678]]},
        {"orders": [13812345678], "订单号": [13812345678, 13912345678]},
        {"memory": 17179869184, "disk_bytes": 17179869184, "orderNo": 13812345678},
        {"errors": {"password": "must contain a digit"}},
        {"errors": {"password": ["must be at least 8 characters long", "can't be blank"]}},
        {"password": "required", "api_key": "missing"},
        {"authorization": "denied"},
        {"id_token": "expired"},
        {"password": "does not match", "passwordConfirm": "Passwords do not match."},
        {"密码": "长度不足"},
        {"密码": "必须包含数字和大写字母", "登录密码": "不能为空", "令牌": "已过期"},
        {"field": "password", "value": "too short"},
        {"pwd": "/home/user/project", "oldpwd": "/tmp/x"},
        {"pwd": "C:\\Users\\u1"},
        {"mobile": 20260101},
        {"cell": "1234567"},
        {"token_address": "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
        {"next_token": "AAAAbbbb1234CCCCdddd5678eeee"},
    ],
)
def test_what_is_no_secret_stays_in_the_object_and_in_its_text(value: Any) -> None:
    assert both_ways(value) == value


@pytest.mark.parametrize(
    "text",
    [
        "orders 13812345678, 13912345678 and 15012345678 shipped",
        "order ids: 13812345678, 13912345678, or 15012345678",
        "orders 2345678, 13912345678",
        "订单13812345678、13912345678和15012345678已发货",
        "订单2345678、13912345678已发货",
        "orders " + ", ".join(str(13812345678 + n) for n in range(200)),
        "password: must contain a digit",
        "Password: too short, token: is required",
        "密码：must contain a digit；密码：长度不足",
        "pwd: /home/u1/x",
        "PWD=/home/user",
        "OLDPWD=/tmp/x1",
        "pwd: ~/x1",
        "pwd: C:\\Users\\u1",
        "手机:192.168.1.100, phone: 192.168.10.12",
        "010-20260101 and 020 2026 0101",
        "mobile: 1234567 visits",
        "15012345678 bytes, 15012345678字节",
        "part 234-567-8901, ver 234.567.8901",
        "use 1000 to confirm your limit",
        "password_resets = 1234",
        "passwords: 12345 leaked",
        "Secretary: AnnLee2024",
        "http://h:80?q=a@b",
    ],
)
def test_what_is_no_secret_stays_in_words(text: str) -> None:
    assert mask(text, PHONES) == (text, ())


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("order 13812345678, 13912345678 is my mobile", "13912345678"),
        ("订单13812345678，电话13912345678", "13912345678"),
        ("订单13812345678。请打13912345678", "13912345678"),
        ("Call 13812345678, 13912345678 or 15012345678.", "15012345678"),
        ("DB_PWD=/Zebra9x1", "Zebra"),
        ("pwd: /home!x9", "home!x9"),
        ("the passwords: zebra77x and", "zebra"),
        ("use 482913 to confirm your identity", "482913"),
        ("http://bob:80zebra@h/x", "zebra"),
        ("手机：13812345678，电话：010-62345678", "62345678"),
    ],
)
def test_what_is_one_goes_beside_it(text: str, gone: str) -> None:
    assert gone not in mask(text, PHONES).text


@pytest.mark.parametrize(
    "passphrase",
    [
        "correct horse battery staple",
        "it must rain today",
        "not my password",
        "short circuit",
        "芝麻必须开门",
        "expired-milk-77",
        "/Zebra9",
        "12345678",
    ],
)
def test_a_passphrase_under_its_name_is_no_message(passphrase: str) -> None:
    assert mask_json({"password": passphrase}) == {"password": "[masked:password]"}


@pytest.mark.parametrize(
    "piece",
    [
        '"\\"',
        '{"13812345678":',
        "[",
        "[13812345678,",
        "[[masked:phone]",
        "orders 13812345678, ",
        "password: must ",
        "订单13812345678、",
        "a:[",
        "id:[[1], ",
        "id:[null",
    ],
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    before = time.process_time()
    mask(piece * (49_152 // len(piece)), PHONES)
    still_json(piece * (49_152 // len(piece)))
    assert time.process_time() - before < 15
