"""A wording that is compiled at its first use answers as a compiled one does; no module compiles its own, and none of them is wrong."""

import ast
import copy
import gc
import importlib
import pickle
import pkgutil
import re
import threading
from pathlib import Path

import pytest

import hindwise.reflect
import hindwise.safety
import hindwise.text
from hindwise.text import lazy_re as room
from hindwise.text.lazy_re import lazy_re

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["She lives in Lyon, not in Paris.", "她住在里昂，不住在巴黎。", "", "İstanbul\nPARIS"]
GIVEN = [(r"(?i)\b(?P<where>lyon|paris)\b", 0), (r"(?P<where>里昂|巴黎)", 0), (r"^(?P<where>\w+)$", re.MULTILINE | re.IGNORECASE)]


@pytest.mark.parametrize(("expression", "flags"), GIVEN)
@pytest.mark.parametrize("text", TEXTS)
def test_answers_as_a_compiled_expression(expression: str, flags: int, text: str) -> None:
    compiled, lazy = re.compile(expression, flags), lazy_re(expression, flags)
    told = [(match.span(), match["where"]) for match in lazy.finditer(text)]
    assert told == [(match.span(), match["where"]) for match in compiled.finditer(text)]
    for asked in ("search", "match", "fullmatch"):
        ours, theirs = getattr(lazy, asked)(text), getattr(compiled, asked)(text)
        assert (ours and ours.span()) == (theirs and theirs.span())
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.split(text) == compiled.split(text)
    assert lazy.sub("there", text) == compiled.sub("there", text)
    assert lazy.subn(lambda match: f"<{match[0]}>", text) == compiled.subn(lambda match: f"<{match[0]}>", text)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert dict(lazy.groupindex) == dict(compiled.groupindex)


def test_compiles_at_the_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    really = re.compile
    monkeypatch.setattr(room.re, "compile", lambda expression, flags: compiled.append(expression) or really(expression, flags))
    lazy = lazy_re(r"first use \d+")
    assert not compiled
    assert lazy.search("first use 1")
    assert lazy.match("first use 2")
    assert compiled == [r"first use \d+"]


def test_a_copy_answers_too() -> None:
    for made in (copy.copy(lazy_re("a+")), copy.deepcopy(lazy_re("a+")), pickle.loads(pickle.dumps(lazy_re("a+")))):
        assert made.findall("aab a") == ["aa", "a"]


def test_an_expression_that_is_wrong_says_so_when_asked() -> None:
    with pytest.raises(re.error, match="unterminated"):
        lazy_re("(").search("x")


def test_threads_that_ask_first_at_once_are_all_answered() -> None:
    for round_ in range(50):
        lazy, found, at_once = lazy_re(rf"(?i)round {round_}\b"), [], threading.Barrier(4)

        def ask(
            lazy: re.Pattern[str] = lazy, found: list[bool] = found, at_once: threading.Barrier = at_once, round_: int = round_
        ) -> None:
            at_once.wait(10)
            found.append(lazy.search(f"this is ROUND {round_}") is not None)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert found == [True] * 4


def test_every_expression_of_ours_compiles() -> None:
    for package in (hindwise.reflect, hindwise.safety, hindwise.text):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    ours = [found for found in gc.get_objects() if type(found) is type(lazy_re("x"))]
    assert len(ours) > 400
    for expression in ours:
        assert isinstance(re.compile(expression.pattern), re.Pattern)


@pytest.mark.parametrize("package", ["reflect", "safety", "text"])
def test_no_module_of_wordings_compiles_when_it_is_read(package: str) -> None:
    eager = []
    for path in sorted((ROOT / "hindwise" / package).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(node) for part in ast.walk(tree) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(part)
        }
        eager += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile" and id(node) not in inside
        ]
    assert not eager, "use lazy_re there"
