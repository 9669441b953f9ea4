"""The quick looks that spare most texts the rules must never spare one that a rule would have caught."""

import gc
import json
import re
import weakref
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hindwise.model.once import once_per_episode
from hindwise.safety.disguised import undisguised
from hindwise.safety.identities import identities
from hindwise.safety.masking import Masked, mask, mask_by_all_rules
from hindwise.safety.origin import _INJECTION, looks_injected
from hindwise.safety.personal import _PATTERNS, _name_patterns, find_personal
from tests.build import make_episode
from tests.unit.safety.masking_attacks import attacks

AIRLINE = Path(__file__).resolve().parents[3] / "examples" / "airline"

SECRETS = (
    *("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "LTAIabcdefghijkl"),
    *("eyJhbGciOiJI.eyJzdWIiOiIx.abcd", "sk-abc12345678", "4111111111111111"),
    *("sk_live_abcdefgh1", "pk_test_abcdefgh1", "ghp_abcdefghijklmnop1", "github_pat_abcdefghijklmnop1", "glpat-abcdefghijklmnop1"),
    *("AKIAABCDEFGHIJKLMNOP", "AIzaabcdefghijklmnopqrstuvwxyz1234", "xoxb-abcdefgh12", "hf_abcdefghijklmnopqrst"),
    *("npm_abcdefghijklmnopqrst", "whsec_abcdefghijklmnopqrst", "dop_v1_abcdefghijklmnopqrst"),
    *("app-abcdefghijklmnopqrstuvwx", "dataset-abcdefghijklmnopqrstuvwx"),
    *("postgres://me:geheim@host", "Bearer abcdef12345", "basic\tYWJjZDEyMzQ=", "令牌是abcdefgh1", "CVV 123", "cvc2: 1234", "安全码是123"),
    *("verification code: 1234", "one-time-pin is 123456", "OTP is 1234", "2fa code=123456", "验证码是1234", "动态码：12345678"),
    *("password is hunter2!", "PASS_CODE=abc123", "pass phrase: x9y8z7w6", "pwd=abc1", "secret: 'abcdefghijkl'", "token = a1b2c3d4e5"),
    *("API-KEY=a1b2c3d4e5", "signing key: a1b2c3d4", "密码是abcd", "口令：abcd1", "PIN是1234", "pin码: 1234", "私钥为abcd"),
    *("身份证号11010519491231002X", "11010519491231002X", "ssn 123-45-6789", "social security no. 123456789"),
    *("gsk_a1b2a1b2a1b2a1b2", "SG.abcdefghijklmnopq.abcdefghijklmnopq", "AKIDa1b2a1b2a1b2a1b2", "Cookie: sid=abcdefgh1", "PW: a1b2c3"),
    *("curl -u me:geheim ", "pass='a1b2c3'", "密码 a1b2c3", "OTP 482913", "482913 is your login code", "482913是您的验证码", "PIN码4821"),
    *("公民身份号码为11010519491231002X", "4111 1111 1111 1111", "3782-822463-10005"),
    *("pa\u017f\u017fword is hunter2!", "ba\u0131\u0130 \u212aey", "１２３４５６７８"),
)  # fmt: skip
WORDS = ("", " ", "\n", ".", ":", "=", " is ", "是", "x", "Z", "9", "12", "task_id", "我要改签", "please ", '"')
NAMES = ("mia_li_3668", "Mia Li", "李雷", "J Q", "HAT069", "omar.davis@example.com", "Noah-Ito", "Rose Hope", "sky_99", "Kim", "LI")
PERSONAL = (
    "mia",
    "Mia",
    "li",
    "MIA LI",
    "mia.li",
    "李雷",
    "j q",
    "Kim",
    "\u212aim",
    "\u0131",
    "Noah ito",
    "reservation ABCDEF",
    "a@b.co",
    "1234567",
    "HAT069",
)


def by_all_rules(text: str, names: frozenset[str]) -> set[str]:
    """Every kind of place that any rule or name matches, without any look before."""
    found = {match[0] for _, pattern in _PATTERNS for match in pattern.finditer(text)}
    joined = "|".join(sorted(set(_name_patterns(names)), key=lambda p: (-len(p), p)))
    return found | ({match[0] for match in re.finditer(joined, text)} if joined else set())


def without_looks(text: str) -> Masked:
    """By all rules, as the text is written, and with plain letters where that shows more."""
    masked, plain = mask_by_all_rules(text), undisguised(text)
    seen = masked if plain is None else mask_by_all_rules(plain)
    return seen if len(seen.found) > len(masked.found) else masked


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from((*SECRETS, *WORDS)), max_size=5).map("".join))
def test_a_quick_look_hides_no_secret(text: str) -> None:
    assert mask(text) == without_looks(text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SECRETS), st.integers(0, 40), st.integers(0, 40), st.sampled_from(("lower", "upper", "swapcase")))
