"""Secrets are masked, all of them, and nothing else is."""

import json
import time

import pytest

from hindwise.safety.masking import is_chinese_id, luhn_holds, mask, mask_json
from tests.data import eval_data


@pytest.mark.eval_data
def test_every_secret_of_the_evaluation_set_is_masked_and_nothing_else() -> None:
    rows = [json.loads(line) for line in eval_data("gating_dev.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        masked = mask(row["text"])
        assert [s for s in row["expected"].get("redact", []) if s in masked.text] == [], row["id"]
        assert bool(masked.found) == bool(row["expected"].get("redact")), row["id"]


@pytest.mark.eval_data
def test_real_support_conversations_are_left_as_they_are() -> None:
    text = eval_data("tau_airline.jsonl").read_text(encoding="utf-8")
    assert mask(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("key sk-abc123def456ghi789", "api-key"),
        ("ghp_" + "a1" * 18, "api-key"),
        ("xoxb-123456789012-abcdefghij", "api-key"),
        ("AKIAIOSFODNN7EXAMPLE", "api-key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "jwt"),
        ("the key is hw_7ZDAS_L6xXCe8DDkx_yRLV2Qzu4KkQUEJMW4wrLB_V4", "api-key"),
        ("Authorization: Bearer abc123def456", "token"),
        ("my password is hunter2!", "password"),
        ("DB_PASSWORD=correct-horse", "password"),
        ('"client_secret": "a1b2c3d4e5f6"', "secret"),
        ("postgres://app:s3cret@db/main", "password"),
        ("数据库密码是 example-pass-0000，请用只读账号", "password"),
        ("密码改成abcd1234了", "password"),
        ("验证码：482913", "code"),
        ("pay with 4111 1111 1111 1111 please", "card"),
        ("pay with 378282246310005 please", "card"),
        ("卡号4111111111111111，谢谢", "card"),
        ("身份证号110101199003077715", "id-number"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private-key"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", "private-key"),
    ],
)
def test_the_mask_says_what_it_hides(text: str, what: str) -> None:
    masked = mask(text)
    assert masked.found == (what,)
    assert f"[masked:{what}]" in masked.text


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong, and the token expired.",
        "Reset the password: asked for, but not done",
        "password: str = settings.password",
        "token = next_token()  # max_tokens=512, total_tokens: 1280",
        "Order 4111111111111112 and tracking 1234567890123456 are late",
        "order_id=4111-2222, uuid 6b7f6f6e-5f3c-5b0e-9a55-68696e647773",
        "commit a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
        "the bearer of bad news",
        "risk-based sk-learn pipelines",
        "密码错误，请重试；验证码已发送",
        "timestamp 1772525400123, total 4242.42",
        "reset your password by email",
    ],
)
def test_ordinary_text_code_and_order_numbers_stay(text: str) -> None:
    assert mask(text) == (text, ())


