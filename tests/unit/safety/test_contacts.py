"""Telephone numbers and e-mail addresses are masked where the caller asks for it; numbers of other things never are."""

import json

import pytest

from hindwise.safety.contacts import NO_CONTACTS, Contacts
from hindwise.safety.hotlines import is_hotline
from hindwise.safety.masking import mask, mask_json
from tests.data import eval_data

PHONES, EMAILS = Contacts(phones=True), Contacts(emails=True)


@pytest.mark.parametrize(
    "text",
    [
        "Call 13812345678 or 138-1234-5678 or 138 1234 5678.",
        "手机：13812345678，国际写法+86 138 1234 5678，(+86)13812345678，8613812345678",
        "座机010-62345678，（021）62345678，0755 26123456，传真0512-62345678转8001",
        "联系电话：62345678",
        "my number is +49 170 1234567, at work +44 (0)20 7946 0958, in Singapore +6591234567",
        "(209) 372-0200, 415-738-7000, 1-212-555-0199, +1 415.738.7000",
        "phone: 5551234567, tel. 030 1234567",
    ],
)
def test_telephone_numbers_are_seen_in_the_forms_in_which_people_write_them(text: str) -> None:
    masked = mask(text, PHONES)
    assert set(masked.found) == {"phone"}
    left = masked.text
    for part in ("+86", "(209)", "1-212", "转8001"):
        left = left.replace(part, "")
    assert not any(c.isdigit() for c in left), masked.text
    assert mask(masked.text, PHONES) == (masked.text, ())
    assert mask(text, EMAILS).text == mask(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "order 13812345678, order no. 13812345678, ticket #13812345678, id=13812345678, user_id: 13812345678",
        '{"order_id": 13812345678, "created": 1772525400123, "amount": 13812345678.50}',
        "订单号：13812345678，运单编号13812345678，流水号是13812345678，金额13812345678元，QQ：13812345678",
        "2026-01-05 14:35:00+08:00, 2026-01-05T10:00:00+0800, 20260105, 1772525400",
        "HAT204 at 14:35, reservation XEHM4B, seats 12-14, total $1,240.50, $4,155,550,123",
        "up +20000000, +12 500 000 views, +100 000 000, +1 2026-01-05",
        "10.20.3000.1, 192.168.100.200, ISBN 978-3-16-148410-0, uuid 6b7f6f6e-5f3c-5b0e-9a55-68696e647773",
        "https://example.com/orders/13812345678/items and /v1/13812345678",
        "第13812345678次，共15912345678条，用时13812345678毫秒",
        "the phone is ringing; 电话会议在20260105下午；手机壳3个",
        "pages 2019-2020, lines 100-2000, scores 415-738",
    ],
)
def test_numbers_of_other_things_stay(text: str) -> None:
    assert mask(text, PHONES) == (text, ())


def test_addresses_are_masked_by_setting_alone_and_repositories_are_none() -> None:
    text = "写给 mia.li+x@mail.shop.example，or git clone git@github.com:acme/shop.git, npm i left-pad@1.3.0, @mia"
    assert mask(text, PHONES) == (text, ())
    assert mask(text, EMAILS) == (text.replace("mia.li+x@mail.shop.example", "[masked:email]"), ("email",))


def test_the_name_in_json_says_what_a_number_is() -> None:
    value = {
        "phone": "62345678",
        "mobileNumber": 13812345678,
        "联系电话": "010 6234 5678",
        "contacts": [{"tel": "+49 170 1234567"}],
        "order_id": "13812345678",
        "orderNo": "13812345678",
        "流水号": "13812345678",
        "total": 13812345678,
        "phone_verified": True,
        "phones": 2,
        "note": "or 13812345678",
    }
    assert mask_json(value, PHONES) == {
        **value,
        "phone": "[masked:phone]",
        "mobileNumber": "[masked:phone]",
        "联系电话": "[masked:phone]",
        "contacts": [{"tel": "[masked:phone]"}],
        "note": "or [masked:phone]",
    }
    assert mask_json(value) == mask_json(value, NO_CONTACTS) == value


