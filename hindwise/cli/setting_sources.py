"""What each setting is called, what it means, and where its present value comes from."""

import ast
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, SecretStr
from pydantic_core import PydanticUndefined

from hindwise import settings as settings_module
from hindwise.settings import Settings

Source = Literal["default", "env", ".env"]


@dataclass(frozen=True, slots=True)
class Described:
    """A setting: its field, the names by which the environment gives it (first = the one to use), its default, its meaning."""

    field: str
    names: tuple[str, ...]
    default: Any
    meaning: str
    secret: bool


@cache
def _docstrings() -> Mapping[str, str]:
    """The line under each field in settings.py: kept there once, read from there."""
    tree = ast.parse(Path(settings_module.__file__).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == Settings.__name__)
    found: dict[str, str] = {}
    for node, following in itertools.pairwise(body):
        match node, following:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                found[field] = " ".join(text.split())
    return found


def described() -> list[Described]:
    """Every setting, in the order of settings.py."""
    found = []
    for field, info in Settings.model_fields.items():
        alias = info.validation_alias
        names = tuple(str(name) for name in alias.choices) if isinstance(alias, AliasChoices) else (f"HINDWISE_{field.upper()}",)
        names = tuple(sorted(names, key=lambda name: name.startswith("HINDWISE_"))) if len(names) > 1 else names
        default = "" if info.default is PydanticUndefined else info.default
        secret = isinstance(default, SecretStr)
        plain = default.get_secret_value() if isinstance(default, SecretStr) else default
        found.append(Described(field, names, plain, _docstrings().get(field, ""), secret))
    return found


def as_text(value: Any) -> str:
    """A value as it would stand in the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def source_of(setting: Described, environment: Mapping[str, str], dotenv: Mapping[str, Any]) -> tuple[Source, str]:
    """Where a value comes from, and under which name."""
    named: tuple[tuple[Source, Mapping[str, Any]], ...] = (("env", environment), (".env", dotenv))
    for source, values in named:
        upper = {name.upper(): name for name in values}
        for name in setting.names:
            if name in upper:
                return source, upper[name]
    return "default", ""


def rows(settings: Settings, environment: Mapping[str, str] | None = None, dotenv_file: Path = Path(".env")) -> list[dict[str, str]]:
    """Every setting with its present value (secrets masked) and its source."""
    from dotenv import dotenv_values

    dotenv = dotenv_values(dotenv_file) if dotenv_file.is_file() else {}
    found = []
    for setting in described():
        value = getattr(settings, setting.field)
        shown = ("(set)" if value.get_secret_value() else "") if isinstance(value, SecretStr) else as_text(value)
        source, name = source_of(setting, os.environ if environment is None else environment, dotenv)
        found.append({"name": name or setting.names[0], "value": shown, "source": source, "meaning": setting.meaning})
    return found
