"""How much gets through the mask, and how much is masked that should stay: figures over texts made up for it, per half and language."""

import time

import pytest

from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask
from tests.unit.safety.masking_attacks import HALVES, attacks, share, table


def test_the_list_is_large_enough_to_say_something() -> None:
    for lang in ("en", "zh"):
        assert all(sum(a.lang == lang and bool(a.gone) is secrets for a in attacks()) >= 50 for secrets in (True, False))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nearly_every_secret_is_masked_and_next_to_nothing_else(half: str, lang: str) -> None:
    (gone, secrets), (left, texts) = share(lang, half, secrets=True), share(lang, half, secrets=False)
    assert gone / secrets >= 0.9, "\n".join(table())
    assert left / texts >= 0.95, "\n".join(table())


def test_what_was_masked_once_stays_as_it_is() -> None:
    both = Contacts(phones=True, emails=True)
    for attack in attacks():
        once = mask(attack.text, both).text
        assert mask(once, both) == (once, ()), attack.text


def test_odd_letters_hide_none_of_it() -> None:
    for text in (
        "password is c\u200borrect horse battery staple",
        "密\u200b码是芝麻开门",
        "电话：１３８１２３４５６７８",
        "call +49\u00a0170\u00a01234567",
    ):
        masked = mask(text, Contacts(phones=True))
        assert masked.found, text


HOSTILE = (
    *("password is a ", "password is aa bb ", "password for a ", "--password ", "Authorization: Basic ", "docker login ", "redis-cli a "),
    *("key: aaaaaaaaaaaaaaaaaaaaaaaa", "key for a b c d ", "token aaaaaaaaaaaaaaaaaaaaaaa.", "password: |\n ", '"password":{"value'),
    *("密码是芝麻", "密码是芝 麻 ", "密码（", "login: a/", "1381234", "138 1234 ", "+1 2", "(209) ", "0512-1", "a@b.", "a@", "PASSWORD_"),
    *(
        "password from a to ",
        "user: a pass ",
        "phone: 1 ",
        "手机号1",
        "账号a密码",
        "用a做",
        "use 1234 to ",
        "?token=",
        "1234567:AA",
        "://a:b@",
    ),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_of_what_begins_a_rule_takes_linear_time(piece: str) -> None:
    """CPU time of 100 kB against that of 25 kB, with much room: what grows with the square would take sixteen times as long."""
    took = []
    for chars in (25_000, 100_000):
        text = (piece * (chars // len(piece) + 1))[:chars]
        before = time.process_time()
        mask(text, Contacts(phones=True, emails=True))
        took.append(time.process_time() - before)
    assert took[1] < 10 * max(took[0], 0.05)


@pytest.mark.parametrize("run", ["+1", "1", "a", "A", "=", "0", "-", "阿", "密", "+"])
@pytest.mark.parametrize("end", ["a", ",5", "% ", "元", " "])
def test_a_long_run_that_ends_otherwise_than_a_rule_wants_is_looked_at_once(run: str, end: str) -> None:
    """What can be cut in several ways costs a multiple with each character: two hundred would never end."""
    text = f"+{run * 200}{end} {run * 200}{end}"
    before = time.process_time()
    mask(text, Contacts(phones=True, emails=True))
    assert time.process_time() - before < 5.0


@pytest.mark.parametrize(
    "text",
    [
        "lat +31.230416, lon +121.473701",
        "geo: +48.856614 +2.352222",
        "growth +23.456789%",
        '{"lat": "+31.230416"}',
        "北纬 +31.230416，东经 +121.473701",
        "增长 +23.4567891%",
    ],
)
def test_a_signed_decimal_is_no_telephone_number(text: str) -> None:
    assert mask(text, Contacts(phones=True)).text == text


@pytest.mark.parametrize("number", ["+49 (0)30 901820", "+1 (415) 555-0126", "+44 20 7946 0018", "+86 10 6552 9988", "+33.1.23.45.67.89"])
def test_a_number_with_its_country_is_one_however_it_is_grouped(number: str) -> None:
    assert mask(f"Call {number} now", Contacts(phones=True)).text == "Call [masked:phone] now"
    assert mask(f"请拨打{number}。", Contacts(phones=True)).text == "请拨打[masked:phone]。"