def test_masking_twice_changes_nothing_more() -> None:
    once = mask("password is hunter2!, 密码是 abcd1234, key sk-abc123def456, Bearer abc123def456").text
    assert mask(once) == (once, ())


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "sk-",
        "eyJ",
        "password",
        "password is ",
        "4111 ",
        "bearer ",
        "密码是",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "密码\u200ba1",
        "curl -u ",
        "mysql -p ",
        "cookie: a=",
        "phrase: abandon ",
        "password for bob ",
        "Password:\n\n",
        "is your ",
        "SG.a",
        "token ",
        "１",
    ],
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    """The bound is CPU time with much room: a quadratic pattern would take minutes."""
    before = time.process_time()
    mask(piece * (262_144 // len(piece)))
    assert time.process_time() - before < 20


def test_json_is_masked_inside_and_by_name() -> None:
    value = {"password": "swordfish", "cvv": 123, "note": "card 4111111111111111", "list": ["sk-abc123def456", 7, None], "count": 2}
    masked = mask_json(value)
    assert masked == {
        "password": "[masked:password]",
        "cvv": "[masked:card-code]",
        "note": "card [masked:card]",
        "list": ["[masked:api-key]", 7, None],
        "count": 2,
    }
    assert mask_json(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        '{"密码":"Qw9xZebra77"}',
        json.dumps({"密码": "Qw9xZebra77"}),
        json.dumps({"result": "密码是Qw9xZebra77"}),
        json.dumps({"result": json.dumps({"api_key": "Qw9xZebra77"})}),
        json.dumps([json.dumps({"a": json.dumps({"口令": "Qw9xZebra77"})})]),
        "answer: " + json.dumps(json.dumps({"api_key": "Qw9xZebra77"})),
        'log {\\"password\\": \\"Qw9xZebra77\\"} end',
    ],
)
def test_secrets_in_json_are_seen_through_its_quotes_and_escapes(text: str) -> None:
    masked = mask(text)
    assert "Zebra" not in masked.text
    assert masked.found
    assert mask(masked.text).text == masked.text


def test_json_without_secrets_is_left_letter_by_letter() -> None:
    for text in ('{"a" :  "line\\nbreak", "\\u5bc6": [1.50]}', '"\\u4f60\\u597d"', '{"broken": "\\x', '[" \\" '):
        assert mask(text) == (text, ())


def test_check_sums() -> None:
    assert luhn_holds("4111111111111111")
    assert not luhn_holds("4111111111111112")
    assert is_chinese_id("110101199003077715")
    assert not is_chinese_id("110101199003077710")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SG." + "aB3" * 8 + "." + "xY9" * 12, "api-key"),
        ("gsk_" + "a1b2" * 6, "api-key"),
        ("dckr_pat_" + "a1b2" * 6, "api-key"),
        ("shpat_" + "0a1b" * 8, "api-key"),
        ("腾讯云 AKID" + "a1B2" * 8, "api-key"),
        ("redis://:zebra77x@cache:6379/0", "password"),
        ("curl -u bob:zebra77x https://example.com", "password"),
        ("mysql -u root -pzebra77x shop", "password"),
        ("sshpass -p zebra77x ssh host", "password"),
        ("Cookie: sid=zebra77x0123; theme=dark", "token"),
        ("Password – zebra77x", "password"),
        ("**Password:** zebra77x", "password"),
        ("Password:\n\n  zebra77x", "password"),
        ("| password | zebra77x |", "password"),
        ("<password>zebra77x</password>", "password"),
        ("my password's zebra77x", "password"),
        ("password is: zebra77x", "password"),
        ("pw: zebra77x", "password"),
        ("login: bob, pass: zebra77x", "password"),
        ("set the password for bob to zebra77x", "password"),
        ("password of bob@example.com is zebra77x", "password"),
        ('{"pass": "zebra77x", "pw": 1}', "password"),
        ('[{"name":"password","value":"zebra77x"}]', "password"),
        ("q=password%3Dzebra77x", "password"),
        ("access code 998877", "password"),
        ("token zebra77x0123456789abcdef", "secret"),
        ("seed phrase: " + "abandon " * 11 + "about", "secret"),
        ("verification code 482913", "code"),
        ("482913 is your login code", "code"),
        ("OTP 482913", "code"),
        ("密码 zebra77x", "password"),
        ("我的密码zebra77x，别告诉别人", "password"),
        ("wifi密码88888888", "password"),
        ("密码设置为zebra77x", "password"),
        ("密码就是zebra77x", "password"),
        ("密码是“zebra77x”", "password"),
        ("密码为：「zebra77x」", "password"),
        ("邮箱授权码：zebra77xabcd", "secret"),
        ("验证码 482913", "code"),
        ("482913 是您的验证码", "code"),
        ("【银行】482913（登录验证码）", "code"),
        ("PIN码4821", "code"),
        ("身份证号：110105 19491231 002X", "id-number"),
        ("card 4111.1111.1111.1111", "card"),
        ("card 4111  1111  1111  1111", "card"),
    ],
)
def test_secrets_are_seen_however_people_and_tools_write_them_down(text: str, what: str) -> None:
    masked = mask(text)
    assert masked.found == (what,)
    assert not any(part in masked.text for part in ("zebra", "482913", "998877", "88888888", "4821", "1111", "1949", "abandon"))
    assert mask(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ｐａｓｓｗｏｒｄ：ｚｅｂｒａ７７ｘ", "password"),
        ("pass\u200bword: zebra\u200b77x", "password"),
        ("pass\u00adword is zebra77x!", "password"),
        ("key\u00a0sk-zebra77x\u2060abc123", "api-key"),
        ("密码是ｚｅｂｒａ７７ｘ", "password"),
        ("卡号４１１１１１１１１１１１１１１１", "card"),
        ("card 4111\u00a01111\u00a01111\u00a01111", "card"),
        ("card 4111\u20131111\u20131111\u20131111", "card"),
    ],
)
def test_letters_that_only_look_different_hide_no_secret(text: str, what: str) -> None:
    masked = mask(text)
    assert masked.found == (what,)
    assert "zebra" not in masked.text and "1111" not in masked.text


@pytest.mark.parametrize(
    "text",
    [
        "The family 👩‍👩‍👧 wants ２ rooms from the ３０th – and “quiet” ones",
        "password must be at least 8 characters long, with 2 digits",
        "Password\n\nPlease choose a new one",
        "| password | string | required |",
        "密码8位以上，密码至少需要12个字符",
        "密码错误3次；请在password_reset_2页面修改密码",
        "your booking code ABC123, confirmation code 1234567",
        "max tokens 4096, token count_of_2024, token 1234",
        "boarding pass: AB1234, tests pass: step2b, pass 12345",
        "msg.content_2024.value_of_the_2nd",
        "versions 4111.2222.3333.4444 and 1.2.3",
    ],
)
def test_what_only_looks_like_a_secret_stays_letter_by_letter(text: str) -> None:
    assert mask(text) == (text, ())


@pytest.mark.parametrize(
    "value",
    [
        {"userPassword": "zebra"},
        {"passwordConfirm": "zebra"},
        {"登录密码": "zebra"},
        {"访问令牌": "zebra"},
        {"db_pass": "zebra"},
        {"pass": "zebra77"},
        {"secretAccessKey": "zebra"},
        {"API Key": "zebra"},
        {"headers": {"Cookie": "sid=zebra"}},
        {"mnemonic": "zebra zebra zebra"},
        {"name": "password", "value": "zebra"},
        {"key": "DB_PASSWORD", "value": "zebra"},
        {"argv": ["mysql", "--password", "zebra"]},
        [["password", "zebra77"]],
        {"otp": "482913"},
        {"pin": 4821},
        {"验证码": "482913"},
        {"ssn": "078051120"},
        {"card_number": 4111111111111111},
    ],
)
def test_the_name_of_a_secret_hides_its_value_in_json(value: object) -> None:
    masked = json.dumps(mask_json(value), ensure_ascii=False)
    assert "[masked:" in masked
    assert not any(part in masked for part in ("zebra", "482913", "4821", "0780", "4111"))


def test_names_that_only_resemble_those_of_secrets_hide_nothing() -> None:
    value = {
        "pass": True,
        "passed": 12,
        "boarding_pass": "AB1234",
        "token_count": 120,
        "required": ["password", "username"],
        "password": {"type": "string", "minLength": 8},
        "otp": "unknown",
        "name": "city",
        "value": "Ulm",
        "order_number": 1234567890123456,
    }
    assert mask_json(value) == value
