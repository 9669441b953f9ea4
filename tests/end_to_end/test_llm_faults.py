"""A model endpoint that misbehaves, behind the real worker: every reflection ends completed, by the model or marked as fallen back.

One that a person must mend parks, and a signal alone releases it.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Row, select

from hindwise.ledger.schema import drafts, memories, reflections
from tests.fake_llm import INVENTED, FakeLlm
from tests.processes import Roles, until

TIMEOUT_S, BUDGET_S = "1", "5"
_NUMBERS = count(1)
ASK = {
    "en": "Please refund the order that never arrived. I prefer short answers.",
    "zh": "请退款，这个订单一直没有送到。我喜欢简短的回答。",
}


@pytest.fixture(scope="module")
def llm() -> Iterator[FakeLlm]:
    """The endpoint."""
    with FakeLlm() as fake:
        yield fake


@pytest.fixture(scope="module")
def house(llm: FakeLlm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roles]:
    """Everything, with a short patience for the model."""
    wanted = {
        "HINDWISE_REFLECTOR": "llm",
        "LLM_BASE_URL": llm.url,
        "LLM_MODEL": "fake-model",
        "LLM_API_KEY": "sk-test",
        "HINDWISE_LLM_TIMEOUT_S": TIMEOUT_S,
        "HINDWISE_LLM_BUDGET_S": BUDGET_S,
    }
    with Roles(tmp_path_factory.mktemp("faults"), **wanted) as roles:
        assert isinstance(roles, Roles)
        roles.start()
        # The worker imports the model's client at the first question, which on a busy machine takes longer than the patience above.
        until(lambda: _ended(roles, report(roles)).fallback_from == "", "the model's client warm", 90)
        yield roles


@pytest.fixture(autouse=True)
def _well_again(llm: FakeLlm) -> Iterator[None]:
    yield
    llm.control({"script": [], "mode": "ok"})


def report(house: Roles, lang: str = "en") -> str:
    """Report a failed run of its own; the id of its reflection."""
    number = next(_NUMBERS)
    call = {"id": "c1", "type": "function", "function": {"name": "refund_order", "arguments": "{}"}}
    body = {
        "user_id": f"user-{number}",
        "agent_id": f"agent-{number}",
        "run_id": f"run-{number}",
        "turns": [
            {"role": "user", "content": ASK[lang]},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": "refund_order", "tool_call_id": "c1", "content": "Error: the order is not marked as lost"},
            {"role": "assistant", "content": "I could not refund it." if lang == "en" else "我没能退款。"},
        ],
        "outcome": {"status": "failure", "source": "env"},
    }
    with house.http() as http:
        answer = http.post("/v1/episodes", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["reflection_id"])


def row_of(house: Roles, reflection_id: str) -> Row[Any]:
    return house.book.read(lambda conn: conn.execute(select(reflections).where(reflections.c.id == reflection_id)).one())


def _ended(house: Roles, reflection_id: str) -> Row[Any]:
    """Wait until it is final or parked."""
    open_states = {"queued", "running"}
    until(lambda: row_of(house, reflection_id).status not in open_states, "the reflection ended", 60)
    return row_of(house, reflection_id)


def final(house: Roles, reflection_id: str) -> Row[Any]:
    """Wait until it has ended. What follows is true of each: completed, something is kept, and it says by whom."""
    row = _ended(house, reflection_id)
    assert row.status == "completed", (row.status, row.skip_reason, row.error)
    assert row.written_by.startswith("llm fake-model" if not row.fallback_from else "rules")
    assert kept(house, reflection_id), "an empty success"
    assert row.error == ""
    return row


def kept(house: Roles, reflection_id: str) -> list[str]:
    """The conclusions of a reflection, in the ledger."""
    query = select(memories.c.conclusion).where(memories.c.reflection_id == reflection_id)
    return list(house.book.read(lambda conn: conn.execute(query).scalars().all()))


def attempts(house: Roles, reflection_id: str) -> list[Row[Any]]:
    """The stored answers in order."""
    query = select(drafts).where(drafts.c.reflection_id == reflection_id).order_by(drafts.c.attempt)
    return list(house.book.read(lambda conn: conn.execute(query).all()))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_healthy_model_is_asked_once(house: Roles, llm: FakeLlm, lang: str) -> None:
    asked = len(llm.requests)
    row = final(house, report(house, lang))
    assert (row.fallback_from, row.usage["calls"]) == ("", 1)
    assert len(llm.requests) == asked + 1


@pytest.mark.parametrize(
    "script",
    [
        ("rate_limited:1",),
        ("server_error",),
        ("server_error:503", "server_error:502"),
        ("drops",),
        ("hangs",),
        ("half_json",),
        ("broken_body",),
        ("invented_quote",),
        ("bad_item",),
        ("empty",),
        ("html",),
        ("refuses_json_schema",),
        ("nan",),
        ("wrong_types",),
        ("empty_choices",),
        ("other_language",),
        ("wide",),
    ],
    ids=lambda script: "+".join(script),
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_passing_fault_is_waited_out_and_the_model_reflects(house: Roles, llm: FakeLlm, script: tuple[str, ...], lang: str) -> None:
    """After the fault the endpoint answers: the model wrote the conclusions, and no rules stood in."""
    if lang == "zh" and len(script) > 1:
        script = script[:1]
    llm.control({"script": list(script)})
    row = final(house, report(house, lang))
    assert row.fallback_from == ""
    assert INVENTED[lang] not in str(kept(house, row.id))


def refused(house: Roles, reflection_id: str) -> list[tuple[int, str]]:
    """Attempt and rule of all that was refused in a reflection, as the API tells it."""
    with house.http() as http:
        told = http.get(f"/v1/reflections/{reflection_id}").json()
    assert all(item["reason"] and item["written_by"] for item in told["rejected"])
    return [(item["attempt"], item["rule"]) for item in told["rejected"]]


def counted(house: Roles, rule: str) -> float:
    """How often a rule refused, by /metrics."""
    with house.http() as http:
        text = http.get("/metrics").text
    return float(text.split(f'hindwise_drafts_rejected_total{{rule="{rule}"}} ')[1].split()[0])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_first_answer_is_told_once_though_the_worker_is_killed_while_the_second_is_awaited(house: Roles, llm: FakeLlm, lang: str) -> None:
    """kill -9 with one answer judged and the next one asked for: what was refused stands in the ledger, and is counted once."""
    before = counted(house, "quote-occurs")
    llm.control({"script": ["invented_quote", "hangs"]})
    asked = len(llm.requests)
    reflection_id = report(house, lang)
    until(lambda: len(llm.requests) >= asked + 2, "the second question", 30)
    assert refused(house, reflection_id) == [(1, "quote-occurs")], "told before the end as well"
    house.worker.kill()
    house.worker.start()
    row = final(house, reflection_id)
    assert refused(house, reflection_id) == [(1, "quote-occurs")]
    assert counted(house, "quote-occurs") == before + 1
    # Nothing of the first answer stands, and the second was lost with the worker and the whole patience of this house.
    assert row.fallback_from == "llm: unavailable" and INVENTED[lang] not in str(kept(house, reflection_id))


def test_retry_after_is_obeyed(house: Roles, llm: FakeLlm) -> None:
    """The pause is the provider's, not ours: the question comes again no sooner than it said, and is answered.

    Where the second question is not answered within this house's second, on a busy machine, a third one or rules follow: that round
    tells of the pause alone, and another one is begun.
    """
    for _ in range(4):
        llm.control({"script": ["rate_limited:3"]})
        asked = len(llm.requests)
        row = final(house, report(house))
        first, second, *more = llm.came[asked:]
        assert second - first >= 3, "our own pause is of one second"
        if not more and row.fallback_from == "":
            return
    raise AssertionError("never answered at the second question")


@pytest.mark.parametrize(
    ("mode", "cause"),
    [
        ("rate_limited:1", "unavailable"),
        ("rate_limited:600", "unavailable"),
        ("server_error", "unavailable"),
        ("hangs", "unavailable"),
        ("drops", "unavailable"),
        ("half_json", "unusable"),
        ("empty_success", "unusable"),
        ("html", "unusable"),
        ("wrong_types", "unusable"),
        ("other_language", "ungrounded"),
        ("slow:9", "unavailable"),
        ("invented_quote", "ungrounded"),
    ],
)
def test_a_lasting_fault_ends_in_rules_that_say_so(house: Roles, llm: FakeLlm, mode: str, cause: str) -> None:
    """Bounded by the budget; the raw answers stay, and what the model invented is not among the conclusions."""
    llm.control({"mode": mode})
    row = final(house, report(house))
    assert row.fallback_from == f"llm: {cause}"
    assert attempts(house, row.id)[-1].reflector == "rules"
    assert not any(INVENTED["en"] in line for line in kept(house, row.id))
    if cause != "unavailable":
        asked = [attempt.reflector for attempt in attempts(house, row.id)]
        assert asked == ["llm", "llm", "rules"], "a third question would have been the second one again"


@pytest.mark.parametrize(("lang", "wish"), [("en", "concise"), ("zh", "简洁")])
def test_a_model_that_finds_nothing_is_believed_and_what_the_user_stated_is_kept(house: Roles, llm: FakeLlm, lang: str, wish: str) -> None:
    """No fallback: an honest "nothing" is an answer. How it ended and the stated preference stand all the same."""
    llm.control({"mode": "nothing"})
    row = final(house, report(house, lang))
    assert (row.fallback_from, row.rejected) == ("", [])
    assert any(wish in line for line in kept(house, row.id)) and len(kept(house, row.id)) == 2


def parked(house: Roles, reflection_id: str) -> Row[Any]:
    """Wait until it needs a person."""
    until(lambda: row_of(house, reflection_id).status == "needs_attention", "the reflection parked", 60)
    return row_of(house, reflection_id)


@pytest.mark.parametrize("mode", ["unauthorized", "unknown_model", "no_credit"])
def test_a_refusal_parks_and_rules_release_it_by_a_signal_alone(house: Roles, llm: FakeLlm, mode: str) -> None:
    """Nothing is mended: the endpoint still refuses, and is not asked again."""
    llm.control({"mode": mode})
    reflection_id = report(house)
    row = parked(house, reflection_id)
    assert "LLM_" in row.error
    assert "use_rules" in row.error
    assert kept(house, reflection_id) == []
    asked = len(llm.requests)
    with house.http() as http:
        listed = http.get("/v1/reflections", params={"status": "needs_attention"}).json()["items"]
        assert reflection_id in [item["reflection_id"] for item in listed]
        assert http.post(f"/v1/reflections/{reflection_id}/use_rules").status_code == 202
    done = final_after_release(house, reflection_id)
    assert done.fallback_from == "llm: person"
    assert len(llm.requests) == asked


def test_a_refusal_that_was_mended_goes_on_with_the_model_by_a_signal_alone(house: Roles, llm: FakeLlm) -> None:
    """`retry` while it still refuses parks again; `retry` after the endpoint accepts ends with the model's conclusions."""
    llm.control({"mode": "unauthorized"})
    reflection_id = report(house, "zh")
    parked(house, reflection_id)
    asked = len(llm.requests)
    with house.http() as http:
        assert http.post(f"/v1/reflections/{reflection_id}/retry").status_code == 202
        until(lambda: len(llm.requests) > asked, "the model asked again", 30)
        parked(house, reflection_id)
        llm.control({"mode": "ok"})
        assert http.post(f"/v1/reflections/{reflection_id}/retry").status_code == 202
        done = final_after_release(house, reflection_id)
        assert done.fallback_from == ""
        late = http.post(f"/v1/reflections/{reflection_id}/retry")
        assert late.status_code == 409
        assert late.headers["content-type"].startswith("application/problem+json")


def test_a_person_may_give_up(house: Roles, llm: FakeLlm) -> None:
    """`skip`: final, with the reason, and nothing kept; no empty success."""
    llm.control({"mode": "unauthorized"})
    reflection_id = report(house)
    parked(house, reflection_id)
    with house.http() as http:
        assert http.post(f"/v1/reflections/{reflection_id}/skip").status_code == 202
    until(lambda: row_of(house, reflection_id).status == "skipped", "the reflection skipped", 30)
    assert row_of(house, reflection_id).skip_reason == "a person skipped it"
    assert kept(house, reflection_id) == []


def final_after_release(house: Roles, reflection_id: str) -> Row[Any]:
    """The signal is on its way: wait until it is not parked any more, then as `final`."""
    until(lambda: row_of(house, reflection_id).status != "needs_attention", "the reflection released", 30)
    return final(house, reflection_id)
