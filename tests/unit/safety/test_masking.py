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
    "piece", ["a", "1", "sk-", "eyJ", "password", "password is ", "4111 ", "bearer ", "密码是", "://a:", "-----BEGIN PRIVATE KEY-----"]
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
