"""Writes `docs/settings.md` and `.env.example` from the settings themselves: `python -m hindwise.cli.settings_page`.

A test compares the files with what this would write.
"""

import sys
from pathlib import Path

from hindwise.cli.setting_sources import Described, as_text, described

_HEAD = """# Settings

Every setting with its default. They come from the environment, or from a `.env` in the directory where Hindwise starts; the
environment wins. `hindwise doctor` prints the present values and where each comes from. Names with two forms are understood both
ways. This page is made by `python -m hindwise.cli.settings_page` from `hindwise/settings.py`.

| name | default | meaning |
|---|---|---|
"""
_ENV_HEAD = """# Copy to .env and change what you need; every line here is a default. Made by: python -m hindwise.cli.settings_page
"""


def _words(setting: Described) -> str:
    return setting.meaning or setting.field.replace("_", " ").capitalize() + "."


def page() -> str:
    """The text of docs/settings.md."""
    rows = []
    for setting in described():
        names = " or ".join(f"`{name}`" for name in setting.names)
        default = f"`{as_text(setting.default)}`" if as_text(setting.default) else "empty"
        rows.append(f"| {names} | {default} | {_words(setting).replace('|', chr(92) + '|')} |")
    return _HEAD + "\n".join(rows) + "\n"


def example() -> str:
    """The text of .env.example."""
    parts = [f"# {_words(setting)}\n# {setting.names[0]}={as_text(setting.default)}\n" for setting in described()]
    return _ENV_HEAD + "\n" + "\n".join(parts)


def write(root: Path) -> list[Path]:
    """Write both files below the repository's root; return their paths."""
    targets = {root / "docs" / "settings.md": page(), root / ".env.example": example()}
    for path, text in targets.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(targets)


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path()):
        sys.stdout.write(f"{written}\n")
