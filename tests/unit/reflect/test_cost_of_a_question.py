"""One question costs no more than 1.3 times its transcript and 2.5k tokens, and no more than the daily ceiling holds for it."""

import pytest

from bench.reflection import airline, cost, parallel
from hindwise.model.episode import Episode
from hindwise.model.reflection import Complaint
from hindwise.reflect.base import Known
from hindwise.reflect.budget import estimate
from hindwise.reflect.llm.prompt import MODEL_BUDGET, SCHEMA_TOKENS, question
from hindwise.text.token_budget import count_tokens
from tests.build import make_episode, make_memory, make_turn
from tests.data import eval_data

ANSWER_TOKENS = 700
"""Three lessons and eight items in short."""


def check(episode: Episode, *earlier: Episode) -> None:
    asked = question(episode, Known(earlier=earlier))
    limit = cost.PER_TOKEN * asked.transcript_tokens + cost.FIXED
    assert asked.prompt_tokens + min(asked.max_tokens, ANSWER_TOKENS) <= limit
    assert asked.prompt_tokens + asked.max_tokens + SCHEMA_TOKENS <= estimate(episode.turns)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_own_runs_keep_to_it(lang: str) -> None:
    for run in parallel.runs():
        if run["lang"] == lang:
            check(parallel.episode_of(run))


def test_airline_runs_keep_to_it_with_earlier_attempts_in_the_question() -> None:
    episodes = [airline.episode_of(run, with_verdict=True) for run in airline.runs(eval_data("tau_airline.jsonl"))[:30]]
    for number, episode in enumerate(episodes):
        check(episode, *episodes[max(0, number - 6) : number])


@pytest.mark.parametrize("words", ["please change the booking of the train again. ", "请再帮我改签一次明天的火车票。"], ids=["en", "zh"])
def test_what_is_held_covers_the_fullest_question_whatever_the_length(words: str) -> None:
    """All that may stand beside the transcript at once: note, known items, complaints; from one turn up to megabytes."""
    line = (words * 6)[:150]
    known = Known(memories=tuple(make_memory(id=f"m{n}", conclusion=line, language="zh" if "请" in words else "en") for n in range(20)))
    complaints = [Complaint(rule="form", text=words * 10) for _ in range(20)]
    for repeats in (1, 30, 300, 30_000):
        episode = make_episode(turns=(make_turn(words * repeats),), goal=words * 200)
        asked = question(episode, known, complaints)
        assert asked.prompt_tokens + asked.max_tokens + SCHEMA_TOKENS <= estimate(episode.turns) <= MODEL_BUDGET
        assert count_tokens(asked.messages[1]["content"]) < asked.prompt_tokens
