"""Ids that nobody could read, that break a line, or whose path would be another's are refused at the door."""

import pytest

from tests.api.front import Front, turns_body
from tests.api.test_problems import assert_problem

UNFIT = ["\u200b", "\u200d\u200c\ufeff", "\u2060 \u00ad", "a\x85b", "张\x9b", "a\u2028b", "张\u2029"]


@pytest.mark.parametrize("unfit", UNFIT, ids=ascii)
@pytest.mark.parametrize("name", ["user_id", "agent_id"])
async def test_an_owner_that_cannot_be_read_is_refused(front: Front, name: str, unfit: str) -> None:
    assert_problem(await front.post("/v1/memories", {name: unfit, "content": "Prefers tea"}), 422, name)
    assert_problem(await front.post("/v1/recall", {name: unfit, "query": "tea"}), 422, name)


@pytest.mark.parametrize("unfit", UNFIT, ids=ascii)
async def test_a_session_that_cannot_be_read_is_refused(front: Front, unfit: str) -> None:
    answer = await front.http.post("/v1/sessions/" + "".join(f"%{byte:02X}" for byte in unfit.encode()) + "/turns", json=turns_body())
    assert_problem(answer, 422, "id")


@pytest.mark.parametrize("fit", ["ann", "张三", "می\u200cخواهم", "👩\u200d👧", "-", "a b", "ann@example.org"])
async def test_a_name_of_any_script_stays_one(front: Front, fit: str) -> None:
    assert (await front.post("/v1/memories", {"user_id": fit, "content": "Prefers tea"})).status_code == 201


@pytest.mark.parametrize("session", ["chat%2Fcontext", "chat/context", "会话%2F1%2Fcontext"])
async def test_a_session_that_would_be_read_as_the_context_of_another_is_refused(front: Front, session: str) -> None:
    answer = await front.http.post(f"/v1/sessions/{session}/turns", json=turns_body())
    assert_problem(answer, 422, "/context", "another session")


@pytest.mark.parametrize("session", ["chat%2Fturns", "chat%2Fcomplete", "chat%2Fcheckpoint", "context", "chat%2Fcontexts"])
async def test_other_endings_name_the_session_that_was_meant(front: Front, session: str) -> None:
    answer = await front.http.post(f"/v1/sessions/{session}/turns", json=turns_body())
    assert answer.status_code == 200
    assert (await front.http.get(f"/v1/sessions/{session}")).json()["session_id"] == session.replace("%2F", "/")
    assert (await front.http.get(f"/v1/sessions/{session}/context")).status_code == 200


@pytest.mark.parametrize("unfit", UNFIT, ids=ascii)
async def test_who_was_kept_under_such_an_id_before_can_be_erased(front: Front, unfit: str) -> None:
    assert (await front.post("/v1/erasures", {"user_id": unfit})).status_code == 202
    for never in ("~anonymous:dify", "a\x00b", " "):
        assert (await front.post("/v1/erasures", {"user_id": never})).status_code == 422
