"""`hindwise reflections show` tells what was concluded, what that replaced, and what was refused; a script finds the same in --json."""

import json

import pytest

from tests.shell import fake_api, hindwise

DONE = {"reflection_id": "f", "status": "completed", "reflector": "llm", "written_by": "llm m 2", "decisions": []}

REFUSED = [
    {"attempt": 1, "written_by": "llm m 2", "rule": "quote-occurs", "reason": "逐字抄录", "kind": "lesson", "conclusion": "当…时，应…"},
    {"attempt": 2, "written_by": "llm m 2", "rule": "form", "reason": "the answer is not valid JSON", "kind": "", "conclusion": ""},
    {
        "attempt": 0,
        "written_by": "rules 1",
        "rule": "owner",
        "reason": "no user is named",
        "kind": "fact",
        "conclusion": "[Blue] sky.",
    },
]


def _shown(tmp_path, *arguments):
    script = {("GET", "/v1/reflections/f"): (200, {**DONE, "memories": [], "rejected": REFUSED})}
    with fake_api(script) as api:
        return hindwise("reflections", "show", "f", "--url", api.url, *arguments, cwd=tmp_path)


def test_what_was_refused_is_shown_with_attempt_reason_and_conclusion(tmp_path):
    told = _shown(tmp_path)
    lines = [line.strip() for line in told.stdout.splitlines()]
    assert "refused (quote-occurs, attempt 1): 逐字抄录" in lines and "[lesson] 当…时，应…" in lines
    assert "refused (form, attempt 2): the answer is not valid JSON" in lines
    assert "refused (owner): no user is named" in lines and "[fact] [Blue] sky." in lines
    assert any("3 refused (form, owner, quote-occurs)" in line for line in lines)


def test_a_script_gets_it_as_the_api_tells_it(tmp_path):
    assert json.loads(_shown(tmp_path, "--json").stdout)["rejected"] == REFUSED


def decided(ordinal, action, reason, memory="", *touched):
    return {"ordinal": ordinal, "action": action, "memory_id": memory, "touched": list(touched), "reason": reason}


KEPT = {
    "m1": ("lesson", "退款前先查询订单。"),
    "m2": ("preference", "Prefers [aisle] seats"),
    "m3": ("preference", "Prefers window seats"),
    "m4": ("fact", "Lives in Lisbon"),
    "m5": ("event", "退款：失败"),
}


def _lines(tmp_path, reflection):
    script = {
        ("GET", f"/v1/memories/{name}"): (200, {"memory_id": name, "kind": kind, "conclusion": text}) for name, (kind, text) in KEPT.items()
    }
    with fake_api({**script, ("GET", "/v1/reflections/f"): (200, {"rejected": [], **DONE, **reflection})}) as api:
        told = hindwise("reflections", "show", "f", "--url", api.url, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    return told.stdout.splitlines()[1:]


def test_each_decision_is_told_with_the_memory_it_was_about_and_what_it_replaced(tmp_path):
    decisions = [
        decided(0, "add", "new", "m1"),
        decided(1, "supersede", "changed: window -> aisle", "m2", "m3"),
        decided(2, "agree", "said again", "m4", "m4"),
        decided(3, "rejected", "a person rejected the same"),
        decided(4, "retract", "taken back by the user", "", "m3"),
        decided(5, "add", "in quarantine: stands on a page alone", "m5"),
    ]
    assert _lines(tmp_path, {"memories": ["m1", "m2", "m5"], "decisions": decisions}) == [
        "  kept: [lesson] 退款前先查询订单。",
        "  kept in place of what was known: [preference] Prefers [aisle] seats (changed: window -> aisle)",
        "    before: [preference] Prefers window seats",
        "  known already: [fact] Lives in Lisbon (said again)",
        "  refused (a person rejected the same)",
        "  taken back: [preference] Prefers window seats (taken back by the user)",
        "  kept: [event] 退款：失败 (in quarantine: stands on a page alone)",
    ]


def test_a_memory_that_no_decision_names_is_shown_too(tmp_path):
    assert _lines(tmp_path, {"memories": ["m1"], "decisions": []}) == ["  [lesson] 退款前先查询订单。"]


@pytest.mark.parametrize(
    ("status", "way"), [("failed", "nothing kept"), ("skipped", "nothing kept"), ("needs_attention", "hindwise reflections retry f")]
)
def test_why_one_did_not_come_to_its_end_is_said_once(tmp_path, status, way):
    why = "what it looks back over is gone" if status != "skipped" else ""
    shown = {"memories": [], "status": status, "error": why, "skip_reason": "" if why else "nothing worth keeping"}
    lines = _lines(tmp_path, shown)
    assert sum((why or "nothing worth keeping") in line for line in lines) == 1
    assert sum(way in line for line in lines) == 1
