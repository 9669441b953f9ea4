"""Whoever deletes a memory finds it nowhere in other words: in no refused draft, no earlier answer, no run before; both languages."""

import asyncio
import threading
import time

import pytest

from hindwise.ledger import attempts, intake, memory_erasure, reflections, refusals, reruns, spaces
from hindwise.ledger.attempts import Attempt
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.memory import Draft
from hindwise.model.reflection import Answer, Complaint, ReflectionStatus, Rejected, Usage
from tests.build import NOON, TENANT, make_draft, make_episode, make_evidence

MODEL = ReflectorId("llm", "m", "3")
SAID = {
    "en": {
        "kept": ("Lives in Bern", "city", "Bern"),
        "reworded": ("The client's home is the Swiss capital canary-5512", "home", "Swiss capital canary-5512"),
        "other": ("Prefers trains", "transport", "train"),
        "nothing": "only that the home is canary-5512",
    },
    "zh": {
        "kept": ("住在苏州", "城市", "苏州"),
        "reworded": ("客户的家在姑苏城里 canary-5512", "住所", "姑苏 canary-5512"),
        "other": ("喜欢坐火车", "交通", "火车"),
        "nothing": "只说了家在 canary-5512",
    },
}


def draft(lang: str, name: str, run: str = "run") -> Draft:
    conclusion, attribute, value = SAID[lang][name]
    # What is refused stands on another turn, or on one that is not there: nothing ties it to the memory but its meaning.
    place = make_evidence(f"e-{run}", f"said {name}", seq={"kept": 1, "reworded": 9, "other": 2}[name])
    return make_draft(conclusion, kind="fact", attribute=attribute, value=value, language=lang, evidence=(place,))


def answered(conn, reflection_id, number, *drafts, accepted=(), rejected=(), nothing=""):
    answer = Answer(drafts=drafts, raw=" ".join(one.conclusion for one in drafts), nothing_because=nothing)
    attempts.store(conn, reflection_id, Attempt(number, "llm", "llm m 3", answer, "", None), NOON)
    attempts.store_grounded(
        conn,
        reflection_id,
        number,
        accepted=list(enumerate(accepted)),
        rejected=[Rejected(draft=one, rule="quote-occurs", reason=f"{one.conclusion} is not said") for one in rejected],
        complaints=[Complaint(rule="quote-occurs", text=one.conclusion, ordinal=0) for one in rejected],
    )


def settled(conn, reflection_id, *drafts, rejected=()):
    resolution = Resolution(conn, TENANT, reflection_id, f"reflection:{reflection_id}", NOON, AgingRules(), 0.4, NOON)
    decisions = resolution.run([Placement(number, one, "user:u1") for number, one in enumerate(drafts)])
    refused = [Rejected(draft=one, rule="owner", reason=one.conclusion) for one in rejected]
    told = {"written_by": "llm m 3", "fallback_from": "", "usage": Usage(), "decisions": decisions, "rejected": refused, "due": {}}
    reflections.set_result(conn, reflection_id, **told)
    reflections.finish(conn, reflection_id, ReflectionStatus.COMPLETED, NOON)
    return decisions


def accept(conn, run_id="run"):
    return intake.accept_run(conn, make_episode(run_id), MODEL, recall_ids=(), now=NOON, keep_first=False)


async def erase(ledger, memory_id):
    await ledger.write(lambda conn: memory_erasure.erase(conn, TENANT, memory_id, NOON))


