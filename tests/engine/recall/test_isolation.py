"""Nobody is told another user's memory, or another user's words behind a shared one."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindwise.ledger.schema import episodes
from hindwise.model.memory import Kind
from tests.engine.recall.conftest import opened
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, fact, keep, lesson, quoting

_USERS = ("ana", "ana-2", "Ana", "bo", "用户甲", "用户乙", "user:ana")
_THINGS = ("refund of the blue ticket", "window seat on the night train", "靠窗座位的退款", "蓝色机票的偏好")

_writes = st.lists(
    st.tuples(st.sampled_from(_USERS), st.sampled_from(_THINGS), st.sampled_from([Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=_writes, apply=st.booleans())
async def test_over_many_users_and_two_languages_only_the_own_is_told(tmp_path_factory, writes, apply) -> None:
    async with opened(tmp_path_factory.mktemp("isolation")) as (engine, recaller):
        for number, (user, thing, kind) in enumerate(writes):
            await keep(engine, f"user:{user}", fact(f"{thing} no{number} of {user}", kind=kind, attribute=f"a{number}", value=thing))
        if apply:
            await apply_outbox(engine)
        for user in _USERS:
            for thing in _THINGS:
                answer = await ask(recaller, thing, user=user, limit=50)
                assert {item.space for item in answer.items} <= {f"user:{user}"}
                expected = sum(1 for owner, what, _ in writes if owner == user and what == thing)
                told = sum(1 for item in answer.items if thing in item.conclusion)
                # The precondition of the test: the own ones are found at all (a brief holds at most three that only stand).
                assert told >= min(expected, 1)


async def test_another_tenant_with_the_same_user_sees_nothing(running) -> None:
    engine, recaller = running
    await keep(engine, "user:a", fact("The alarm code is written on the fridge"))
    from hindwise.model.brief import RecallQuery

    answer = await recaller.recall("other", RecallQuery(user_id="a", query="alarm code on the fridge"))
    assert (answer.items, answer.brief) == ((), "")


async def test_a_lesson_shared_by_an_agent_shows_quotes_to_their_user_alone(running) -> None:
    engine, recaller = running
    await engine.ledger.write(lambda conn: conn.execute(episodes.insert().values(_episode("e1", "ana", "s-ana"))))
    draft = lesson("When a refund is refused, offer a voucher", "refunds", "refund a ticket", evidence=quoting("e1", "my voucher is XK88"))
    await keep(engine, "agent:desk", draft)
    [theirs] = (await ask(recaller, "refund a ticket", user="bo", agent="desk")).items
    assert [(e.episode_id, e.session_id, e.turn_id, e.quote) for e in theirs.evidence] == [("e1", "", "", "")]
    [nobodys] = (await ask(recaller, "refund a ticket", agent="desk")).items
    assert [e.quote for e in nobodys.evidence] == [""]
    [own] = (await ask(recaller, "refund a ticket", user="ana", agent="desk")).items
    assert [(e.session_id, e.quote) for e in own.evidence] == [("s-ana", "my voucher is XK88")]


async def test_the_quotes_of_a_task_that_named_no_user_are_shown_to_nobody(running) -> None:
    engine, recaller = running
    await engine.ledger.write(lambda conn: conn.execute(episodes.insert().values(_episode("e1", "", "s-1"))))
    draft = lesson("When a refund is refused, offer a voucher", "refunds", "refund a ticket", evidence=quoting("e1", "my voucher is XK88"))
    await keep(engine, "agent:desk", draft)
    for reader in ({"user": "bo"}, {}):
        [told] = (await ask(recaller, "refund a ticket", agent="desk", **reader)).items
        assert [(e.episode_id, e.session_id, e.quote) for e in told.evidence] == [("e1", "", "")]


def _episode(episode_id: str, user: str, session: str) -> dict[str, object]:
    from datetime import UTC, datetime

    now = datetime(2026, 4, 1, tzinfo=UTC)
    empty = ("agent_id", "run_id", "source", "goal", "session_key", "outcome_status", "task_key", "body_digest", "closed_by")
    return {
        **dict.fromkeys(empty, ""),
        "id": episode_id,
        "tenant_id": TENANT,
        "user_id": user,
        "session_id": session,
        "inputs": {},
        "outcome": {},
        "outcome_history": [],
        "recall_ids": [],
        "first_seq": 1,
        "last_seq": 2,
        "started_at": now,
        "ended_at": now,
        "recorded_at": now,
    }
