"""Log lines carry ids, never contents."""

import json
import logging

import pytest
import structlog

from hindwise.cli import logging as cli_logging
from hindwise.cli import words


@pytest.fixture(autouse=True)
def restore_logging():
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


def test_a_line_is_json_with_time_level_and_role(capsys):
    cli_logging.set_up("info", "api")
    structlog.get_logger("hindwise.api").info("turns.recorded", session="h1", count=3)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["session"], line["count"], line["level"], line["role"]) == ("turns.recorded", "h1", 3, "info", "api")
    assert line["timestamp"].endswith("Z")


def test_contents_that_slip_into_a_line_are_left_out(capsys):
    cli_logging.set_up("info", "worker")
    structlog.get_logger().warning("x", content="我的密码是 1234", query=["a"], detail="d" * 2_000)
    text = capsys.readouterr().err
    assert "密码" not in text
    line = json.loads(text)
    assert (line["content"], line["query"]) == ("(10 characters)", "(left out)")
    assert len(line["detail"]) == 501


def test_an_exception_is_told_by_class_and_place_never_by_its_words(capsys):
    cli_logging.set_up("info", "worker")
    try:
        raise ValueError("card 4111 of 小安")
    except ValueError:
        structlog.get_logger().error("ours", exc_info=True)
        logging.getLogger("some.library").exception("theirs")
    text = capsys.readouterr().err
    assert "4111" not in text
    for line in map(json.loads, text.splitlines()):
        assert line["exception"] == "builtins.ValueError"
        assert "test_cli_logging.py" in line["where"][-1]


def test_levels_below_the_setting_are_silent(capsys):
    cli_logging.set_up("warning", "api")
    structlog.get_logger().info("quiet")
    logging.getLogger("some.library").info("quiet too")
    assert capsys.readouterr().err == ""


def test_libraries_log_in_the_same_shape(capsys):
    cli_logging.set_up("info", "api")
    logging.getLogger("some.library").warning("a blip")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["logger"], line["role"]) == ("a blip", "some.library", "api")


def test_every_word_of_up_is_there_in_both_languages():
    for key, texts in words._WORDS.items():
        assert set(texts) == {"en", "zh"}, key


@pytest.mark.parametrize(("lang", "expected"), [("zh_CN.UTF-8", "zh"), ("en_US.UTF-8", "en"), ("C", "en"), ("de_DE", "en")])
def test_the_locale_chooses_the_language(monkeypatch, lang, expected):
    monkeypatch.setenv("LC_ALL", lang)
    assert words.language() == expected
    assert words.language("zh") == "zh"


def test_a_trace_that_a_server_wrote_into_its_message_is_told_by_its_class():
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in y\nhindwise.errors.ModelRefused: CANARY words\n'
    told = cli_logging.frames_only(None, "error", {"event": trace})
    assert told == {"event": "exception", "exception": "hindwise.errors.ModelRefused"}
