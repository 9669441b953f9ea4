"""The demo's words exist in both languages, its doors take whole runs, and its figures are counted right."""

import io
import string
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from hindwise.cli import demo_words
from hindwise.cli.demo import opened
from hindwise.cli.demo_data import (
    AGENT,
    DOORS,
    Run,
    dify_envelope,
    episode_body,
    folder,
    load_dify_failure,
    load_openings,
    load_own_run,
    load_runs,
    turn_batches,
)
from hindwise.cli.demo_figures import Asked, count, names_decisive_call, same_task
from hindwise.cli.demo_minds import _became
from hindwise.cli.demo_stage import Stage, fold, rows_of
from hindwise.cli.running import Running

RUNS = load_runs(folder())


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", sorted(demo_words.TEXTS))
def test_a_text_exists_in_both_languages_with_the_same_values(key: str) -> None:
    english, chinese = demo_words.TEXTS[key]
    assert english.strip()
    assert chinese.strip()
    assert fields(english) == fields(chinese)
    assert not any("\u4e00" <= c <= "\u9fff" for c in english)


def test_no_figure_is_written_by_hand() -> None:
    for key, texts in demo_words.TEXTS.items():
        for text in texts:
            bare = "".join(literal for literal, *_ in string.Formatter().parse(text))
            digits = {c for c in bare.replace("kill -9", "") if c.isdigit()}
            assert not digits, key


def test_the_language_is_what_was_asked_else_the_demos_own_variable_else_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.delenv("DEMO_LANG", raising=False)
    assert demo_words.language() == "zh"
    monkeypatch.setenv("DEMO_LANG", "en")
    assert demo_words.language() == "en"
    assert demo_words.language("zh") == "zh"


def test_every_door_gets_a_third_of_the_runs_and_both_ways_of_telling() -> None:
    for door in DOORS:
        through = [run for run in RUNS if run.door == door]
        assert len(through) == len(RUNS) / len(DOORS)
        assert {run.told for run in through} == {True, False}


def test_a_live_session_sends_every_turn_once_in_order() -> None:
    run = RUNS[0]
    batches = list(turn_batches(run))
    assert len(batches) > 1
    turns = [turn for batch in batches for turn in batch]
    assert [{k: v for k, v in turn.items() if k != "turn_id"} for turn in turns] == list(run.messages)
    assert len({turn["turn_id"] for turn in turns}) == len(turns)


def test_the_verdict_goes_along_for_half_of_the_runs_and_the_reward_for_all() -> None:
    for run in RUNS:
        outcome = episode_body(run)["outcome"]
        assert outcome["source"] == "env"
        assert outcome["score"] == run.reward
        assert outcome["note"] == (run.verdict if run.told else "")
    assert 0.4 < sum(run.told for run in RUNS) / len(RUNS) < 0.6


def test_a_dify_envelope_reports_the_run_with_its_steps_and_the_environments_word() -> None:
    run = next(
        run for run in RUNS if run.failed and any(str(m["content"]).startswith("Error") for m in run.messages if m["role"] == "tool")
    )
    body = dify_envelope(run)
    assert body["run"]["workflow_run_id"] == run.run_id
    assert body["run"]["app_id"] == AGENT
    assert body["status"] == "failed"
    assert body["outcome"]["source"] == "env"
    assert len(body["steps"]) == sum(message["role"] == "tool" for message in run.messages)
    assert any("error" in step for step in body["steps"])


def test_a_chinese_audience_gets_a_run_in_its_language_and_an_english_one_has_the_recordings() -> None:
    own = load_own_run(folder(), "zh")
    assert own is not None
    assert own["outcome"]["status"] == "failure"
    assert "\u4e00" <= own["goal"][0] <= "\u9fff"
    assert own["user_id"] not in {run.user_id for run in RUNS}
    assert own["agent_id"] != AGENT
    assert load_own_run(folder(), "en") is None


@dataclass
class Played:
    """A server that answers at once."""

    data: Path = Path("/nowhere")
    keep: bool = False
    starts: bool = True
    keep_with: str = ""
    started: int = 0

    def start(self) -> None:
        self.started += 1

    def look(self) -> Running:
        return Running("http://here", "k", "", "", 0, None, None, None)

    def wait_ready(self) -> Running:
        return self.look()

    def kill_worker(self) -> int:
        return 0


