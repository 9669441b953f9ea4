"""Vectors from any OpenAI-compatible `/embeddings` endpoint. `EMBEDDING_MODEL` names the vector space; nothing falls back to another."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from hindwise.embed.base import Calibration, Vector
from hindwise.embed.calibration import measure
from hindwise.embed.query_cache import QueryCache
from hindwise.embed.shorten import LONGEST, shorten
from hindwise.errors import HindwiseError, ModelRefused, ModelUnavailable
from hindwise.safety.contacts import NO_CONTACTS, Contacts, mask_contacts

if TYPE_CHECKING:  # importing the client takes the better part of a second: only who uses it pays
    import openai

_BATCH = 10
"""Texts per request: some providers take no more than ten, and none is much faster with more of our short texts."""
_REQUESTS_AT_ONCE = 4
_EMPTY = "-"
"""Sent for an empty text, which most endpoints refuse."""
_REFUSED = {
    400: "the request: does EMBEDDING_MODEL name an embedding model of this endpoint?",
    401: "the key: set EMBEDDING_API_KEY",
    403: "the key's rights: set an EMBEDDING_API_KEY that may use this model",
    404: "the model or the address: check EMBEDDING_MODEL and EMBEDDING_BASE_URL (it usually ends in /v1)",
}


class OpenAIEmbedder:
    """Implements `Embedder` over HTTP. No retries here: whoever asks owns them."""

    def __init__(
        self, *, model: str, base_url: str = "", api_key: str = "", timeout_s: float = 10.0, contacts: Contacts = NO_CONTACTS
    ) -> None:
        """base_url: "" = the client's default, api.openai.com; api_key: "" for servers that want none; contacts: what is masked in
        what is sent, for it may have been stored while the settings said otherwise.
        """
        self.model = model
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._contacts = contacts
        self._dim = 0
        self._calibration: Calibration | None = None
        self._client: openai.AsyncOpenAI | None = None
        self._slots = asyncio.Semaphore(_REQUESTS_AT_ONCE)
        self._queries = QueryCache()

    @property
    def dim(self) -> int:
        """Known after `start`: the length of the endpoint's vectors."""
        return self._dim

    @property
    def calibration(self) -> Calibration:
        """Known after `start`."""
        if self._calibration is None:
            raise ModelUnavailable("the embedder has not been started")
        return self._calibration

    async def start(self) -> None:
        """Ask for one vector to learn the dimension, then measure the calibration (some ten requests).

        Raises ModelUnavailable when the endpoint does not answer, ModelRefused when it will not, both with what to set.
        """
        import openai

        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self._base_url or None, api_key=self._api_key or "none", timeout=self._timeout_s, max_retries=0
            )
        try:
            [probe] = await self._request(["probe"])
            self._dim = len(probe)
            self._calibration = await measure(self.passages)
        except HindwiseError:
            await self.close()
            raise

    async def passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector per text, ten texts a request, four requests at once; see `Embedder.passages`."""
        cut = [self._to_send(text) for text in texts]
        tasks = [asyncio.ensure_future(self._request(cut[at : at + _BATCH])) for at in range(0, len(cut), _BATCH)]
        try:
            batches = await asyncio.gather(*tasks)
        finally:
            # After one failure the others' answers are of no use.
            for task in tasks:
                task.cancel()
        return [vector for batch in batches for vector in batch]

    async def query(self, text: str) -> Vector | None:
        """Return the vector of a question, from the cache where it was asked before."""

        async def ask(cut: str) -> Vector:
            [vector] = await self._request([cut])
            return vector

        return await self._queries.get(self._to_send(text), ask)

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _to_send(self, text: str) -> str:
        """Masked before it is cut, so that no half of a number is left."""
        return shorten(mask_contacts(text[:LONGEST], self._contacts, []))

    async def _request(self, texts: list[str]) -> list[Vector]:
        import openai

        if self._client is None:
            raise ModelUnavailable("the embedder is not running")
        try:
            async with self._slots, asyncio.timeout(self._timeout_s + 1):
                answer = await self._client.embeddings.create(
                    model=self.model, input=[text if text.strip() else _EMPTY for text in texts], encoding_format="float"
                )
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            raise self._translated(error) from error
        return self._checked(answer, len(texts))

    def _checked(self, answer: Any, wanted: int) -> list[Vector]:
        """Whatever an endpoint sent with status 200; the client hands on a web page as a string."""
        try:
            rows = [list(map(float, item.embedding)) for item in sorted(answer.data, key=lambda item: item.index)]
        except (AttributeError, TypeError, ValueError) as error:
            raise self._translated(error) from error
        if len(rows) != wanted or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise ModelRefused(f"{self._where()} answered {len(rows)} vectors for {wanted} texts: is EMBEDDING_MODEL an embedding model?")
        vectors = np.asarray(rows, dtype=np.float32)
        if self._dim and vectors.shape[1] != self._dim:
            raise ModelRefused(f"{self._where()} gives {vectors.shape[1]} numbers instead of {self._dim}: restart for a new index")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or (lengths == 0).any():
            raise ModelUnavailable(f"{self._where()} gave a vector that is zero or not finite")
        return list(vectors / lengths)

    def _translated(self, error: Exception) -> HindwiseError:
        """Retryable or not, in one place: what time can heal is; what a person must set is not."""
        import openai

        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            if status == 402 or error.code == "insufficient_quota":
                return ModelRefused(f"{self._where()} has no credit left: top it up, or set another endpoint")
            if status in (408, 409, 425, 429) or status >= 500:
                return ModelUnavailable(f"{self._where()} answered {status}", retry_after_s=_retry_after(error))
            return ModelRefused(f"{self._where()} answered {status}; it refuses {_REFUSED.get(status, _REFUSED[400])}")
        if isinstance(error, openai.APIConnectionError | TimeoutError):
            return ModelUnavailable(
                f"{self._where()} does not answer within {self._timeout_s:g} s: start it or correct EMBEDDING_BASE_URL; "
                "without EMBEDDING_MODEL the local embedder is used, which is another vector space"
            )
        return ModelRefused(f"{self._where()} answered what is no list of embeddings: check EMBEDDING_BASE_URL")

    def _where(self) -> str:
        """Host and port, never credentials or paths: this stands in logs."""
        host = urlsplit(self._base_url).netloc.rpartition("@")[2] or "api.openai.com"
        return f"the embedding endpoint {host} (model {self.model})"


def _retry_after(error: "openai.APIStatusError") -> float | None:
    value = error.response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None
