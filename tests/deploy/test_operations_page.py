"""docs/operations.md shows commands, settings and figures that exist."""

import re

import pytest
from typer.main import get_command

from hindwise.cli.app import app
from hindwise.cli.setting_sources import described
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
RUNBOOKS = ("parked", "outbox", "Weaviate is lost", "embedding model", "Restore", "Reset a workflow", "Upgrade", "costs too much")


def commands() -> list[list[str]]:
    """Words after `hindwise` wherever a command is shown, up to a comment or the end of it. `exec hindwise` names a container."""
    shown = "\n".join([*re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S), *re.findall(r"`([^`\n]+)`", PAGE)])
    found = re.findall(r"(?:^|[\s=])(?<!exec )hindwise +([a-z][^#\n|]*)", shown, flags=re.M)
    return [line.split() for line in found]


def test_every_command_and_option_exists() -> None:
    assert len(commands()) > 20
    for words in commands():
        command = get_command(app)
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        assert not getattr(command, "commands", {}) or not words, f"no such command: {words}"
        known = {name for parameter in command.params for name in parameter.opts}
        unknown = [word for word in words if word.startswith("-") and word not in known]
        assert unknown == [], f"{command.name}: {unknown}"


def test_every_setting_and_make_target_exists() -> None:
    known = {name for setting in described() for name in setting.names}
    named = set(re.findall(r"\b((?:HINDWISE|LLM|EMBEDDING)_[A-Z_]+[A-Z])\b", PAGE))
    assert len(named) > 10
    assert named <= known
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    assert set(re.findall(r"`make ([a-z-]+)`", PAGE)) <= set(targets)


def test_every_figure_is_one_of_ours() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "api").glob("*.py")))
    for name in re.findall(r"`(hindwise_\w+)", PAGE):
        assert f'"{name.removesuffix("_total")}"' in source


@pytest.mark.parametrize("words", RUNBOOKS)
def test_each_runbook_is_there(words: str) -> None:
    assert [line for line in PAGE.splitlines() if line.startswith("### ") and words in line]


def test_every_file_named_exists() -> None:
    for path in re.findall(r"\b(deploy/[\w.-]+\w)", PAGE):
        assert (ROOT / path).exists() or path == "deploy/cluster.env", path