def test_only_a_demo_that_starts_something_says_so() -> None:
    told = {}
    for starts in (True, False):
        out, server = io.StringIO(), Played(starts=starts)
        assert opened(Stage(Console(file=out, width=200), "en"), server, 0.0).api_url == "http://here"
        told[starts] = (server.started, out.getvalue())
    assert told[True][0] == 1
    assert "Starting Temporal" in told[True][1]
    assert told[False] == (0, "Played on what runs already: http://here\n")


def test_the_openings_of_second_attempts_cover_every_task() -> None:
    assert set(load_openings(folder())) == {run.task_id for run in RUNS}
    assert load_dify_failure(folder())["status"] == "failed"


# --- figures --------------------------------------------------------------------------------------------------------------------------


def episode(run_id: str, episode_id: str, *, session: bool = False) -> dict[str, str]:
    return {"run_id": "" if session else run_id, "session_id": run_id if session else "", "episode_id": episode_id}


def reflection(episode_id: str, status: str = "completed") -> dict[str, str]:
    return {"episode_id": episode_id, "status": status}


def memory(conclusion: str, reflection_id: str = "r", status: str = "active") -> dict[str, str]:
    return {
        "reflection_id": reflection_id,
        "space": "agent:a",
        "kind": "lesson",
        "conclusion": conclusion,
        "applies_when": "",
        "status": status,
    }


def test_one_episode_and_one_finished_reflection_for_each_run_count_as_done() -> None:
    counted = count(["a", "b"], [episode("a", "1"), episode("b", "2", session=True)], [reflection("1"), reflection("2", "skipped")], [])
    assert (counted.done, counted.doubled, counted.episodes) == (2, 0, 2)


def test_a_lost_run_and_an_unfinished_reflection_are_not_done() -> None:
    counted = count(["a", "b"], [episode("a", "1")], [reflection("1", "running")], [])
    assert (counted.done, counted.doubled) == (0, 0)


def test_a_second_episode_a_second_reflection_and_a_second_memory_are_doubled() -> None:
    two_episodes = count(["a"], [episode("a", "1"), episode("a", "2")], [reflection("1"), reflection("2")], [])
    two_reflections = count(["a"], [episode("a", "1")], [reflection("1"), reflection("1")], [])
    two_memories = count(["a"], [episode("a", "1")], [reflection("1")], [memory("x"), memory("x"), memory("x", "other")])
    assert (two_episodes.doubled, two_reflections.doubled, two_memories.doubled) == (1, 1, 1)
    assert (two_episodes.done, two_reflections.done, two_memories.done) == (0, 0, 1)


def test_episodes_of_others_and_superseded_memories_are_not_counted() -> None:
    counted = count(
        ["a"], [episode("a", "1"), episode("z", "9")], [reflection("1"), reflection("9")], [memory("x"), memory("x", status="superseded")]
    )
    assert (counted.episodes, counted.doubled, counted.memories) == (1, 0, 1)


def asked(task: int, brief: str = "", *, found_at: int | None = None, decisive: tuple[str, ...] = (), told: bool = True) -> Asked:
    items = [frozenset({"other"})] * 8
    if found_at is not None:
        items[found_at] = frozenset({f"e{task}"})
    return Asked(task, brief, tuple(items), f"e{task}", decisive, told)


def test_only_the_first_five_items_count_for_the_same_task() -> None:
    rate = same_task([asked(1, found_at=4), asked(2, found_at=5)], [frozenset({"e1"}), frozenset({"e2"})])
    assert (rate.hits, rate.asked) == (1, 2)


def test_random_order_is_computed_from_how_many_lessons_there_are() -> None:
    lessons = [frozenset({"e1"})] + [frozenset({"other"})] * 9
    assert same_task([asked(1)], lessons).baseline == pytest.approx(0.5)
    assert same_task([asked(2)], lessons).baseline == 0.0
    assert same_task([asked(1)], [frozenset({"e1"})]).baseline == 1.0


def test_the_halves_are_counted_apart_and_next_to_other_tasks_briefs() -> None:
    told = [asked(1, "call cancel_booking", decisive=("cancel_booking",)), asked(2, "", decisive=("cancel_booking",))]
    bare = [asked(3, "cancel_booking", decisive=("book",), told=False)]
    rate = names_decisive_call([*told, *bare], told=True)
    assert (rate.hits, rate.asked) == (1, 2)
    assert rate.baseline == pytest.approx(3 / 4)
    assert names_decisive_call([*told, *bare], told=False).hits == 0


