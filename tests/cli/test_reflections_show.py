"""`hindwise reflections show` tells what was refused at each attempt; a shell script finds the same in --json."""

import json

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
