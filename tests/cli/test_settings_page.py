"""The settings page and .env.example say what settings.py says."""

from pathlib import Path

import pytest

from hindwise.cli import setting_sources, settings_page
from hindwise.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("path", "text"), [("docs/settings.md", settings_page.page), (".env.example", settings_page.example)])
def test_the_generated_files_are_up_to_date(path, text):
    assert (ROOT / path).read_text(encoding="utf-8") == text(), "a setting changed: run `python -m hindwise.cli.settings_page`"


def test_every_setting_is_described():
    assert [setting.field for setting in setting_sources.described()] == list(Settings.model_fields)
    undescribed = [setting.field for setting in setting_sources.described() if not setting.meaning]
    assert undescribed == [], "give each setting a line of its own under it in hindwise/settings.py"


def test_the_example_is_a_valid_env_file_that_changes_nothing(tmp_path, monkeypatch):
    for setting in setting_sources.described():
        for name in setting.names:
            monkeypatch.delenv(name, raising=False)
    lines = settings_page.example().splitlines()
    (tmp_path / ".env").write_text(
        "\n".join(line.removeprefix("# ") if "=" in line and line.startswith("# ") and line[2:6].isupper() else line for line in lines)
    )
    monkeypatch.chdir(tmp_path)
    assert Settings() == Settings(_env_file=None)


def test_the_environment_wins_over_the_env_file():
    setting = next(setting for setting in setting_sources.described() if setting.field == "llm_model")
    assert setting.names[0] == "LLM_MODEL"
    assert setting_sources.source_of(setting, {"hindwise_llm_model": "a"}, {"LLM_MODEL": "b"}) == ("env", "hindwise_llm_model")
    assert setting_sources.source_of(setting, {}, {"LLM_MODEL": "b"}) == (".env", "LLM_MODEL")
    assert setting_sources.source_of(setting, {}, {}) == ("default", "")
