"""Rules we live by, as tests. A failure says what broke, why it matters and what to run."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("hindwise", "workflows", "activities", "api")


def python_files():
    return [path for package in CODE for path in sorted((ROOT / package).rglob("*.py"))]


def test_who_may_import_whom():
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"an arrow of docs/architecture.md is broken; see: make imports\n{done.stdout[-3000:]}"


def test_every_module_says_what_lives_in_it():
    silent = [
        str(path.relative_to(ROOT)) for path in python_files() if path.read_text() and not path.read_text().lstrip().startswith('"""')
    ]
    assert silent == [], "these modules open without a docstring; a reader cannot tell what lives there"


def test_no_room_is_crowded():
    crowded = {str(path.relative_to(ROOT)): lines for path in python_files() if (lines := len(path.read_text().splitlines())) > 400}
    crowded = {name: lines for name, lines in crowded.items() if "migrations/versions" not in name}
    assert crowded == {}, "over 400 lines: find the second noun and give it a file"


def test_the_lock_names_no_host_and_no_option():
    for name in ("requirements.lock", "bootstrap.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        assert not re.search(r"^--", text, flags=re.M)


def test_every_dependency_tells_why_it_is_there():
    lines = re.findall(r'^  "[A-Za-z][^"]*[<>=][^"]*",.*$', (ROOT / "pyproject.toml").read_text(), flags=re.M)
    assert len(lines) > 15
    assert [line for line in lines if "#" not in line] == []


def asking_for(words: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in python_files() if re.search(words, path.read_text())}


def test_one_file_knows_which_database_it_is():
    questions = r"dialect\.name|get_backend_name|startswith\(.(?:postgres|sqlite)"
    assert asking_for(questions) == {"hindwise/ledger/databases.py"}, "a difference between databases belongs there"


def test_only_the_two_ways_to_tell_a_statement_ask_for_its_driver():
    assert asking_for(r"\bsqlite_driver\(") == {"hindwise/ledger/direct.py", "hindwise/ledger/prepared.py"}
