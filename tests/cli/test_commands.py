"""Commands as a person or a script meets them, by themselves: help, exit codes, one line of error, keys, doctor."""

import json
import subprocess
import sys
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from hindwise.cli import exits
from hindwise.cli.app import app
from tests.nobody import nobody_at
from tests.shell import CLEAN, hindwise


def every_command() -> list[list[str]]:
    found: list[list[str]] = [[]]

    def walk(command: Any, path: list[str]) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            found.append([*path, name])
            walk(inner, [*path, name])

    walk(typer.main.get_command(app), [])
    return found


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_every_command_has_help_with_an_example(path):
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="hindwise")
    assert result.exit_code == 0
    examples = result.output.partition("Examples:")[2]
    assert f"hindwise {' '.join(path[:1])}".strip() in examples or "hindwise " + " ".join(path) in " ".join(examples.split())


def test_the_commands_of_this_release_are_there():
    names = {path[0] for path in every_command() if path}
    assert names >= {
        *("up", "status", "api", "worker", "reflect", "remember", "recall", "list", "show", "session", "reflections", "keys", "doctor"),
    }


def test_help_imports_nothing_heavy(tmp_path):
    program = (
        "import sys; sys.argv = ['hindwise', '--help']\n"
        "try:\n    from hindwise.cli import main; main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'sqlalchemy', 'temporalio', 'fastapi', 'openai', 'numpy', 'pydantic', 'httpx2', 'uvloop', 'asyncio'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.splitlines()[-1] == "HEAVY []"


def test_version_is_told(tmp_path):
    told = hindwise("--version", cwd=tmp_path)
    assert (told.returncode, told.stdout.split()[0]) == (0, "hindwise")


def test_an_unknown_command_is_wrong_usage(tmp_path):
    assert hindwise("nonsense", cwd=tmp_path).returncode == exits.USAGE


@pytest.mark.parametrize(
    "arguments",
    [["recall", "x"], ["list"], ["show", "x"], ["remember", "x"], ["session", "x"], ["reflections"], ["status"]],
    ids=lambda a: a[0],
)
def test_without_a_running_hindwise_the_next_step_is_told(tmp_path, arguments):
    unused = nobody_at().rpartition(":")[2]  # whoever tests may have one running at the usual address
    told = hindwise(*arguments, cwd=tmp_path, HINDWISE_PORT=unused)
    assert told.returncode == exits.UNREACHABLE
    assert "start it with: hindwise up" in told.stderr
    assert "Traceback" not in told.stderr
    assert not (tmp_path / ".hindwise").exists()  # asking makes nothing


def test_an_address_where_nothing_listens_is_unreachable(tmp_path):
    told = hindwise("list", "--url", f"http://{nobody_at()}", cwd=tmp_path)
    assert told.returncode == exits.UNREACHABLE
    assert f"nothing answers at http://{nobody_at()}" in told.stderr


def test_a_wrong_setting_is_named_without_a_traceback_and_without_its_value(tmp_path):
    told = hindwise("status", cwd=tmp_path, HINDWISE_PORT="hunter2")
    assert told.returncode == exits.USAGE
    assert "HINDWISE_PORT" in told.stderr
    assert "hunter2" not in told.stderr
    assert "Traceback" not in told.stderr


def test_debug_shows_the_traceback(tmp_path):
    told = hindwise("list", "--url", f"http://{nobody_at()}", cwd=tmp_path, HINDWISE_LOG_LEVEL="debug")
    assert "Traceback" in told.stderr
    assert told.returncode == exits.UNREACHABLE


def test_no_keys_on_an_open_address_are_refused(tmp_path):
    told = hindwise("up", "--no-auth", "--host", "0.0.0.0", cwd=tmp_path)
    assert told.returncode == exits.USAGE
    assert "--no-auth" in told.stderr


def test_a_file_that_is_no_transcript_is_wrong_input(tmp_path):
    (tmp_path / "x.json").write_text("hello")
    told = hindwise("reflect", "x.json", cwd=tmp_path)
    assert told.returncode == exits.USAGE
    assert "expected:" in told.stderr


def test_a_missing_file_is_wrong_input(tmp_path):
    assert hindwise("reflect", "nowhere.json", cwd=tmp_path).returncode == exits.USAGE


def test_keys_are_made_listed_and_revoked_without_a_running_api(tmp_path):
    made = json.loads(hindwise("keys", "create", "dify", "--scope", "write", "--json", cwd=tmp_path).stdout)
    assert made["key"].startswith("hw_")
    listed = hindwise("keys", "list", "--json", cwd=tmp_path).stdout
    assert made["key"] not in listed
    rows = [(row["name"], row["scopes"], row["revoked_at"]) for row in json.loads(listed)]
    assert rows == [("dify", ["write"], None), ("first key", ["admin"], None)]
    assert (tmp_path / ".hindwise" / "api_key").exists()  # so that the first start has one to show
    assert hindwise("keys", "revoke", made["id"], cwd=tmp_path).returncode == 0
    assert json.loads(hindwise("keys", "list", "--json", cwd=tmp_path).stdout)[0]["revoked_at"]
    assert hindwise("keys", "revoke", "nonsense", cwd=tmp_path).returncode == exits.FAILED
    assert hindwise("keys", "create", "x", "--scope", "everything", cwd=tmp_path).returncode == exits.USAGE
    assert (tmp_path / ".hindwise").stat().st_mode & 0o777 == 0o700


def test_doctor_tells_where_each_setting_comes_from(tmp_path):
    (tmp_path / ".env").write_text("HINDWISE_LESSONS=user\nLLM_API_KEY=sk-very-secret\n")
    told = hindwise("doctor", "--json", cwd=tmp_path, HINDWISE_EMBED="none", HINDWISE_PORT="0")
    report = json.loads(told.stdout)
    sources = {row["name"]: (row["value"], row["source"]) for row in report["settings"]}
    assert sources["HINDWISE_LESSONS"] == ("user", ".env")
    assert sources["HINDWISE_EMBED"] == ("none", "env")
    assert sources["HINDWISE_TENANT"] == ("default", "default")
    assert sources["LLM_API_KEY"] == ("(set)", ".env")
    assert "sk-very-secret" not in told.stdout
    assert (told.returncode, report["broken"]) == (0, 0)


def test_doctor_notes_a_shared_ledger_without_a_shared_secret(tmp_path):
    shared = {"HINDWISE_EMBED": "none", "HINDWISE_PORT": "0", "HINDWISE_DATABASE_URL": f"postgresql+psycopg://nobody@{nobody_at()}/none"}
    expected = {
        "": ("note", "give every API and worker the same"),
        "s" * 15: ("note", "short enough to be guessed"),
        "密" * 15: ("note", "short enough to be guessed"),
        "s" * 16: ("ok", "HINDWISE_SECRET_KEY"),
    }
    for secret, (level, words) in expected.items():
        told = hindwise("doctor", "--json", cwd=tmp_path, HINDWISE_SECRET_KEY=secret, **shared)
        [finding] = [one for one in json.loads(told.stdout)["findings"] if one["name"] == "secret"]
        assert finding["state"] == level
        assert words in finding["detail"]


def test_doctor_takes_no_file_for_a_shared_ledger(tmp_path):
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    told = hindwise("doctor", "--json", cwd=tmp_path, HINDWISE_EMBED="none", HINDWISE_PORT="0", HINDWISE_DATABASE_URL=url)
    [finding] = [one for one in json.loads(told.stdout)["findings"] if one["name"] == "secret"]
    assert (finding["state"], finding["detail"]) == ("ok", "the data directory's own")


def test_doctor_fails_when_something_is_broken(tmp_path):
    told = hindwise("doctor", cwd=tmp_path, HINDWISE_EMBED="none", HINDWISE_TEMPORAL_ADDRESS=nobody_at())
    assert told.returncode == exits.FAILED
    assert "BROKEN" in told.stdout
    assert f"nothing listens at {nobody_at()}" in told.stdout


@pytest.mark.parametrize("command", [["keys", "list"], ["doctor", "--json"], ["migrate"]], ids=" ".join)
@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)], ids=["stdout", "all"])
def test_a_closed_stream_leads_nowhere_and_fails_nothing(tmp_path, command, closed):
    redirect = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[number] for number in closed)
    line = f'exec "$@" {redirect}'
    env = {**CLEAN, "HINDWISE_EMBED": "none", "HINDWISE_PORT": "0"}
    told = subprocess.run(
        ["/bin/sh", "-c", line, "sh", sys.executable, "-m", "hindwise.cli", *command],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (told.returncode, told.stdout) == (0, "")
    assert "error" not in told.stderr


def test_ctrl_c_while_modules_load_ends_without_a_traceback(tmp_path):
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, *_):\n"
        "        raise KeyboardInterrupt\n"
        "import hindwise.cli\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "hindwise.cli.main()"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, told.stderr) == (exits.INTERRUPTED, "")
