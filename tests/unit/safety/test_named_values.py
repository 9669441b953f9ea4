"""Under a secret's name in JSON plain words are a secret too; what a password has is none, nor is a number nobody calls a telephone."""

import json
from typing import Any

import pytest

from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask, mask_json

PHONES = Contacts(phones=True)
PHRASE = {"en": "correct horse battery staple", "zh": "四 个 普通 词"}


@pytest.mark.parametrize("phrase", [*PHRASE.values(), "芝麻开门", 'he said "open" twice', "two words"])
@pytest.mark.parametrize("key", ["password", "passphrase", "newPassword", "db_pwd", "密码", "登录口令", "client_secret", "令牌"])
def test_a_secret_of_plain_words_is_masked_in_the_text_of_json_as_in_the_object(key: str, phrase: str) -> None:
    value = {"user": "ann", key: phrase, "note": "four plain words here"}
    masked = mask_json(value)
    assert masked[key].startswith("[masked:") and (masked["user"], masked["note"]) == ("ann", value["note"])
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, indent=2), json.dumps(value)):
        told = mask(text)
        assert json.loads(told.text) == masked
        assert len(told.found) == 1
        assert mask(told.text) == (told.text, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('Sent {"password": "correct horse battery"} to it', 'Sent {"password": "[masked:password]"} to it'),
        ("{'password': 'correct horse battery', 'n': 1}", "{'password': '[masked:password]', 'n': 1}"),
        (r"log: {\"password\": \"correct horse battery\", \"n\": 1}", r"log: {\"password\": \"[masked:password]\", \"n\": 1}"),
        ('{"password": "correct horse batt', '{"password": "[masked:password]'),
        ('请求是{"密码": "我家的猫叫小花"}，已发送', '请求是{"密码": "[masked:password]"}，已发送'),
        ('{"password": "zebra77x staple"}', '{"password": "[masked:password]"}'),
        ('{"authorization": "Bearer zebra77x0123"}', '{"authorization": "Bearer [masked:token]"}'),
    ],
)
def test_also_within_other_words_cut_or_written_as_python_writes_it(text: str, left: str) -> None:
    assert mask(text).text == left
    assert mask(left) == (left, ())


@pytest.mark.parametrize(
    "value",
    [
        {"password": "<your password>", "api_key": "your api key here"},
        {"password": "", "passphrase": "***", "secret": "••••••••"},
        {"password": "{{ db password }}", "client_secret": "${CLIENT SECRET}"},
        {"password": {"type": "string", "description": "of the new account"}},
        {"properties": {"password": {"type": "string", "title": "Password of the account"}}},
        {"password_hint_enabled": True, "password_policy": "at least 12 characters", "password_help": "ask the desk for it"},
        {"password": None, "password_required": "yes, for all users"},
        {"password": "must contain a digit", "passwordConfirm": "Passwords do not match."},
        {"密码": "请输入你的密码", "密码规则": "至少十二位字符", "口令提示": "第一只猫的名字"},
        {"密码": "", "登录密码": "长度不足"},
        {"error": "password is wrong", "错误": "密码 不 对"},
    ],
)
def test_what_only_stands_in_its_place_and_what_tells_of_it_stays(value: dict[str, Any]) -> None:
    assert mask_json(value) == value
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value)):
        assert mask(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "the password's hash",
        "The password's hash is stored.",
        "the password’s hash",
        "Check the password's strength and the user's name",
        "the password's sha256",
        "the passphrase's entropy is low",
        "my password's hash and salt are kept",
        "our admin password's rotation is due",
        "we compare my password's length",
        "密码的哈希",
        "密码的哈希是对的",
        "口令的强度是中等",
        "密码的长度：12",
    ],
)
def test_what_a_password_has_is_none(text: str) -> None:
    assert mask(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "my password's swordfish",
        "Hi, my password's swordfish, thanks",
        "My wifi password's honeybee lantern!",
        "my password's swordfish and my name is Bob",
    ],
)
def test_an_own_password_that_is_told_in_short_is_one(text: str) -> None:
    assert mask(text).found == ("password",)


@pytest.mark.parametrize(
    "value",
    [
        {"used": 17179869184, "free": 13812345678},
        {"memo": 13812345678, "peak": [17179869184, 18719476736], "已用": 17179869184},
        {"disk": {"a": [15012345678, None]}, "mobile_data_used": 17179869184, "hotel": 17179869184},
    ],
)
def test_a_number_of_json_is_a_telephones_only_where_its_name_says_so(value: dict[str, Any]) -> None:
    assert mask_json(value, PHONES) == value
    plain = json.dumps(value, ensure_ascii=False)
    for text in (plain, json.dumps(value, indent=1), f"got {value}", json.dumps(plain)):
        assert mask(text, PHONES) == (text, ())


@pytest.mark.parametrize(
    "value",
    [
        {"phone": 13812345678},
        {"phones": [13812345678, 13912345678]},
        {"phone_numbers": ["13812345678"]},
        {"phone numbers": [13812345678]},
        {"contacts": [13812345678]},
        {"homePhone": 13812345678},
        {"phone1": 13812345678, "mobile_2": 13912345678, "contactNumber": 13712345678},
        {"to": 13812345678, "recipients": [13912345678], "caller": 13712345678, "号码": 13612345678},
        {"手机号": 13812345678},
        {"联系电话": [13812345678]},
        {"used": "13812345678"},
        {"memo": "call 13812345678 today", "备注": "请打13812345678"},
        {"list": ["13812345678"]},
        [13812345678],
    ],
)
def test_a_number_whose_name_says_so_and_a_string_of_eleven_digits_are_masked(value: Any) -> None:
    masked = json.dumps(mask_json(value, PHONES), ensure_ascii=False)
    assert "12345678" not in masked
    assert json.loads(mask(json.dumps(value, ensure_ascii=False), PHONES).text) == json.loads(masked)
