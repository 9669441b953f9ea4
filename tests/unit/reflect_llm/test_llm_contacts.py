"""What was stored while the settings said otherwise is masked on its way to a model."""

import json
from typing import Any

import pytest

from hindwise.reflect.llm.client import ChatEndpoint
from hindwise.settings import Settings
from tests.fake_llm import FakeLlm

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
