"""One Cloud-like Temporal per module: TLS, client certificates, an API key."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.temporal_server import temporal_server
from tests.tls_temporal import Front, Papers, make_papers, tls_front

KEY = "temporal-key-of-the-test"
NAMESPACE = "memory.a1b2c"


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return make_papers(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """Of another authority."""
    return make_papers(tmp_path_factory.mktemp("strangers"), "Somebody Else's CA")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def front(papers: Papers) -> AsyncIterator[Front]:
    async with temporal_server(more_namespaces=[NAMESPACE]) as server:
        target = server.client.service_client.config.target_host
        async with tls_front(target, papers, api_key=KEY, client_ca=papers.ca) as running:
            yield running
