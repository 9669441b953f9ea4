"""What was stored while the settings said otherwise is masked on its way to a model, and what a model makes up before it is stored."""

import json
from typing import Any

import pytest

from hindwise.errors import AnswerUnusable
from hindwise.reflect.base import Known
from hindwise.reflect.llm.client import ChatEndpoint
from hindwise.reflect.llm.reflector import LlmReflector
from hindwise.settings import Settings
from tests.fake_llm import FakeLlm
from tests.unit.reflect_llm.episodes import EN, ZH, episode

STORED = {"en": "Call her: 13812345678, ann@shop.example", "zh": "给她打电话：13812345678，邮箱ann@shop.example"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("phones", "emails"), [(True, False), (True, True), (False, False)])
async def test_a_model_is_sent_no_more_contacts_than_the_settings_allow(lang: str, phones: bool, emails: bool) -> None:
    async with FakeLlm() as llm:
        told: dict[str, Any] = {"llm_base_url": llm.url, "llm_model": "small", "mask_phones": phones, "mask_emails": emails}
        endpoint = ChatEndpoint(Settings(_env_file=None, **told))  # type: ignore[call-arg]
        try:
            await endpoint.complete([{"role": "user", "content": STORED[lang]}], {"type": "object"}, 100)
        finally:
            await endpoint.close()
        sent = json.dumps(llm.requests[-1], ensure_ascii=False)
    assert ("13812345678" in sent) is not phones
    assert ("ann@shop.example" in sent) is not emails


NOTHING = {
    "en": json.dumps({"lessons": [], "items": [], "nothing_because": "only small talk; her number is 13812345678"}),
    "zh": json.dumps({"lessons": [], "items": [], "nothing_because": "只是闲聊，她的电话是13812345678"}, ensure_ascii=False),
}
OUT_OF_FORM = {"en": "I would call 13812345678 first.", "zh": "我会先打电话：13812345678。"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("phones", [True, False])
async def test_an_answer_is_kept_with_no_more_contacts_than_the_settings_allow(lang: str, phones: bool) -> None:
    async with FakeLlm([f"says:{NOTHING[lang]}", f"says:{OUT_OF_FORM[lang]}"]) as llm:
        asker = LlmReflector(Settings(_env_file=None, llm_base_url=llm.url, llm_model="small", mask_phones=phones))  # type: ignore[call-arg]
        about = episode(*(EN if lang == "en" else ZH))
        try:
            answer = await asker.reflect(about, Known())
            with pytest.raises(AnswerUnusable) as caught:
                await asker.reflect(about, Known())
        finally:
            await asker.close()
    for kept in (answer.raw, answer.nothing_because, caught.value.raw):
        assert ("13812345678" in kept) is not phones
        assert ("[masked:phone]" in kept) is phones


LESSON = {
    "en": {
        "conclusion": "When a booking is to be cancelled, call 13812345678 first",
        "why": "order 18612345678 was refused",
        "quote": "18612345678 needs a confirmation",
    },
    "zh": {"conclusion": "取消预订之前，先打13812345678", "why": "订单18612345678被拒绝", "quote": "18612345678需要先确认"},
}
ORDER = {"en": "Error: order 18612345678 needs a confirmation", "zh": "错误：订单18612345678需要先确认"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("phones", [True, False])
async def test_a_lesson_holds_no_number_that_nobody_told_and_keeps_the_orders_number_that_was(lang: str, phones: bool) -> None:
    lesson = {"lesson_type": "pitfall", "turns": [4], **LESSON[lang]}
    told = list(EN if lang == "en" else ZH)
    told[3] = (told[3][0], ORDER[lang], *told[3][2:])
    async with FakeLlm([f"says:{json.dumps({'lessons': [lesson]}, ensure_ascii=False)}"]) as llm:
        asker = LlmReflector(Settings(_env_file=None, llm_base_url=llm.url, llm_model="small", mask_phones=phones))  # type: ignore[call-arg]
        try:
            answer = await asker.reflect(episode(*told), Known())
        finally:
            await asker.close()
    [draft] = answer.drafts
    assert ("13812345678" in draft.model_dump_json()) is not phones
    assert ("[masked:phone]" in draft.conclusion) is phones
    assert "18612345678" in draft.evidence[0].quote
