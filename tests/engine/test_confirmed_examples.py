"""What people confirmed shows a model of the same tenant what is worth keeping; of another user's space nothing at all is seen."""

import pytest

from hindwise.ledger import review
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.model.space import agent_space, anonymous_user, user_space
from hindwise.reflect.base import Known
from hindwise.reflect.known import examples_of
from hindwise.reflect.llm.prompt import question
from tests.build import NOON, TENANT, make_draft, make_episode, make_evidence, make_turns

SAID = {
    "en": {
        "talk": (("user", "Please refund order 1"), ("assistant", "Done.")),
        "own": ("Prefers window seats", "a window seat, please"),
        "private": ("Lives in Bern", "I moved to Bern in May"),
        "lesson": ("Ask for the number before the refund", "when a refund is asked for", "my daughter Ulrike asked twice"),
        "hidden": ("Check the fare before a rebooking", "when a rebooking is asked for"),
        "named": ("Ask Ulrike Sonnleitner for the number before the refund", "when a refund is asked for"),
        "canaries": ("Bern", "Ulrike", "Sonnleitner", "daughter", "rebooking"),
    },
    "zh": {
        "talk": (("user", "请帮我退掉昨天的订单"), ("assistant", "好的，已经退款。")),
        "own": ("喜欢靠窗的座位", "请给我靠窗的座位"),
        "private": ("住在苏州", "我五月搬到苏州了"),
        "lesson": ("当需要退款时，应先核对订单号，因为之后无法撤销", "需要退款时", "我女儿王小雅问了两次"),
        "hidden": ("当需要改签时，应先核对票价规则，因为可能收费", "需要改签时"),
        "named": ("当需要退款时，应先联系王小雅女士核对单号，因为她负责", "需要退款时"),
        "canaries": ("苏州", "王小雅", "女儿", "改签"),
    },
}


def keep(space, *drafts):
    def work(conn):
        rules = AgingRules()
        made = Resolution(conn, TENANT, f"{space} {drafts[0].conclusion}"[:36], "test", NOON, rules, 0.4, NOON).run(
            [Placement(n, d, space) for n, d in enumerate(drafts)]
        )
        for decision in made:
            review.confirm(conn, TENANT, decision.memory_id, actor="api:k", now=NOON)

    return work


@pytest.fixture
async def taught(ledger):
    for lang, said in SAID.items():
        own, private, lesson, hidden = (said[name] for name in ("own", "private", "lesson", "hidden"))
        await ledger.write(
            keep(user_space("u1"), make_draft(own[0], attribute=f"seat {lang}", language=lang, evidence=(make_evidence("e1", own[1]),)))
        )
        await ledger.write(
            keep(
                user_space("u2"),
                make_draft(private[0], kind="fact", attribute=f"city {lang}", language=lang, evidence=(make_evidence("e2", private[1]),)),
                make_draft(hidden[0], kind="lesson", applies_when=hidden[1], language=lang),
            )
        )
        evidence = (make_evidence("e3", lesson[2]),)
        shared = make_draft(lesson[0], kind="lesson", applies_when=lesson[1], language=lang, evidence=evidence)
        named = make_draft(said["named"][0], kind="lesson", applies_when=said["named"][1], language=lang)
        await ledger.write(keep(agent_space("a1"), shared, named))
    return ledger


async def asked(ledger, lang, **owner):
    episode = make_episode(turns=make_turns(*SAID[lang]["talk"]), **owner)
    found = await ledger.read(lambda conn: examples_of(conn, episode))
    return found, question(episode, Known(examples=found)).messages[1]["content"]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("agent", ["a1", "another", ""])
async def test_ones_own_come_with_their_words_and_shared_lessons_without(taught, lang, agent):
    found, prompt = await asked(taught, lang, user_id="u1", agent_id=agent)
    assert {memory.space for memory in found} == {"user:u1", "agent:a1"}
    assert f'{SAID[lang]["own"][0]} | said: "{SAID[lang]["own"][1]}"' in prompt
    assert SAID[lang]["lesson"][0] in prompt
    assert not [word for word in SAID[lang]["canaries"] if word in prompt], "another user's words in the prompt"


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_user_sees_nothing_of_another_users_space(taught, lang):
    _, prompt = await asked(taught, lang, user_id="u3", agent_id="a1")
    assert SAID[lang]["own"][0] not in prompt and not [word for word in SAID[lang]["canaries"] if word in prompt]
    assert SAID[lang]["lesson"][0] in prompt, "the precondition: examples are shown at all"


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_those_who_send_no_name_see_nothing_of_one_another(taught, lang):
    nobody = anonymous_user("dify")
    words = make_draft("Prefers trains" if lang == "en" else "喜欢坐火车", language=lang, evidence=(make_evidence("e9", "x"),))
    await taught.write(keep(user_space(nobody), words))
    found, prompt = await asked(taught, lang, user_id=nobody, agent_id="a1")
    assert {memory.space for memory in found} == {"agent:a1"} and words.conclusion not in prompt


async def test_many_confirmations_of_others_crowd_out_nothing(taught):
    for number in range(70):
        await taught.write(keep(user_space(f"other-{number}"), make_draft("Prefers aisle seats")))
    found, _ = await asked(taught, "en", user_id="u1", agent_id="a1")
    assert {memory.space for memory in found} == {"user:u1", "agent:a1"}


def test_without_examples_the_question_is_as_before():
    assert "examples" not in question(make_episode(), Known()).messages[1]["content"]
