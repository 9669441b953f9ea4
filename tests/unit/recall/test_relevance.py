"""Does it have to do with the question? In English and Chinese."""

from collections import Counter
from collections.abc import Sequence, Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindwise.recall.relevance import Level, Rarity, coverage, meaning, relevance, same_task
from hindwise.text.telling import telling_tokens
from hindwise.text.tokens import tokens

GATE = 0.35


def rarity(documents: Sequence[Set[str]]) -> Rarity:
    """Weights of the words of these documents."""
    counted = Counter(word for words in documents for word in words)
    return Rarity(lambda word: counted.get(word, 0), len(documents))


def asked(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(telling_tokens(text)))


def covered(question: str, *memories: str) -> float:
    """Coverage of the first memory; all of them set the weights."""
    documents = [frozenset(tokens(text)) for text in memories]
    return coverage(asked(question), documents[0], rarity(documents))


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("which seat does Mia prefer", "Mia prefers aisle seats"),
        ("dark mode", "The user likes dark mode"),
        ("refund", "When a refund exceeds 500 dollars, ask a supervisor"),
        ("靠窗座位", "用户喜欢靠窗的座位"),
        ("办理退款", "当退款金额超过五百元时，应先请主管审批，办理前核对"),
        ("what is the telephone number of my colleague again", "The colleague's telephone extension is 415"),
        ("我同事的电话号码是多少来着？", "同事的联系电话是415"),
    ],
)
def test_a_question_whose_words_stand_there_is_answered(question: str, memory: str) -> None:
    assert covered(question, memory) >= GATE


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("help me with this task", "When the task is late, tell the manager"),
        ("what time does the sun rise tomorrow", "Ask for time off two weeks before"),
        ("what should I do", "When a refund exceeds 500 dollars, ask a supervisor"),
        ("请问这个问题怎么办", "当用户提出问题时，应先核对订单"),
        ("明天几点日出", "明天之前交周报"),
    ],
)
def test_words_of_any_request_admit_nothing(question: str, memory: str) -> None:
    assert covered(question, memory) < GATE


def test_a_long_opening_is_recognised_by_the_task_it_holds() -> None:
    opening = (
        "Hello there! My name is Mia and I was supposed to travel with my sister next week, but she broke her leg, the poor thing, so now "
        "we have to stay at home and I would really like to cancel the flight that is on our reservation, if there is any way to do so"
    )
    words = frozenset(asked(opening))
    task = tuple(tokens("cancel flight reservation"))
    assert same_task(words, task, rarity([frozenset(task)])) == pytest.approx(1.0)
    assert covered(opening, "When cancelling a flight, check the fare class of the reservation") < GATE


def test_one_common_word_is_not_the_same_task() -> None:
    task = tuple(tokens("refund order"))
    assert same_task(frozenset(asked("order a pizza")), task, rarity([frozenset(task)])) == 0.0


def test_meaning_counts_from_the_level_of_unrelated_texts() -> None:
    level = Level(mean=0.84, spread=0.012)
    assert meaning(0.84, level) == 0.0
    assert meaning(0.99, level) == 1.0
    assert meaning(0.70, level) == -1.0
    assert meaning(0.88, level, foreign=True) < meaning(0.88, level)


def test_words_by_chance_do_not_convince_against_the_meaning() -> None:
    assert relevance(0.5, near=None) == 0.5
    assert relevance(0.5, near=0.3) == 0.5
    assert relevance(0.5, near=-0.1) == 0.0
    assert relevance(0.9, near=-0.1) == 0.9, "an identifier means nothing to a model, and everything to the asker"


@given(st.floats(0, 1), st.none() | st.floats(-1, 1))
def test_relevance_is_a_number_from_0_to_1(words: float, near: float | None) -> None:
    assert 0.0 <= relevance(words, near) <= 1.0


WORDS = ["a", "b", "c", "d", "e", "退款", "机票"]


@given(st.lists(st.sampled_from(WORDS), max_size=8, unique=True), st.sets(st.sampled_from(WORDS[1:])))
def test_coverage_never_falls_when_a_memory_holds_more(question: list[str], words: set[str]) -> None:
    weights = rarity([frozenset(words)])
    assert 0.0 <= coverage(question, frozenset(words), weights) <= coverage(question, frozenset(words) | set(question), weights) <= 1.0
