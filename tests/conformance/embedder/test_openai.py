"""What is particular to an endpoint: it may refuse, be away, or answer nonsense; each says what to do."""

import socket

import pytest

from hindwise.embed.factory import open_embedder
from hindwise.embed.openai import OpenAIEmbedder
from hindwise.errors import ModelRefused, ModelUnavailable
from hindwise.settings import Settings
from tests.conformance.embedder.fake_embeddings import DIM


def make(endpoint, **changes) -> OpenAIEmbedder:
    return OpenAIEmbedder(**{"model": "some-model", "base_url": endpoint.url, "api_key": "key-1", "timeout_s": 2.0, **changes})


@pytest.fixture
async def embedder(endpoint):
    embedder = make(endpoint)
    await embedder.start()
    yield embedder
    await embedder.close()


async def test_the_dimension_is_learned_from_the_endpoint(embedder, endpoint):
    assert (embedder.model, embedder.dim) == ("some-model", DIM)
    assert {body["model"] for body in endpoint.requests} == {"some-model"}
    assert set(endpoint.keys) == {"Bearer key-1"}
    assert len(endpoint.requests) < 20


async def test_texts_go_in_requests_of_ten_and_come_back_in_order(embedder, endpoint):
    endpoint.requests.clear()
    endpoint.mode = "shuffled"
    texts = [f"text number {i}" for i in range(25)]
    vectors = await embedder.passages(texts)
    endpoint.mode = "ok"
    assert sorted(len(body["input"]) for body in endpoint.requests) == [5, 10, 10]
    for text, vector in zip(texts, vectors, strict=True):
        assert vector @ (await embedder.query(text)) == pytest.approx(1.0, abs=1e-5)


async def test_a_question_asked_again_is_not_sent_again(embedder, endpoint):
    await embedder.query("怎么取消？")
    endpoint.requests.clear()
    await embedder.query("怎么取消？")
    assert endpoint.requests == []


@pytest.mark.parametrize(("phones", "emails"), [(True, False), (True, True), (False, False)])
@pytest.mark.parametrize("stored", ["Call her: 13812345678, ann@shop.example", "给她打电话：13812345678，邮箱ann@shop.example"])
async def test_an_endpoint_is_sent_no_more_contacts_than_the_settings_allow(endpoint, stored, phones, emails):
    settings = Settings(_env_file=None, embedding_model="m", embedding_base_url=endpoint.url, mask_phones=phones, mask_emails=emails)
    embedder = open_embedder(settings)
    await embedder.start()
    try:
        endpoint.requests.clear()
        [vector] = await embedder.passages([stored])
        asked = await embedder.query(stored)
    finally:
        await embedder.close()
    assert vector @ asked == pytest.approx(1.0, abs=1e-5)
    assert len(endpoint.requests) == 2
    for sent in (" ".join(body["input"]) for body in endpoint.requests):
        assert ("13812345678" in sent) is not phones
        assert ("ann@shop.example" in sent) is not emails


async def test_an_error_is_not_remembered(embedder, endpoint):
    endpoint.mode = 503
    with pytest.raises(ModelUnavailable):
        await embedder.query("a new question")
    endpoint.mode = "ok"
    assert (await embedder.query("a new question")) is not None


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "EMBEDDING_API_KEY"), (403, "EMBEDDING_API_KEY"), (404, "EMBEDDING_MODEL"), (400, "EMBEDDING_MODEL"), (402, "credit")],
)
async def test_a_refusal_says_what_to_set(endpoint, status, hint):
    endpoint.mode = status
    with pytest.raises(ModelRefused, match=hint):
        await make(endpoint).start()
    assert len(endpoint.requests) == 1  # no retries: whoever asks owns them


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
async def test_what_time_can_heal_is_unavailable(endpoint, status):
    endpoint.mode = status
    with pytest.raises(ModelUnavailable, match=str(status)):
        await make(endpoint).start()
    assert len(endpoint.requests) == 1


async def test_a_wish_to_wait_is_passed_on(embedder, endpoint):
    endpoint.mode, endpoint.retry_after = 429, "7"
    with pytest.raises(ModelUnavailable) as told:
        await embedder.passages(["text"])
    assert told.value.retry_after_s == 7.0


async def test_an_empty_account_needs_a_person(embedder, endpoint):
    endpoint.mode, endpoint.error_code = 429, "insufficient_quota"
    with pytest.raises(ModelRefused, match="credit"):
        await embedder.passages(["text"])


async def test_an_endpoint_that_is_not_there_stops_the_start_with_what_to_set(endpoint):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match="EMBEDDING_BASE_URL"):
        await make(endpoint, base_url=url).start()


async def test_an_error_names_the_host_and_no_credentials_of_its_address(endpoint):
    endpoint.mode = "ok"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(ModelUnavailable) as raised:
        await make(endpoint, base_url=f"http://someone:hunter2@{host}/v1").start()
    assert host in raised.value.detail
    assert "hunter2" not in raised.value.detail


async def test_an_endpoint_that_hangs_is_given_up_in_time(endpoint):
    endpoint.mode = "hang"
    with pytest.raises(ModelUnavailable, match="EMBEDDING_BASE_URL"):
        await make(endpoint, timeout_s=0.3).start()


@pytest.mark.parametrize(
    ("mode", "error"), [("html", ModelRefused), ("short", ModelRefused), ("wide", ModelRefused), ("zero", ModelUnavailable)]
)
async def test_nonsense_is_never_taken_for_vectors(embedder, endpoint, mode, error):
    endpoint.mode = mode
    with pytest.raises(error):
        await embedder.passages(["one", "two"])


async def test_texts_reach_the_endpoint_clean_short_and_never_empty(embedder, endpoint):
    endpoint.requests.clear()
    await embedder.passages(["", "a\0b", "x" * 100_000, "\ud83d退款"])
    [body] = endpoint.requests
    assert body["input"][0].strip()
    assert body["input"][1] == "ab"
    assert len(body["input"][2]) < 5_000
    assert body["input"][3] == "退款"


def test_the_key_is_not_in_an_error_or_a_setting_that_is_printed():
    assert "key-1" not in repr(Settings(_env_file=None, embedding_api_key="key-1"))
