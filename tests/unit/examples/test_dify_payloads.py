"""The Dify payloads parse, are all different runs, and exist in both languages."""

import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from examples.dify.report_code_node import main as report

DIFY = Path(__file__).resolve().parents[3] / "examples" / "dify"
BODIES = sorted(DIFY.glob("*.json"))
STATUSES = {"succeeded", "failed", "partial-succeeded", "stopped"}


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_a_body_is_json_with_a_status_that_dify_knows(path: Path) -> None:
    body = json.loads(path.read_text(encoding="utf-8"))
    assert body.get("data", body)["status"] in STATUSES


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_a_body_is_in_the_language_of_its_name(path: Path) -> None:
    has_chinese = any("\u4e00" <= c <= "\u9fff" for c in path.read_text(encoding="utf-8"))
    assert has_chinese == path.stem.endswith("_zh")


def test_each_shape_that_matters_comes_in_english_and_in_chinese() -> None:
    languages: dict[str, set[str]] = {}
    for path in BODIES:
        shape, language = path.stem.rsplit("_", 1)
        languages.setdefault(shape.split("_")[0], set()).add(language)
    assert languages["canvas"] == languages["workflow"] == languages["blocking"] == {"en", "zh"}


def test_a_run_detail_carries_its_inputs_as_a_json_string() -> None:
    body = json.loads((DIFY / "run_detail_failed_zh.json").read_text(encoding="utf-8"))
    assert isinstance(body["inputs"], str)
    assert json.loads(body["inputs"])["trip"] == "成都"


def test_the_form_decodes_with_its_special_characters() -> None:
    form = parse_qs((DIFY / "form_failed_en.txt").read_text(encoding="utf-8"), keep_blank_values=True)
    assert form["error"] == ["return labels need the original label's number & date"]
    assert form["output"] == [""]


def test_no_run_id_is_used_twice() -> None:
    bodies = [json.loads(path.read_text(encoding="utf-8")) for path in BODIES]
    ids = [body.get("workflow_run_id") or body.get("run", body).get("workflow_run_id") or body.get("id") for body in bodies]
    assert len(ids) == len(set(ids))


def test_the_code_node_builds_the_envelope_of_the_examples() -> None:
    answer = 'He said "no" \\ and ```json {"status": "failed"}```'
    built = report("r1", "w1", "a1", "u1", "答复客户", answer)["obj"]
    example = json.loads((DIFY / "canvas_succeeded_en.json").read_text(encoding="utf-8"))
    assert isinstance(built, dict)
    assert set(built) == set(example)
    assert set(built["run"]) == set(example["run"])
    assert built["outputs"]["answer"] == answer
    assert built["error"] is None


def test_the_code_node_reports_a_failure_with_its_message() -> None:
    built = report("r1", "w1", "a1", "u1", "提交报销单", "", status="failed", error_message="超时")["obj"]
    assert isinstance(built, dict)
    assert (built["status"], built["error"], built["outputs"]) == ("failed", "超时", {})
