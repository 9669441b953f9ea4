"""What clumsy scripts give: empty variables, broken characters, absurd files. Each is refused in one line, none is guessed."""

import asyncio
import errno
import json
import sqlite3
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from hindwise import files
from hindwise.cli import client, doctor_checks, exits, reflect, transcripts, up
from hindwise.cli.app import app
from hindwise.cli.client import ApiClient, Target
from hindwise.cli.exits import USAGE, Ended
from hindwise.errors import InvalidInput
from hindwise.files import make_directory
from hindwise.settings import Settings
from tests.shell import fake_api, hindwise


@pytest.mark.parametrize("option", ["--user", "--agent"])
@pytest.mark.parametrize("command", [["remember", "Prefers tea"], ["recall", "which drink"], ["list"]])
def test_an_empty_variable_as_owner_is_refused_before_any_space_is_chosen(command, option):
    result = CliRunner().invoke(app, [*command, option, " "], prog_name="hindwise")
    assert result.exit_code == USAGE
    assert "empty" in result.output


@pytest.mark.parametrize("text", ["[" * 100_000, '{"role":"user","content":"x"}\n' + "[" * 100_000])
def test_a_file_nested_without_end_is_no_transcript(text):
    with pytest.raises(Ended, match="nested too deep") as refused:
        transcripts.read(text, "deep.json")
    assert refused.value.code == USAGE


def test_what_json_cannot_say_reaches_the_api_which_tells_what_is_wrong():
    sent = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(422, json={"detail": "NaN is no JSON number"})

    client = ApiClient(Target("http://127.0.0.1:9", ""), transport=httpx2.MockTransport(answer))
    for value in ("half \ud800", float("nan")):
        with client, pytest.raises(Ended, match="no JSON number"):
            client.post("/v1/recall", {"query": value})
        client = ApiClient(Target("http://127.0.0.1:9", ""), transport=httpx2.MockTransport(answer))
    client._http.close()
    assert [request.headers["content-type"] for request in sent] == ["application/json"] * 2
    assert [request.content for request in sent] == [b'{"query": "half \\ud800"}', b'{"query": NaN}']