def test_first_attempts_that_succeeded_have_no_call_to_name() -> None:
    assert names_decisive_call([asked(1, "book")], told=True).asked == 0


def test_runs_are_the_same_at_each_loading() -> None:
    assert load_runs(folder()) == RUNS
    assert isinstance(RUNS[0], Run)


# --- on stage -------------------------------------------------------------------------------------------------------------------------


def test_rows_break_at_spaces_and_chinese_ones_where_they_end() -> None:
    assert fold("the agent calls a tool twice", 12) == ["the agent", "calls a tool", "twice"]
    assert fold("- 以后都给用户选靠窗的座位", 12) == ["- 以后都给用", "户选靠窗的座", "位"]
    assert fold("", 12) == [""]


@pytest.mark.parametrize("text", ["x" * 50, "word " * 30, "简报" * 40, "mixed 文字 and words 混排" * 5])
def test_no_row_is_wider_than_the_screen_and_no_letter_is_lost(text: str) -> None:
    rows = fold(text, 20)
    assert all(cell_len(row) <= 20 for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_without_a_terminal_a_long_brief_is_plain_lines_and_cut() -> None:
    out = io.StringIO()
    stage = Stage(Console(file=out, width=80), "en")
    with stage.bars({"bar_reflections": 3}) as bar:
        bar("bar_reflections", 2)
    stage.quote("brief", "\n".join(["one", "[Lessons]", "x" * 900, "four"]), at_most=3)
    lines = out.getvalue().splitlines()
    assert lines[:2] == ["  reflections: 2/3", "Brief:"]
    assert lines[-1] == "  │ …"
    assert max(map(len, lines)) < 300
    assert "\x1b" not in out.getvalue()


ADVICES = [
    (
        "- Call get_user_details (with the user id) before book_reservation, and " + "confirm each detail " * 9 + "first.",
        " (why: the call (was) missing; seen 2026-11-30)",
    ),
    ("- 先查订单（含退票规则）再退款，" + "并逐项确认每个细节" * 9 + "。", "（缘由：缺少调用；记于11月30日）"),
    ("- Short.", " (why: " + "it was long to tell " * 20 + "; seen 2026-11-30)"),
]


@pytest.mark.parametrize(("advice", "remarks"), ADVICES)
@pytest.mark.parametrize("width", [40, 76, 200])
def test_of_a_long_item_the_remarks_are_cut_and_never_the_advice(advice: str, remarks: str, width: int) -> None:
    rows = rows_of(advice + remarks, width, 2)
    shown = "".join(rows).replace(" ", "")
    assert shown.startswith(advice.replace(" ", ""))
    assert all(cell_len(row) <= width for row in rows)
    if len(rows) < len(fold(advice + remarks, width)):
        assert rows[-1].endswith("…")


def test_a_cut_falls_between_words() -> None:
    words = "remember the reservation number of every passenger " * 5
    for width in range(20, 60):
        last = rows_of(words.strip(), width, 2)[-1].removesuffix(" …").split()
        assert set(last) <= set(words.split())


def test_the_first_lesson_is_shown_whole() -> None:
    out = io.StringIO()
    Stage(Console(file=out, width=80), "en").quote("brief", "next time: " + "x" * 900, whole=True)
    assert "x" * 900 in out.getvalue().replace("\n", "")


def test_a_change_of_mind_is_told_in_the_audiences_language() -> None:
    older = {"close_reason": "changed: 靠窗 -> 靠过道", "closed_at": ""}
    assert _became(Stage(Console(file=io.StringIO()), "zh"), older).startswith("已被取代：靠窗 → 靠过道")
    older = {"close_reason": "changed: window -> aisle", "closed_at": ""}
    assert _became(Stage(Console(file=io.StringIO()), "en"), older).startswith("superseded: changed: window -> aisle")


def test_markup_in_a_brief_is_shown_as_it_is() -> None:
    out = io.StringIO()
    Stage(Console(file=out, width=80), "zh").quote("brief", "[bold]x[/bold] [Lessons]")
    assert "[bold]x[/bold] [Lessons]" in out.getvalue()
