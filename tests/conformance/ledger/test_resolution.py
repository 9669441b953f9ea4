"""Drafts become memories in one transaction: one head per slot, history complete, nothing twice."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from hindwise.errors import NotFound, SpaceErased
from hindwise.ledger import attempts, intake, memories, memory_erasure, outbox, recalls, reflections
from hindwise.ledger.attempts import Attempt
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.ledger.schema import memories as rows
from hindwise.ledger.schema import spaces as space_rows
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.memory import Status, Words
from hindwise.model.reflection import Answer, Complaint, Rejected, Usage
from tests.build import NOON, TENANT, make_draft, make_episode, make_evidence
from tests.looking import links_of

DAY = timedelta(days=1)


def resolve(reflection_id, *drafts, day=0, space="user:u1", **options):
    run_options = {key: options.pop(key) for key in ("replaces", "replaces_why") if key in options}

    def work(conn):
        resolution = Resolution(
            conn,
            TENANT,
            reflection_id,
            actor=f"reflection {reflection_id}",
            now=NOON + day * DAY,
            rules=AgingRules(),
            min_confidence=0.4,
            default_valid_from=NOON + day * DAY,
            **options,
        )
        return resolution.run([Placement(n, draft, space) for n, draft in enumerate(drafts)], **run_options)

    return work


async def slot(ledger, status=None):
    def work(conn):
        found = [memories.from_row(row) for row in memories.page(conn, TENANT, ["user:u1"], limit=100)]
        return sorted((m for m in found if status is None or m.status == status), key=lambda m: m.version)

    return await ledger.read(work)


async def test_a_changed_mind_closes_the_older_with_reason_link_and_history(ledger):
    (old,) = await ledger.write(resolve("r1", make_draft("concise answers", attribute="answer style")))
    (new,) = await ledger.write(resolve("r2", make_draft("detailed answers", attribute="answer style"), day=3))
    older, newer = await slot(ledger)
    assert (older.id, older.status, older.head, older.superseded_by) == (old.memory_id, "superseded", False, new.memory_id)
    assert older.valid_to == newer.valid_from == NOON + 3 * DAY
    assert "concise answers -> detailed answers" in older.close_reason
    assert (newer.status, newer.head, newer.version) == ("active", True, 2)
    (link,) = await ledger.read(lambda conn: links_of(conn, new.memory_id))
    assert (link.from_id, link.to_id, link.kind) == (new.memory_id, old.memory_id, "supersedes")
    events = await ledger.read(lambda conn: memories.history(conn, old.memory_id))
    assert [event.action for event in events] == ["recorded", "superseded"]
    assert (events[1].before["status"], events[1].after["status"]) == ("active", "superseded")


async def test_the_same_wish_in_the_other_language_adds_evidence_and_keeps_the_words_of_the_first(ledger):
    english = make_draft("Prefers window seats", attribute="seat", value="window", evidence=(make_evidence("e1"),))
    chinese = make_draft("喜欢靠窗的座位", attribute="seat", value="靠窗", language="zh", evidence=(make_evidence("e2"),))
    await ledger.write(resolve("r1", english))
    (decision,) = await ledger.write(resolve("r2", chinese, day=1))
    (kept,) = await slot(ledger)
    assert (decision.action, kept.conclusion, kept.language, kept.evidence_count) == ("agree", "Prefers window seats", "en", 2)
    (changed,) = await ledger.write(resolve("r3", make_draft("靠过道", attribute="seat", value="靠过道", language="zh"), day=2))
    assert changed.action == "supersede"


async def test_a_late_older_fact_is_kept_as_history_only(ledger):
    await ledger.write(resolve("r1", make_draft("Berlin", kind="fact", attribute="city"), day=10))
    late = make_draft("Bonn", kind="fact", attribute="city", valid_from=NOON)
    (decision,) = await ledger.write(resolve("r2", late, day=11))
    assert decision.action == "late"
    head = [m for m in await slot(ledger) if m.head]
    assert [m.value for m in head] == ["Berlin"]
    (history,) = await slot(ledger, "superseded")
    assert (history.value, history.valid_from, history.valid_to) == ("Bonn", NOON, NOON + 10 * DAY)


async def test_another_task_that_says_the_same_is_evidence_and_the_same_task_is_not(ledger):
    draft = make_draft("window", evidence=(make_evidence("e1", "window please"),))
    (first,) = await ledger.write(resolve("r1", draft))
    await ledger.write(resolve("r2", draft, day=1))
    assert [m.evidence_count for m in await slot(ledger)] == [1]
    await ledger.write(resolve("r3", make_draft("window", evidence=(make_evidence("e2", "window again"),)), day=2))
    (memory,) = await slot(ledger)
    assert (memory.id, memory.evidence_count) == (first.memory_id, 2)
    quotes = await ledger.read(lambda conn: memories.evidence_of(conn, [memory.id]))
    assert [item.quote for item in quotes[memory.id]] == ["window please", "window again"]


async def test_resolving_the_same_reflection_again_changes_nothing(ledger):
    drafts = (make_draft("window"), make_draft("When X, do Y", kind="lesson", applies_when="X"))
    await ledger.write(resolve("r1", *drafts))
    before = await slot(ledger)
    await ledger.write(resolve("r1", *drafts, day=5))
    assert await slot(ledger) == before


async def test_two_resolve_one_slot_at_once_and_one_head_stands(ledger):
    values = [f"seat {n}" for n in range(40)]
    said = [make_draft(value, valid_from=NOON + n * DAY) for n, value in enumerate(values)]
    await asyncio.gather(*(ledger.write(resolve(f"r{n}", draft, day=40)) for n, draft in enumerate(said)))
    found = await slot(ledger)
    assert sum(m.head for m in found) == 1
    assert next(m.value for m in found if m.head) == "seat 39"
    assert len(found) == 40


async def test_a_corrected_outcome_takes_back_what_the_old_one_taught(ledger):
    taught = (make_draft("When asked, refund at once", kind="lesson", applies_when="asked"), make_draft("window"))
    await ledger.write(resolve("r1", *taught))
    new = (make_draft("When asked, check the order first", kind="lesson", applies_when="asked"), make_draft("window"))
    await ledger.write(resolve("r2", *new, day=2, replaces=["r1"], replaces_why="the outcome was corrected: success -> failure"))
    live = {m.conclusion for m in await slot(ledger, "active")}
    assert live == {"When asked, check the order first", "window"}
    (old,) = await slot(ledger, "superseded")
    assert (old.conclusion, old.close_reason) == ("When asked, refund at once", "the outcome was corrected: success -> failure")


async def test_what_a_replaced_reflection_had_closed_comes_back(ledger):
    await ledger.write(resolve("r0", make_draft("window")))
    await ledger.write(resolve("r1", make_draft("aisle"), day=1))
    await ledger.write(resolve("r2", day=2, replaces=["r1"], replaces_why="the outcome was corrected"))
    head = [m for m in await slot(ledger) if m.head]
    assert [(m.value, m.status, m.valid_to) for m in head] == [("window", "active", None)]


async def test_a_confirmation_by_a_replaced_reflection_is_withdrawn(ledger):
    await ledger.write(resolve("r0", make_draft("window", evidence=(make_evidence("e0"),))))
    await ledger.write(resolve("r1", make_draft("window", evidence=(make_evidence("e1"),)), day=1))
    assert [m.evidence_count for m in await slot(ledger)] == [2]
    await ledger.write(resolve("r2", day=2, replaces=["r1"], replaces_why="corrected"))
    assert [m.evidence_count for m in await slot(ledger)] == [1]


async def test_what_another_task_says_too_survives_the_correction(ledger):
    await ledger.write(resolve("r1", make_draft("window", evidence=(make_evidence("e1"),))))
    await ledger.write(resolve("r2", make_draft("window", evidence=(make_evidence("e2"),)), day=1))
    await ledger.write(resolve("r3", day=2, replaces=["r1"], replaces_why="corrected"))
    (memory,) = await slot(ledger)
    assert (memory.status, memory.evidence_count) == ("active", 1)
    quotes = await ledger.read(lambda conn: memories.evidence_of(conn, [memory.id]))
    assert [item.episode_id for item in quotes[memory.id]] == ["e2"]


async def test_what_was_said_again_by_hand_holds_longer_and_is_no_evidence(ledger):
    await ledger.write(resolve("w1", make_draft("window")))
    await ledger.write(resolve("w2", make_draft("window"), day=9))
    (again,) = await slot(ledger)
    assert (again.said_at, again.evidence_count, again.confidence) == (NOON + 9 * DAY, 1, 0.7)
    assert again.expires_at == NOON + (9 + AgingRules().expire_semantic) * DAY
    await ledger.write(resolve("r3", make_draft("aisle", valid_from=NOON + 5 * DAY), day=10))
    assert [m.value for m in await slot(ledger) if m.head] == ["window"]


async def test_low_confidence_waits_for_a_person(ledger):
    await ledger.write(resolve("r1", make_draft("window", confidence=0.2)))
    assert [m.status for m in await slot(ledger)] == [Status.PENDING]


async def test_what_nobody_is_sure_of_waits_beside_what_is_known_and_closes_nothing(ledger):
    await ledger.write(resolve("r1", make_draft("window")))
    (unsure,) = await ledger.write(resolve("r2", make_draft("aisle", confidence=0.2), day=1))
    await ledger.write(resolve("r3", make_draft("aisle", confidence=0.2, evidence=(make_evidence("e3", "aisle"),)), day=2))
    await ledger.write(resolve("r4", make_draft("never", retracts=True, value="", confidence=0.2), day=3))
    assert [(m.value, m.status, m.head) for m in await slot(ledger)] == [("window", "active", True), ("aisle", "pending", False)]
    assert (unsure.action, unsure.memory_id) == ("add", (await slot(ledger, "pending"))[0].id)
    await ledger.write(resolve("r5", make_draft("aisle"), day=4))
    assert [(m.value, m.status) for m in await slot(ledger) if m.head] == [("aisle", "active")]


async def test_an_erased_space_takes_nothing_that_was_in_flight(ledger, space_no):
    await ledger.write(lambda conn: conn.execute(update(space_rows).where(space_rows.c.no == space_no).values(epoch=1)))
    with pytest.raises(SpaceErased):
        await ledger.write(resolve("r1", make_draft("window"), epochs={"user:u1": 0}))
    assert await slot(ledger) == []


async def test_each_change_marks_the_memory_dirty_and_a_later_change_is_not_lost(ledger):
    (decision,) = await ledger.write(resolve("r1", make_draft("window")))
    lease = await ledger.write(lambda conn: outbox.lease_space(conn, "me", NOON, 30))
    taken = await ledger.read(lambda conn: outbox.dirty(conn, lease.space_no, 10))
    assert [memory_id for memory_id, _ in taken] == [decision.memory_id]
    await ledger.write(resolve("r2", make_draft("aisle"), day=1))
    await ledger.write(lambda conn: outbox.done(conn, lease.space_no, taken))
    left = {memory_id for memory_id, _ in await ledger.read(lambda conn: outbox.dirty(conn, lease.space_no, 10))}
    assert decision.memory_id in left


async def test_an_erased_memory_leaves_no_word_in_the_ledger(ledger, tmp_path):
    (decision,) = await ledger.write(resolve("r1", make_draft("canary-7391", evidence=(make_evidence("e1", "canary-7391 said"),))))
    await ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, decision.memory_id, NOON))
    with pytest.raises(NotFound):
        await ledger.read(lambda conn: memories.load(conn, TENANT, decision.memory_id))
    assert await ledger.read(lambda conn: conn.execute(select(func.count()).select_from(rows)).scalar_one()) == 0
    await ledger.close()
    for path in tmp_path.iterdir():
        assert b"canary-7391" not in path.read_bytes(), path.name


@pytest.mark.parametrize("neighbour", ["replaced", "replacing", "late", "confirmed"])
async def test_an_erased_memory_leaves_no_word_in_the_history_of_its_neighbours(ledger, tmp_path, neighbour):
    secret, other = make_draft("canary-7391"), make_draft("aisle")
    first, second, days = {
        "replaced": (other, secret, (0, 1)),
        "replacing": (secret, other, (0, 1)),
        "late": (secret, other, (1, 0)),
        "confirmed": (secret, secret.model_copy(update={"evidence": (make_evidence("e2", "canary-7391 again"),)}), (0, 1)),
    }[neighbour]
    found = []
    for number, (draft, day) in enumerate(zip((first, second), days, strict=True)):
        reflection_id = await reflected(ledger, f"run-{number}", draft)
        found += await ledger.write(recorded(reflection_id, draft, day))
    [erased] = [m.id for m in await slot(ledger) if m.value == "canary-7391"]
    assert any("canary-7391" in decision.reason for decision in found) or neighbour == "confirmed"
    await ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, erased, NOON))
    await ledger.close()
    for path in tmp_path.iterdir():
        assert b"canary-7391" not in path.read_bytes(), path.name


async def reflected(ledger, run_id, draft):
    """A queued reflection with the draft in its stored answer, once accepted and once refused before."""

    def work(conn):
        accepted = intake.accept_run(conn, make_episode(run_id), ReflectorId("rules", "", "1"), recall_ids=(), now=NOON, keep_first=False)
        answer = Answer(drafts=(draft,), raw=draft.conclusion)
        refused = [Rejected(draft=draft, rule="quote-occurs", reason="no")]
        complaint = [Complaint(rule="quote-occurs", text=f"{draft.conclusion} does not occur", ordinal=0)]
        for attempt, kept, rejected in ((1, [], refused), (2, [(0, draft)], [])):
            attempts.store(conn, accepted.reflection_id, Attempt(attempt, "llm", "llm m 1", answer, "", None), NOON)
            attempts.store_grounded(
                conn, accepted.reflection_id, attempt, accepted=kept, rejected=rejected, complaints=complaint if rejected else []
            )
        return accepted.reflection_id

    return await ledger.write(work)


def recorded(reflection_id, draft, day):
    """Resolve the draft and keep the decisions, as the activity does."""

    def work(conn):
        decisions = resolve(reflection_id, draft, day=day)(conn)
        refused = [Rejected(draft=draft, rule="gate", reason="no")]
        reflections.set_result(
            conn, reflection_id, written_by="llm m 1", fallback_from="", usage=Usage(), decisions=decisions, rejected=refused, due={}
        )
        return decisions

    return work


async def test_a_shared_lesson_is_erased_with_the_fuller_draft_that_it_was_made_of(ledger, tmp_path):
    drafted = make_draft("canary-7391: ask for the number first", kind="lesson", applies_when="a refund is asked for")
    kept = drafted.model_copy(update={"conclusion": "ask for the number first"})
    reflection_id = await reflected(ledger, "run-1", drafted)
    (decision,) = await ledger.write(recorded(reflection_id, kept, 0))
    await ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, decision.memory_id, NOON))
    assert [attempt.answer.drafts for attempt in await ledger.read(lambda conn: attempts.all_of(conn, reflection_id))] == [(), ()]
    await ledger.close()
    for path in tmp_path.iterdir():
        assert b"canary-7391" not in path.read_bytes(), path.name


async def test_what_was_noted_about_an_erased_memory_goes_with_it(ledger, tmp_path):
    (decision,) = await ledger.write(resolve("r1", make_draft("window")))
    await ledger.write(
        lambda conn: recalls.feedback(conn, TENANT, "recall-1", [decision.memory_id], "harmful", "canary-7391 is not true", NOON)
    )
    await ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, decision.memory_id, NOON))
    await ledger.close()
    for path in tmp_path.iterdir():
        assert b"canary-7391" not in path.read_bytes(), path.name


async def test_a_memory_comes_back_with_every_field(ledger):
    draft = make_draft(
        "当接口限流时,应等待后重试",
        kind="lesson",
        applies_when="限流",
        not_when="已成功",
        topics=("重试",),
        tools=("call",),
        language="zh",
        importance=8,
        task_type="api",
        generalized_query="调用接口",
        evidence=(make_evidence("e1", "429", seq=3, turn_id="t3"),),
    )
    (decision,) = await ledger.write(resolve("r1", draft))
    memory, _ = await ledger.read(lambda conn: memories.load(conn, TENANT, decision.memory_id))
    for name in {*Words.model_fields, "confidence"}:
        assert getattr(memory, name) == getattr(draft, name), name