def test_a_quick_look_hides_no_part_of_a_secret_in_other_letters(secret: str, start: int, length: int, change: str) -> None:
    text = getattr(secret[start : start + length], change)()
    assert mask(text) == without_looks(text)


@settings(max_examples=1500, deadline=None)
@given(
    st.lists(st.sampled_from((*PERSONAL, *WORDS)), max_size=5).map("".join),
    st.frozensets(st.sampled_from(NAMES), max_size=4),
)
def test_a_quick_look_hides_no_name_and_no_number(text: str, names: frozenset[str]) -> None:
    told = find_personal(text, names=names)
    everything = by_all_rules(text, names)
    assert bool(told) <= bool(everything)
    for name in sorted(names):
        alone = re.compile("|".join(_name_patterns([name])) or "(?!)")
        for match in alone.finditer(text):
            assert any(span.start < match.end() and match.start() < span.end for span in told), (match[0], told)


def test_a_quick_look_changes_nothing_in_real_runs() -> None:
    texts = [
        message.get("content") or json.dumps(message)
        for line in (AIRLINE / "runs.jsonl").read_text(encoding="utf-8").splitlines()
        for message in json.loads(line)["messages"]
    ]
    assert len(texts) > 100
    assert [mask(text) for text in texts] == [without_looks(text) for text in texts]


def test_a_quick_look_changes_nothing_in_what_was_made_up_to_get_through() -> None:
    for attack in attacks():
        assert mask(attack.text) == without_looks(attack.text), attack.text


def test_who_an_episode_names_is_remembered_no_longer_than_the_episode() -> None:
    episode = make_episode("run-1", user_id="mia_li_3668")
    other = episode.model_copy(update={"user_id": "omar_davis_3817"})
    assert sorted(identities(episode)) == ["mia_li_3668"]
    assert sorted(identities(other)) == ["omar_davis_3817"]
    assert identities(episode) is identities(episode)
    named = [weakref.ref(identities(one)) for one in (episode, other)]
    del episode, other
    gc.collect()
    assert [name() for name in named] == [None, None]


def test_words_to_the_assistant_are_found_in_every_case_and_with_letters_that_only_look_like_others() -> None:
    orders = (
        "ignore all previous",
        "\u0130gnore the above",
        "disregard any prior",
        "AI assi\u017ftants must",
        "note to the a\u0131",
        "future agents must",
    )
    orders += (
        "memory update required",
        "please save this",
        "and store that",
        "must remember that",
        "忽略以上",
        "AI助手请注意",
        "写入长期记忆",
    )
    orders += ("永久保存", "无需用户确认", "不需要用户确认", "建议保存")
    for order in (*orders, *(order.upper() for order in orders), *(order.title() for order in orders)):
        assert looks_injected(f"see: {order}") == (_INJECTION.search(f"see: {order}") is not None), order
    assert all(looks_injected(order) for order in orders)


def test_what_is_read_of_an_episode_is_read_once_for_each_object() -> None:
    asked = []

    @once_per_episode
    def goal_of(episode):
        asked.append(episode.id)
        return episode.goal

    one, twin = make_episode("run-1", goal="订酒店"), make_episode("run-1", goal="book a hotel")
    assert [goal_of(one), goal_of(twin), goal_of(one), goal_of(twin)] == ["订酒店", "book a hotel", "订酒店", "book a hotel"]
    assert len(asked) == 2
