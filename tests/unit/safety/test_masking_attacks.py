"""How much gets through the mask, and how much is masked that should stay: figures over texts made up for it, per half and language."""

import re
import time
from collections.abc import Callable

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
        "my password is secret ",
        "rotating the password is ",
        "use a2c4 as password ",
        "用a2c4作为密码",
        "my phone: 400-810-",
        '\\"password\\": \\"a b ',
        "my password's swordfish ",
        '"used": 17179869184, ',
        '"a": [17179869184',
    ),
)


CONTACTS = Contacts(phones=True, emails=True)
SIZES = (100_000, 400_000)
"""Characters: the second where the first takes too little time to be compared."""
TOO_LITTLE_S = 0.1
AT_MOST = 7.0
"""Times as long for four times as much: linear is 4, with the square 16."""


def grows_with_the_square(work: Callable[[str], object], piece: str) -> bool:
    """Whether `work` takes more than `AT_MOST` times the CPU time of the first quarter for a text of `piece` again and again.

    Three times in a row: something else may have disturbed one of them. What takes next to no time even for the larger of `SIZES` counts
    as quick: more than that nobody may send.
    """
    for chars in SIZES:
        text = (piece * (chars // len(piece) + 1))[:chars]
        took = _cpu_s(work, text)
        if took >= TOO_LITTLE_S:
            again = (_cpu_s(work, text) / _cpu_s(work, text[: chars // 4]) for _ in range(2))
            return took / _cpu_s(work, text[: chars // 4]) > AT_MOST and all(ratio > AT_MOST for ratio in again)
    return False


def _cpu_s(work: Callable[[str], object], text: str) -> float:
    before = time.process_time()
    work(text)
    return time.process_time() - before


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_of_what_begins_a_rule_takes_linear_time(piece: str) -> None:
    assert not grows_with_the_square(lambda text: mask(text, CONTACTS), piece)


def test_a_rule_that_looks_at_all_that_follows_from_each_place_would_be_found() -> None:
    """With so small a constant that a bound on the time alone lets it pass."""
    rule = re.compile(r"x[^y]*y")
    assert grows_with_the_square(lambda text: rule.search(text[: len(text) // 14]), "x")
    assert not grows_with_the_square(lambda text: [rule.search("x" * 200) for _ in range(len(text) // 100)], "x")


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
