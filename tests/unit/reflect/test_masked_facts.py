"""A statement of which masking left nothing is no memory; what stands beside it is one."""

import pytest

from hindwise.reflect.base import Known
from hindwise.reflect.rules import RuleReflector
from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask, tells_only_a_mask
from tests.build import make_episode, make_turn

BOTH = Contacts(phones=True, emails=True)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My phone number is 13812345678.", ""),
        ("Remember that my mail address is ann@shop.example.", ""),
        ("I prefer window seats. My phone number is +49 170 1234567.", "window"),
        ("我的手机号是13812345678。", ""),
        ("请记住我的邮箱是ann@shop.example。", ""),
        ("我喜欢靠窗的座位。我的电话是010-62345678。", "靠窗"),
    ],
)
async def test_what_was_masked_is_no_fact_and_what_stands_beside_it_is(said: str, kept: str) -> None:
    masked = mask(said, BOTH).text
    assert "[masked:" in masked
    episode = make_episode(turns=(make_turn(masked),), goal="", user_id="ann")
    answer = await RuleReflector().reflect(episode, Known())
    stated = [draft.conclusion for draft in answer.drafts if draft.kind in ("fact", "preference", "instruction", "todo")]
    assert not any("masked" in conclusion for conclusion in stated)
    assert any(kept in conclusion for conclusion in stated) if kept else not stated


def test_only_a_sentence_that_ends_with_what_was_masked_tells_nothing() -> None:
    for sentence in ("The user's card is [masked:card].", "用户的手机号是[masked:phone]。", "My phone is now [masked:phone]"):
        assert tells_only_a_mask(sentence)
    for sentence in (
        "Call [masked:phone] before noon",
        "The hotline is [masked:phone] on weekdays",
        "周末打[masked:phone]",
        "Sky is blue.",
    ):
        assert not tells_only_a_mask(sentence)