def test_a_bare_number_in_json_becomes_a_text_so_that_it_stays_json() -> None:
    text = '{"mobile": 13812345678, "card": 4111111111111111, "password": 20260105, "id": 7}'
    told = json.loads(mask(text, PHONES).text)
    assert told == {"mobile": "[masked:phone]", "card": "[masked:card]", "password": "[masked:password]", "id": 7}
    assert mask("card: 4111111111111111, phone: 13812345678", PHONES).text == "card: [masked:card], phone: [masked:phone]"


def test_a_secret_under_a_secrets_name_is_masked_however_it_is_nested() -> None:
    value = {
        "password": {"value": "firewall", "type": "text"},
        "令牌": {"值": "lettersonly"},
        "credentials": {"secret": {"current": "moonlight"}},
    }
    masked = json.dumps(mask_json(value), ensure_ascii=False)
    assert not any(word in masked for word in ("firewall", "lettersonly", "moonlight"))
    for text in (
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, indent=2),
        "password:\n  value: firewall\n",
        "secret: |\n  moonlight\n",
    ):
        assert not any(word in mask(text).text for word in ("firewall", "lettersonly", "moonlight")), text
    schema = {"password": {"type": "string", "description": "The new password", "minLength": 8}}
    assert mask_json(schema) == schema
    assert mask(json.dumps(schema)).text == json.dumps(schema)


@pytest.mark.parametrize(
    "text",
    [
        "call 400-810-8888, or 800-810-8888 from a landline",
        "Call 1-800-555-0199, +1 888 555 0123, (877) 555-0123 or 866.555.0123.",
        "Phone: 1-844-555-0100, tel: 8335550100, fax: +1 (855) 555-0100",
        "The airline's phone number is 1-800-555-0199.",
        "if he is angry, give him 400-810-8888",
        "客服电话：400-810-8888",
        "退款请拨打400-810-8888，或800-810-8888；电话：4008108888，联系电话：400 810 8888，传真：+86 400 810 8888",
        "航司电话是 400-8108-888",
        '{"phone": "400-810-8888", "tel": "1-800-555-0199"}',
    ],
)
def test_a_hotline_is_no_persons_number_and_stays(text: str) -> None:
    assert mask(text, PHONES) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "my phone: 400-810-8888",
        "My number is 1-800-555-0199",
        "her office phone is +1 888 555 0123",
        "call me back at 1-877-555-0123",
        "mobile: 8005550199",
        "我的电话：400-810-8888",
        "我的联系电话是4008108888",
        "手机号：8008108888",
        "请联系我的手机：400-810-8888",
        '{"mobile": "8008108888"}',
        '{"mobileNumber": 8008108888}',
    ],
)
def test_a_hotline_that_somebody_calls_his_own_is_masked(text: str) -> None:
    masked = mask(text, PHONES)
    assert masked.found == ("phone",)
    assert "8888" not in masked.text
    assert mask(masked.text, PHONES) == (masked.text, ())


@pytest.mark.parametrize("number", ["801-555-0199", "1-889-555-0199", "+49 800 5550199", "400-555-01990", "0800 5550199"])
def test_what_only_begins_like_a_hotline_is_looked_at_as_before(number: str) -> None:
    assert not is_hotline(number)
    assert mask(f"phone: {number}", PHONES).found == ("phone",)


@pytest.mark.eval_data
def test_real_conversations_keep_all_numbers_that_reach_nobody() -> None:
    for name in ("tau_airline.jsonl", "hermes_session_zh.jsonl", "gating_dev.jsonl"):
        text = eval_data(name).read_text(encoding="utf-8")
        assert mask(text, PHONES).found.count("phone") == 0, name
