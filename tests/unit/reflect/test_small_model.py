"""Of the measurement of a small model: does it see what is lost, and what should not have been kept?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.bodies import EpisodeBody
from bench.reflection import parallel, small_model, small_model_show
from bench.reflection.small_model_judge import Run, Stored, Told, judged
from hindwise.ledger.attempts import Attempt, grounded_whole
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer
from hindwise.reflect.rules import reflect_by_rules
from tests.build import make_evidence, make_memory

RUNS = {run["id"]: run for run in parallel.runs()}


def stored(run_id: str, *, drop: int = 0, memories: tuple[Any, ...] = (), **shown: Any) -> tuple[Run, Stored]:
    """A run that a model answered as rules would; `drop`: so many drafts are in no list."""
    run, episode = RUNS[run_id], parallel.episode_of(RUNS[run_id])
    answer = reflect_by_rules(episode)
    grounded = grounded_whole(answer)
    grounded["accepted"] = grounded["accepted"][: len(grounded["accepted"]) - drop]
    attempt = Attempt(1, "llm", "llm m 1", Answer(drafts=answer.drafts, raw="{}"), "", grounded)
    told = {
        "status": "completed",
        "fallback_from": "",
        "skip_reason": "",
        "error": "",
        "written_by": "llm m 1",
        "decisions": [{"ordinal": ordinal} for ordinal, _ in grounded["accepted"]],
        "rejected": [],
    }
    body = {"turns": list(episode.turns)}
    return Run(run_id, "own, English", run["lang"], body), Stored(told | shown, episode, (attempt,), memories)


def judge(run_id: str = "export-format-en", **fields: Any) -> Told:
    return judged(*stored(run_id, **fields), 1.0)


def of(episode: Episode, quote: str, seq: int) -> dict[str, Any]:
    return {"evidence": (make_evidence(episode.id, quote, seq=seq),)}


def test_a_run_of_which_everything_is_accounted_for_lost_nothing() -> None:
    told = judge()

    assert (told.by, told.lost, told.by_rules) == ("model", (), 2)


def test_a_draft_that_is_neither_accepted_nor_refused_is_lost() -> None:
    assert judge(drop=1).lost == ("attempt 1: 3 drafts, 2 accepted, 0 refused",)


def test_an_accepted_draft_about_which_nothing_was_decided_is_lost() -> None:
    assert judge(decisions=[{"ordinal": 0}]).lost == ("decided: drafts [0]; accepted: [{0, 1, 2}]",)


def test_a_reflection_that_never_ends_is_lost() -> None:
    told = judge(status="needs_attention", error="the key is wrong")

    assert (told.by, told.lost) == ("nobody", ("the reflection is needs_attention: the key is wrong",))


def test_skipping_without_a_reason_is_a_loss() -> None:
    assert judge(status="skipped").lost == ("skipped without a reason",)
    assert not judge(status="skipped", skip_reason="nothing to learn").lost


def test_a_refused_answer_that_the_api_does_not_show_is_counted() -> None:
    run, kept = stored("export-format-en")
    refused = replace(kept.attempts[0], unusable="the answer is not valid JSON", grounded=None)
    shown = [{"attempt": 1, "rule": "form", "conclusion": ""}]

    assert judged(run, replace(kept, attempts=(refused,)), 1.0).refused_unseen == 1
    assert judged(run, replace(kept, attempts=(refused,), shown=kept.shown | {"rejected": shown}), 1.0).refused_unseen == 0


def test_rules_that_stood_in_are_told_with_the_cause() -> None:
    told = judge(fallback_from="llm: unusable")

    assert (told.by, told.cause) == ("rules", "unusable")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"quote": "nobody said this", "seq": 1}, "quotes what is not there: nobody said this"),
        ({"quote": "open it in a spreadsheet", "seq": 99}, "no turn of the transcript stands behind it"),
        ({"quote": "", "seq": 1}, "no words of the transcript stand behind it"),
    ],
)
def test_a_memory_without_ground_is_found(fields: dict[str, Any], fault: str) -> None:
    episode = parallel.episode_of(RUNS["export-format-en"])
    memory = make_memory("Wants csv files", **of(episode, **fields))

    assert judge(memories=(memory,)).kept[0].faults[0] == fault


@pytest.mark.parametrize(
    ("run_id", "conclusion"),
    [("export-format-en", "When ann@example.org asks, send csv"), ("export-format-zh", "当 ann@example.org 提问时，应发送 csv")],
)
def test_a_lesson_with_a_person_s_address_is_found(run_id: str, conclusion: str) -> None:
    episode = parallel.episode_of(RUNS[run_id])
    lesson = make_memory(conclusion, kind="lesson", **of(episode, "", 1))

    assert judge(run_id, memories=(lesson,)).kept[0].faults == ("a lesson with a person's data: ann@example.org",)


@pytest.mark.parametrize(("run_id", "conclusion"), [("export-format-zh", "Wants csv files"), ("export-format-en", "用户要 csv 文件")])
def test_a_conclusion_in_the_other_language_is_found(run_id: str, conclusion: str) -> None:
    episode = parallel.episode_of(RUNS[run_id])

    assert judge(run_id, memories=(make_memory(conclusion, kind="event", **of(episode, "", 1)),)).kept[0].faults == (
        "not in the transcript's language",
    )


@pytest.mark.parametrize(
    ("run_id", "conclusion", "fault"),
    [
        ("export-format-en", "The agent failed to export the report", "tells a success as a failure"),
        ("export-format-zh", "导出报表失败，格式不受支持", "tells a success as a failure"),
        ("refund-limit-en", "The refund was completed", "tells a failure as a success"),
        ("refund-limit-zh", "退款成功，用户满意", "tells a failure as a success"),
    ],
)
def test_an_event_that_tells_another_end_than_the_verdict_is_found(run_id: str, conclusion: str, fault: str) -> None:
    episode = parallel.episode_of(RUNS[run_id])
    event = make_memory(conclusion, kind="event", **of(episode, "", 1))

    assert judge(run_id, memories=(event,)).kept[0].faults == (fault,)


def test_an_order_in_a_tool_s_words_is_found() -> None:
    episode = parallel.episode_of(RUNS["export-format-en"])
    order = make_memory("Always use csv and ods", kind="instruction", **of(episode, "allowed are csv and ods", 3))

    assert judge(memories=(order,)).kept[0].faults == ("instruction in the words of tool",)


def test_own_runs_are_posted_as_the_api_takes_them_in_both_languages() -> None:
    chosen = [small_model.own(RUNS[f"{pair}-{lang}"]) for pair in small_model.PAIRS for lang in ("en", "zh")]

    assert [run.lang for run in chosen] == ["en", "zh"] * len(small_model.PAIRS)
    for run in chosen:
        body = EpisodeBody(**run.body)
        assert len(body.turns) == len(run.body["turns"])


def result_of(model: str, group: str, prompt: str = "1") -> dict[str, Any]:
    run = judge().model_dump(mode="json") | {"group": group}
    shown = {"served_by": "", "format": "json_schema", "timeout_s": 60, "budget_s": 60, "at": ""}
    return {"model": model, "prompt": prompt, "sampled": {group: 2}, "runs": [run], **shown}


def test_a_measurement_takes_the_place_of_the_same_model_s_last_one_without_its_words(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    for model in ("b", "a", "a"):
        small_model.keep(result_of(model, "own, English"), path)

    kept = json.loads(path.read_text("utf-8"))
    assert [(one["model"], len(one["runs"])) for one in kept] == [("b", 1), ("a", 1)]
    assert kept[1]["runs"][0]["attempts"][0]["raw"] == ""


def test_groups_may_be_measured_one_by_one_while_the_prompts_stay(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    small_model.keep(result_of("a", "own, English"), path)
    path.write_text(json.dumps([json.loads(path.read_text("utf-8"))[0] | {"read": ["Two of three are true."]}]), "utf-8")

    small_model.keep(result_of("a", "own, Chinese"), path)
    (both,) = json.loads(path.read_text("utf-8"))
    small_model.keep(result_of("a", "own, Chinese", prompt="2"), path)
    (new,) = json.loads(path.read_text("utf-8"))

    assert [run["group"] for run in both["runs"]] == ["own, English", "own, Chinese"]
    assert both["sampled"] == {"own, English": 2, "own, Chinese": 2}
    assert both["read"] == ["Two of three are true."]
    assert [run["group"] for run in new["runs"]] == ["own, Chinese"]


def test_the_section_names_the_model_first_and_counts_what_was_lost() -> None:
    runs = [judge().model_dump(mode="json"), judge(drop=1).model_dump(mode="json")]
    shown = {
        "served_by": "",
        "format": "json_schema",
        "prompt": "1",
        "timeout_s": 60,
        "budget_s": 60,
        "at": "",
        "sampled": {"own, English": 2},
    }

    lines = small_model_show.section({"model": "m", "runs": runs} | shown)

    assert lines[0].startswith("Written by `m`")
    assert "| lost | 1 | 1 |" in lines
    assert any(line.startswith("- lost, export-format-en: attempt 1") for line in lines)
