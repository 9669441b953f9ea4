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
