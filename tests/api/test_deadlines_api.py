"""A deadline that is moved closes the one before; those of two things stay side by side. English and Chinese."""

import pytest

from tests.api.front import Front

SAID = {
    "en": ("The report is due Friday.", "The report is due Monday now.", "The tax return is due Friday."),
    "zh": ("报告周五交。", "报告改到周一交。", "月报周五交。"),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_moved_deadline_closes_the_one_before_and_no_other(front: Front, lang: str) -> None:
    before, moved, other = SAID[lang]
    for said in (before, other, moved):
        assert (await front.post("/v1/memories", {"user_id": "ann", "content": said})).status_code < 300
    told = (await front.http.get("/v1/memories", params={"user_id": "ann"})).json()["items"]
    assert {item["conclusion"] for item in told if item["status"] == "active"} == {moved, other}
