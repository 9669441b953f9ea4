"""Whatever door words come through, secrets, telephone numbers and (by setting) e-mail addresses are gone before a file holds them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.front import Front, open_front

PHONES = ("13812345678", "+49 170 1234567", "010-62345678")
MAIL = "mia.li@shop.example"
SECRET = "swordfishes"
SAID = {
    "en": f"My password is {SECRET}, my phone is {PHONES[0]}, abroad {PHONES[1]}, at work {PHONES[2]}, mail {MAIL}.",
    "zh": f"我的密码是{SECRET}，手机号{PHONES[0]}，国外{PHONES[1]}，座机{PHONES[2]}，邮箱{MAIL}。",
}


def told_by(said: str) -> dict[str, Any]:
    """What JSON holds of it, each under its name and as a number too."""
    return {"phone": PHONES[0], "mobile": int(PHONES[0]), "note": said, "login": {"password": {"value": SECRET}}, "mail": MAIL, "id": 7}


async def through_all_doors(front: Front, said: str) -> None:
    """Say it wherever a caller can say anything."""
    outcome = {"status": "failure", "source": "user", "note": said, "artifacts": [said]}
    call = {"id": "c1", "type": "function", "function": {"name": "save", "arguments": json.dumps(told_by(said))}}
    flat = {"name": "save", "arguments": told_by(said)}
    turns = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": None, "tool_calls": [call, flat]},
        {"role": "tool", "name": "save", "tool_call_id": "c1", "content": json.dumps(told_by(said))},
        {"role": "tool", "name": "save", "content": json.dumps({"result": json.dumps(told_by(said))})},
        {"role": "assistant", "content": [{"type": "text", "text": said}]},
    ]
    answers = [
        await front.post("/v1/sessions/s1/turns", {"user_id": "ann", "agent_id": "desk", "turns": turns}),
        await front.post("/v1/sessions/s1/checkpoint", {"done": said, "next": said, "notes": said}),
        await front.post("/v1/sessions/s1/complete", {"goal": said, "outcome": outcome}),
        await front.post("/v1/episodes", {"user_id": "ann", "run_id": "r1", "goal": said, "turns": turns, "outcome": outcome}),
        await front.post("/v1/episodes/outcome?run_id=r1", {**outcome, "source": "env"}),
        await front.post("/v1/memories", {"user_id": "ann", "content": said, "scope": said, "value": said, "kind": "fact"}),
        await front.post("/memory", {"user_id": "bob", "content": said}),
        await front.post("/v1/recall", {"user_id": "ann", "query": said}),
        await front.http.get("/v1/recall", params={"user_id": "ann", "q": said}),
        await front.http.get("/memory/search", params={"user_id": "bob", "q": said}),
    ]
    memory, recall = answers[5].json()["id"], answers[7].json()["recall_id"]
    retrospective = {"what_happened": said, "next_time": said}
    run = {
        "event": "workflow.finished",
        "run": {"workflow_run_id": "d1", "app_id": "desk", "user_id": "cy"},
        "status": "failed",
        "error": said,
        "task": {"goal": said, "inputs": told_by(said)},
        "outputs": {"one": said, "two": told_by(said)},
        "steps": [{"title": said, "type": "tool", "output": told_by(said), "error": said}],
    }
    await front.settled()
    answers += [
        await front.post(f"/v1/recalls/{recall}/feedback", {"verdict": "helpful", "note": said}),
        await front.post(f"/v1/memories/{memory}/confirm", {"reason": said}),
        await front.http.patch(f"/v1/memories/{memory}", json={"conclusion": said[:160], "retrospective": retrospective, "reason": said}),
        await front.post("/v1/hooks/dify", run),
        await front.http.post("/v1/hooks/dify", data={"status": "failed", "error": said, "inputs": json.dumps(told_by(said)), "id": "d2"}),
    ]
    for answer in answers:
        assert answer.status_code < 300, answer.text
    await front.settled()


def held(data: Path, words: str) -> bool:
    """Whether any file of the installation holds them."""
    forms = {words.encode(), json.dumps(words)[1:-1].encode()}
    return any(form in path.read_bytes() for path in data.rglob("*") if path.is_file() for form in forms)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("phones", "emails"), [(True, False), (True, True), (False, False)])
async def test_every_door_masks_what_the_settings_name(tmp_path: Path, lang: str, phones: bool, emails: bool) -> None:
    async with open_front(tmp_path, mask_phones=phones, mask_emails=emails) as front:
        await through_all_doors(front, SAID[lang])
    assert not held(tmp_path, SECRET)
    assert [held(tmp_path, number) for number in PHONES] == [not phones] * 3
    assert held(tmp_path, MAIL) is not emails


async def test_telephone_numbers_are_masked_and_addresses_kept_unless_said_otherwise(front: Front) -> None:
    assert front.engine.settings.contacts() == (True, False)
