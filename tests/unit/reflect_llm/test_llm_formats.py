"""What an endpoint refuses is remembered, so that the next question begins with what works."""

from hindwise.errors import ModelRefused, ModelUnavailable
from hindwise.reflect.base import Known
from tests.fake_llm import FakeLlm
from tests.unit.reflect_llm.episodes import episode, reflector


def _formats(llm: FakeLlm) -> list[str]:
    return [(body.get("response_format") or {}).get("type", "text") for body in llm.requests]


async def _twice(llm: FakeLlm, model: str) -> None:
    asker = reflector(llm.url, model=model)
    for _ in range(2):
        assert (await asker.reflect(episode(), Known())).drafts
    await asker.close()


async def test_a_schema_is_asked_for_first_and_holds_no_lengths():
    async with FakeLlm() as llm:
        await _twice(llm, "schema")
        schema = llm.requests[0]["response_format"]["json_schema"]
    assert _formats(llm) == ["json_schema", "json_schema"]
    assert schema["strict"] is True
    assert not {word for word in ("maxLength", "$ref", "$defs", "anyOf", "default") if word in str(schema)}
    assert schema["schema"]["required"] == list(schema["schema"]["properties"])


async def test_a_refused_schema_is_not_sent_again():
    async with FakeLlm(mode="refuses_json_schema") as llm:
        await _twice(llm, "no-schema")
    assert _formats(llm) == ["json_schema", "json_object", "json_object"]


async def test_a_500_to_a_schema_counts_as_its_refusal():
    async with FakeLlm(mode="refuses_json_schema_500") as llm:
        await _twice(llm, "schema-500")
    assert _formats(llm) == ["json_schema", "json_object", "json_object"]


async def test_an_endpoint_that_is_simply_down_is_not_taken_for_one_without_schemas():
    async with FakeLlm(["server_error", "server_error"]) as llm:
        asker = reflector(llm.url, model="down")
        try:
            await asker.reflect(episode(), Known())
        except ModelUnavailable as error:
            assert "500" in error.detail
        await asker.reflect(episode(), Known())
        await asker.close()
    assert _formats(llm) == ["json_schema", "json_object", "json_schema"]


async def test_plain_text_is_the_last_resort():
    async with FakeLlm(mode="refuses_formats") as llm:
        await _twice(llm, "plain")
    assert _formats(llm) == ["json_schema", "json_object", "text", "text"]


async def test_the_memory_is_per_model_and_shared_by_reflectors():
    async with FakeLlm(mode="refuses_json_schema") as llm:
        await _twice(llm, "one")
        await _twice(llm, "one")
        await _twice(llm, "two")
    assert _formats(llm) == ["json_schema", *["json_object"] * 4, "json_schema", "json_object", "json_object"]


async def test_endpoints_with_other_names_for_the_limit_and_a_fixed_temperature_are_served():
    async with FakeLlm(["refuses_max_tokens", "refuses_temperature"]) as llm:
        asker = reflector(llm.url, model="reasoning")
        assert (await asker.reflect(episode(), Known())).drafts
        await asker.close()
        first, second, third = llm.requests
    assert "max_tokens" in first and "max_completion_tokens" in second and "max_tokens" not in second
    assert "temperature" in second and "temperature" not in third
    assert third["max_completion_tokens"] > first["max_tokens"]


async def test_a_refusal_for_another_cause_is_not_tried_in_other_formats():
    async with FakeLlm(mode="unauthorized") as llm:
        asker = reflector(llm.url, model="key")
        try:
            await asker.reflect(episode(), Known())
        except ModelRefused as error:
            assert "LLM_API_KEY" in error.detail
        await asker.close()
    assert _formats(llm) == ["json_schema"]
