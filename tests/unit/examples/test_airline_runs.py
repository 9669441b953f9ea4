"""The vendored runs say what the agent saw and what the environment said of it, and nothing else."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.data import eval_data

AIRLINE = Path(__file__).resolve().parents[3] / "examples" / "airline"


def runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (AIRLINE / "runs.jsonl").read_text(encoding="utf-8").splitlines()]


def source() -> dict[str, dict[str, Any]]:
    lines = eval_data("tau_airline.jsonl").read_text(encoding="utf-8").splitlines()
    return {run["run_id"]: run for run in map(json.loads, lines)}


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [str(value)]


def test_the_first_thirty_tasks_are_there_once_and_three_changed_ones_twice() -> None:
    tasks = [(run["task_id"], run["trial"]) for run in runs()]
    assert len(tasks) == len(set(tasks))
    assert {task for task, trial in tasks if trial == 0} == set(range(30))
    second = [run for run in runs() if run["trial"] == 1]
    rewards = {(run["task_id"], run["trial"]): run["reward"] for run in runs()}
    assert len(second) == 3
    assert all(rewards[run["task_id"], 0] != rewards[run["task_id"], 1] for run in second)


def test_no_run_carries_a_field_that_the_agent_never_saw() -> None:
    allowed = {"run_id", "task_id", "trial", "reward", "user_id", "verdict", "decisive", "messages"}
    assert all(set(run) == allowed for run in runs())
    assert all(message["role"] != "system" for run in runs() for message in run["messages"])


def test_the_licence_and_its_owner_stand_beside_the_runs() -> None:
    notice = (AIRLINE / "NOTICE").read_text(encoding="utf-8")
    assert "Copyright (c) 2024 Sierra" in notice
    assert "Permission is hereby granted, free of charge" in notice


def test_every_failed_run_names_the_calls_that_made_the_difference() -> None:
    failed = [run for run in runs() if run["reward"] == 0.0]
    assert failed
    for run in failed:
        assert run["decisive"], run["run_id"]
        assert all(name in run["verdict"] for name in run["decisive"])
    assert all(run["decisive"] == [] and run["verdict"] == "The final database is as expected." for run in runs() if run["reward"] == 1.0)


@pytest.mark.eval_data
def test_the_hidden_instruction_of_no_run_is_in_the_files() -> None:
    text = (AIRLINE / "runs.jsonl").read_text(encoding="utf-8") + (AIRLINE / "second_attempts.jsonl").read_text(encoding="utf-8")
    for run in source().values():
        assert run["hidden_instruction"] not in text
        assert json.dumps(run["hidden_instruction"], ensure_ascii=False)[1:-1] not in text


@pytest.mark.eval_data
def test_no_verdict_tells_a_value_of_the_reference() -> None:
    hidden = source()
    for run in runs():
        said = run["verdict"].replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ").rstrip(".").split()
        values = {leaf for action in hidden[run["run_id"]]["expected_actions"] for leaf in leaves(action["arguments"])}
        counts = {word for word, after in pairwise(said) if after.startswith("times")}
        assert not (values - counts) & set(said), run["run_id"]


@pytest.mark.eval_data
def test_the_messages_are_those_of_the_source_unchanged() -> None:
    hidden = source()
    assert all(run["messages"] == hidden[run["run_id"]]["messages"] for run in runs())


@pytest.mark.eval_data
def test_making_the_files_again_gives_the_same_bytes(tmp_path: Path) -> None:
    env = {"HINDWISE_EVAL_DATA": str(eval_data("tau_airline.jsonl").parent), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, str(AIRLINE / "vendor.py"), str(tmp_path)], check=True, env=env, timeout=60)
    for name in ("runs.jsonl", "second_attempts.jsonl"):
        assert (tmp_path / name).read_bytes() == (AIRLINE / name).read_bytes()