async def everything_kept(ledger, reflection_id):
    """All that is stored of one reflection, as one text."""

    def read(conn):
        row = reflections.row_of(conn, reflection_id)
        return repr((tuple(row), attempts.all_of(conn, reflection_id), refusals.of_reflection(conn, row)))

    return await ledger.read(read)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_refused_draft_of_an_earlier_answer_goes_and_its_refusal_stays_counted(ledger, lang):
    kept, reworded, other = (draft(lang, name) for name in ("kept", "reworded", "other"))

    def work(conn):
        reflection_id = accept(conn).reflection_id
        answered(conn, reflection_id, 1, reworded, other, accepted=[other], rejected=[reworded])
        answered(conn, reflection_id, 2, other, kept, reworded, accepted=[other, kept], rejected=[reworded])
        return reflection_id, settled(conn, reflection_id, other, kept, rejected=[reworded])

    reflection_id, decisions = await ledger.write(work)
    assert "canary-5512" in await everything_kept(ledger, reflection_id)
    await erase(ledger, decisions[1].memory_id)
    left = await everything_kept(ledger, reflection_id)
    assert "canary-5512" not in left and SAID[lang]["kept"][0] not in left
    assert SAID[lang]["other"][0] in left, "another memory's draft is no word of the erased one"

    told = await ledger.read(lambda conn: refusals.of_reflection(conn, reflections.row_of(conn, reflection_id)))
    assert [(one.attempt, one.rule, one.kind, one.conclusion, one.reason) for one in told] == [
        (1, "quote-occurs", "fact", "erased", "erased"),
        (2, "quote-occurs", "fact", "erased", "erased"),
        (0, "owner", "fact", "erased", "erased"),
    ]
    assert await ledger.read(refusals.counted) == {"quote-occurs": 2, "owner": 1}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_an_earlier_answer_was_accepted_for_and_nobody_settled_goes_too(ledger, lang):
    kept, reworded = draft(lang, "kept"), draft(lang, "reworded")

    def work(conn):
        reflection_id = accept(conn).reflection_id
        answered(conn, reflection_id, 1, reworded, accepted=[reworded])
        answered(conn, reflection_id, 2, kept, accepted=[kept])
        return reflection_id, settled(conn, reflection_id, kept)

    reflection_id, (decision,) = await ledger.write(work)
    await erase(ledger, decision.memory_id)
    assert "canary-5512" not in await everything_kept(ledger, reflection_id)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_run_before_over_the_same_task_tells_it_no_more(ledger, lang):
    kept, reworded = draft(lang, "kept"), draft(lang, "reworded")

    def work(conn):
        first = accept(conn)
        answered(conn, first.reflection_id, 1, reworded, rejected=[reworded], nothing=SAID[lang]["nothing"])
        reflections.finish(conn, first.reflection_id, ReflectionStatus.SKIPPED, NOON, skip_reason=SAID[lang]["nothing"])
        second = reruns.queue(conn, TENANT, first.reflection_id, MODEL, NOON).reflection_id
        answered(conn, second, 1, kept, accepted=[kept])
        return first.reflection_id, settled(conn, second, kept)

    first, (decision,) = await ledger.write(work)
    assert "canary-5512" in await everything_kept(ledger, first)
    await erase(ledger, decision.memory_id)
    assert "canary-5512" not in await everything_kept(ledger, first)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_run_under_way_keeps_what_it_accepted_of_other_things_and_is_settled(ledger, lang):
    kept, reworded, other = (draft(lang, name) for name in ("kept", "reworded", "other"))

    def work(conn):
        first = accept(conn)
        answered(conn, first.reflection_id, 1, kept, accepted=[kept])
        made = settled(conn, first.reflection_id, kept)
        again = reruns.queue(conn, TENANT, first.reflection_id, MODEL, NOON).reflection_id
        answered(conn, again, 1, kept, other, reworded, accepted=[kept, other], rejected=[reworded])
        return again, made

    again, (decision,) = await ledger.write(work)
    await erase(ledger, decision.memory_id)
    left = await everything_kept(ledger, again)
    assert "canary-5512" not in left and SAID[lang]["kept"][0] not in left
    (attempt,) = await ledger.read(lambda conn: attempts.all_of(conn, again))
    assert [one["conclusion"] for _, one in attempt.grounded["accepted"]] == [SAID[lang]["other"][0]]
    assert [one.conclusion for one in attempt.answer.drafts] == [SAID[lang]["other"][0]]


async def test_a_memory_of_another_task_leaves_this_ones_refusals_as_they_are(ledger):
    kept, reworded = draft("en", "kept"), draft("en", "reworded")

    def work(conn):
        far, near = accept(conn, "far").reflection_id, accept(conn, "near").reflection_id
        answered(conn, far, 1, reworded, rejected=[reworded])
        answered(conn, near, 1, kept, accepted=[kept])
        return far, settled(conn, near, kept)

    far, (decision,) = await ledger.write(work)
    await erase(ledger, decision.memory_id)
    assert "canary-5512" in await everything_kept(ledger, far)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_another_task_that_is_settled_while_the_deletion_waits_tells_it_no_more(ledger, lang):
    kept = draft(lang, "kept")
    again, reworded = draft(lang, "kept", "another"), draft(lang, "reworded", "another")
    held = threading.Event()

    def first(conn):
        reflection_id = accept(conn).reflection_id
        answered(conn, reflection_id, 1, kept, accepted=[kept])
        return settled(conn, reflection_id, kept)

    def other_task(conn):
        spaces.lock(conn, TENANT, ["user:u1"])
        answered(conn, other, 1, again, reworded, accepted=[again], rejected=[reworded])
        made = settled(conn, other, again)
        held.set()
        time.sleep(0.5)  # the deletion has looked around by now, and waits for the space
        return made

    (decision,) = await ledger.write(first)
    other = await ledger.write(lambda conn: accept(conn, "another").reflection_id)
    settling = asyncio.create_task(ledger.write(other_task))
    await asyncio.to_thread(held.wait, 10)
    await asyncio.gather(settling, erase(ledger, decision.memory_id))
    assert [one.memory_id for one in settling.result()] == [decision.memory_id]
    left = await everything_kept(ledger, other)
    assert "canary-5512" not in left and SAID[lang]["kept"][0] not in left
