"""What is read from an episode and remembered beside it counts in the room that kept episodes have; English and Chinese side by side."""

import gc
import tracemalloc
from types import SimpleNamespace
from typing import Any

import pytest

from hindwise.ledger.recent import RecentEpisodes
from hindwise.model.episode import Episode
from hindwise.model.once import held_beside, once_per_episode
from hindwise.reflect.gate import worth_reflecting
from hindwise.reflect.steps import steps_in
from hindwise.reflect.transcript import user_turns
from hindwise.safety.identities import identities
from hindwise.safety.sharing import _known_of
from tests.build import make_call, make_episode, make_turn

READERS = (worth_reflecting, steps_in, user_turns, identities, _known_of)
WORD = {"en": "Vorgang{0} shipment{0} Brennerstrasse{0} ", "zh": "客户{0}的订单{0}号 Paket{0}已寄出，"}


@once_per_episode
def _spelled(episode: Episode) -> list[str]:
    return [f"{turn.content} {number}" for turn in episode.turns for number in range(50)]


@once_per_episode
def _quoted(episode: Episode) -> list[str]:
    return [turn.content for turn in episode.turns]


def full_of_words(run_id: str, lang: str, words: int = 4_000) -> Episode:
    """Every word another one, which costs most to remember."""
    said = ["".join(WORD[lang].format(f"{part}x{number}") for number in range(words // 4)) for part in range(4)]
    turns = (
        make_turn(said[0], seq=1),
        make_turn("", role="assistant", seq=2, tool_calls=(make_call("search", note=said[1][:2_000]),)),
        make_turn(said[2], role="tool", seq=3, name="search"),
        make_turn(f"[system: brief]\n{said[3]}", seq=4),
    )
    return make_episode(run_id, turns=turns)


def row(name: str) -> Any:
    class Row(SimpleNamespace):
        def __iter__(self) -> Any:
            return iter((self.id,))

    return Row(id=name)


def chars_of(episode: Episode) -> int:
    return sum(1_000 + len(turn.content) for turn in episode.turns)


def test_what_is_read_after_it_was_kept_takes_room_and_the_oldest_goes() -> None:
    old, new = (make_episode(name, turns=(make_turn("订单 4410 refund " * 20),)) for name in ("old", "new"))
    recent = RecentEpisodes(max_chars=4 * chars_of(old))
    for name, episode in (("old", old), ("new", new)):
        recent.put(row(name), episode)
    assert recent.get(row("old")) is old and recent.get(row("new")) is new
    _spelled(new)
    assert held_beside(new) > 4 * chars_of(new), "the precondition: what is read is larger than all the room"
    assert recent.get(row("new")) is new, "whoever asks is answered"
    assert recent.get(row("old")) is None


def test_the_episodes_own_words_count_once() -> None:
    episode = make_episode("run", turns=(make_turn("客户说 " * 4_000),))
    _quoted(episode)
    assert held_beside(episode) < 200


def test_what_is_gone_is_weighed_no_more() -> None:
    episode = make_episode("gone", turns=(make_turn("words " * 100),))
    _spelled(episode)
    address, before = id(episode), held_beside(episode)
    assert before > 0
    del episode
    gc.collect()
    others = [make_episode(f"run-{number}") for number in range(200)]
    assert all(held_beside(one) == 0 for one in others), f"one of them lies where the first lay ({address:x})"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_weight_is_that_of_the_bytes_at_least_roughly(lang: str) -> None:
    for read in READERS:
        read(full_of_words("warm", lang, 40))
    episode = full_of_words("weighed", lang)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for read in READERS:
            read(episode)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    told = held_beside(episode)
    assert taken > 50_000, "the precondition: there is much to remember"
    assert 0.4 * taken < told < 4 * taken, (taken, told)
