"""Every promise of an embedder is kept by every embedder; what one cannot keep is declared here, with the reason."""

import pytest

from hindwise.embed.base import Embedder
from hindwise.embed.local import LocalEmbedder
from hindwise.embed.none import NoEmbedder
from hindwise.embed.openai import OpenAIEmbedder
from hindwise.testing import HashedEmbedder
from tests.conformance.embedder.fake_embeddings import FakeEmbeddings

WITH_VECTORS = ["hashed", "local", "openai"]
"""`none` gives no vectors: promises about vectors are not for it."""


@pytest.fixture
def endpoint():
    fake = FakeEmbeddings()
    yield fake
    fake.close()


def make(name: str, endpoint: FakeEmbeddings) -> Embedder:
    match name:
        case "hashed":
            return HashedEmbedder()
        case "local":
            return LocalEmbedder()
        case "openai":
            return OpenAIEmbedder(model="hashed", base_url=endpoint.url, api_key="key-1", timeout_s=5)
        case _:
            return NoEmbedder()


@pytest.fixture(params=[*WITH_VECTORS, "none"])
async def any_embedder(request, endpoint):
    embedder = make(request.param, endpoint)
    await embedder.start()
    yield embedder
    await embedder.close()


@pytest.fixture(params=WITH_VECTORS)
async def embedder(request, endpoint):
    embedder = make(request.param, endpoint)
    await embedder.start()
    yield embedder
    await embedder.close()