def test_an_argument_that_is_no_text_is_a_wrong_argument():
    with pytest.raises(UnicodeEncodeError) as broken:
        json.dumps("\udcff", ensure_ascii=False).encode()
    ended = exits.explain(broken.value)
    assert (ended.code, "UTF-8" in ended.message) == (USAGE, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HINDWISE_SESSION_IDLE_MINUTES", "inf"),
        ("HINDWISE_HALF_LIFE_DAYS_LESSON", "nan"),
        ("HINDWISE_TEMPORAL_ADDRESS", "nope:xx"),
        ("HINDWISE_TENANT", ""),
        ("HINDWISE_TEMPORAL_NAMESPACE", "记忆"),
        ("HINDWISE_TEMPORAL_NAMESPACE", "two words"),
        ("HINDWISE_TASK_QUEUE_PREFIX", ""),
        ("HINDWISE_TASK_QUEUE_PREFIX", "x" * 2_000),
        ("HINDWISE_UPKEEP_EVERY_MINUTES", "1e300"),
        ("HINDWISE_UPKEEP_EVERY_MINUTES", "1e-9"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(name, value, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        exits.run(["doctor"])
    assert ended.value.code == USAGE
    assert name in capsys.readouterr().err


def test_a_settings_file_that_is_no_text_is_told_as_such(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00HINDWISE_PORT=1")
    with pytest.raises(SystemExit) as ended:
        exits.run(["doctor"])
    assert ended.value.code == USAGE
    assert "UTF-8" in capsys.readouterr().err


def test_doctor_tells_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "NO_ROOM_BYTES", 2**62)
    found = asyncio.run(doctor_checks._data_directory(Settings(_env_file=None, data=tmp_path)))  # type: ignore[call-arg]
    assert (found.state, found.name) == ("broken", "data directory")
    assert "full" in found.detail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_fault_to_report(number):
    told = exits.explain(OSError(number, "No space left on device"))
    assert (told.code, told.message) == (exits.FAILED, "the disk is full")


def test_doctor_does_not_promise_that_a_start_goes_back_from_a_newer_release(tmp_path):
    settings = Settings(_env_file=None, data=tmp_path)  # type: ignore[call-arg]
    with sqlite3.connect(tmp_path / "ledger.db") as ledger:
        ledger.execute("CREATE TABLE alembic_version (version_num TEXT)")
        ledger.execute("INSERT INTO alembic_version VALUES ('9999')")
    ledger.close()
    found = asyncio.run(doctor_checks._bounded("ledger", doctor_checks._ledger(settings)))
    assert found.state == "broken"
    assert "newer" in found.detail


@pytest.mark.parametrize("below", ["", "data"])
def test_a_file_as_data_directory_is_called_a_file(tmp_path, below):
    (tmp_path / "taken").touch()
    settings = Settings(_env_file=None, data=tmp_path / "taken" / below)  # type: ignore[call-arg]
    for prepare in (up.prepare, lambda given: make_directory(given.data)):
        with pytest.raises(InvalidInput, match="is a file"):
            prepare(settings)


@pytest.mark.parametrize("command", [["remember", "\udce6\udc88", "--user", "ann"], ["recall", "\udce8", "--user", "ann"]])
def test_words_whose_bytes_are_no_text_are_refused_and_not_kept_as_marks(command, capsys):
    with pytest.raises(SystemExit) as ended:
        exits.run(command)
    assert ended.value.code == USAGE
    assert "no text" in capsys.readouterr().err


def test_a_terminal_without_our_signs_is_told_all_the_same(tmp_path):
    brief = {"recall_id": "r", "brief": "- 喜欢靠窗 in the café 👍", "items": [], "degraded": False}
    ascii_only = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    with fake_api({("POST", "/v1/recall"): (200, brief)}) as api:
        told, as_json = (
            hindwise("recall", "seat", "--user", "ann", "--url", api.url, *more, cwd=tmp_path, **ascii_only) for more in ((), ("--json",))
        )
    assert (told.returncode, told.stderr) == (0, "")
    assert "\\u9760\\u7a97" in told.stdout
    assert json.loads(as_json.stdout)["brief"] == brief["brief"]


def test_a_file_without_an_end_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(reflect, "_MAX_CHARS", 1_000)
    with pytest.raises(Ended, match="more than") as refused:
        reflect._text(Path("/dev/zero"))
    assert refused.value.code == USAGE


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "two\nlines"])
def test_a_key_has_a_name_that_can_be_told(name, tmp_path):
    result = CliRunner().invoke(app, ["keys", "create", name, "--data", str(tmp_path)], prog_name="hindwise")
    assert isinstance(result.exception, InvalidInput)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["http://[::1", "http://", "ftp://host", "host:8080", "http://host:port", "http://host:99999"])
def test_an_address_that_is_none_is_told_as_such(url, tmp_path):
    with pytest.raises(Ended, match="no address of an API") as refused:
        client.find(Settings(_env_file=None, data=tmp_path), url, "hw_key")  # type: ignore[call-arg]
    assert refused.value.code == USAGE


@pytest.mark.parametrize("key", ["hw_of_a_file\n", "密码"])
def test_a_key_that_no_header_can_carry_is_told_as_such_and_not_as_an_api_that_is_away(key, tmp_path):
    with pytest.raises(Ended, match="the key is none") as refused:
        client.find(Settings(_env_file=None, data=tmp_path), "http://127.0.0.1:9", key)  # type: ignore[call-arg]
    assert refused.value.code == USAGE


def test_a_receipt_with_dots_names_no_other_place_of_the_api(tmp_path):
    with fake_api({}) as api:
        hindwise("erase", "--receipt", "../memories?user_id=ann", "--url", api.url, "--key", "hw_key", cwd=tmp_path)
    assert [path for _, path, *_ in api.asked if path.startswith("/v1")] == ["/v1/erasures/..%2Fmemories%3Fuser_id%3Dann"]
