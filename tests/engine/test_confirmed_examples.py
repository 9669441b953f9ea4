"""What people confirmed shows a model of the same tenant what is worth keeping; of another user's nothing personal is seen."""

from hindwise.ledger import review
from hindwise.ledger.engine import Ledger
from hindwise.ledger.migrate import migrate
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.reflect.base import Known
from hindwise.reflect.known import examples_of
from hindwise.reflect.llm.prompt import question
from tests.build import NOON, TENANT, make_draft, make_episode, make_evidence, make_turns


def keep(space, *drafts):
    def work(conn):
        rules = AgingRules()
        made = Resolution(conn, TENANT, space, "test", NOON, rules, 0.4, NOON).run([Placement(n, d, space) for n, d in enumerate(drafts)])
        for decision in made:
            review.confirm(conn, TENANT, decision.memory_id, actor="api:k", now=NOON)

    return work


async def test_examples_reach_the_question_in_its_language_and_tell_nobody_elses_words(tmp_path):
    ledger = Ledger(f"sqlite:///{tmp_path / 'l.db'}")
    await migrate(ledger)
    secret = make_evidence("e2", "Ulrike Sonnleitner asked twice")
    await ledger.write(keep("user:u1", make_draft("Prefers window seats", evidence=(make_evidence("e1", "a window seat, please"),))))
    await ledger.write(keep("user:u3", make_draft("喜欢靠窗", language="zh")))
    lesson = make_draft("Ask Ulrike Sonnleitner for the number before the refund", kind="lesson", evidence=(secret,))
    await ledger.write(keep("user:u2", make_draft("Lives in Bern", kind="fact", attribute="city"), lesson))
    episode = make_episode()
    found = await ledger.read(lambda conn: examples_of(conn, episode))
    asked = question(episode, Known(examples=found)).messages[1]["content"]
    assert {memory.space for memory in found} == {"user:u1", "user:u2"}
    assert 'Prefers window seats | said: "a window seat, please"' in asked
    assert "number before the refund" in asked
    assert not {"Ulrike", "Sonnleitner", "Bern", "靠窗"} & {word for word in ("Ulrike", "Sonnleitner", "Bern", "靠窗") if word in asked}
    chinese = make_episode("r2", user_id="u3", turns=make_turns(("user", "请帮我退掉昨天的订单"), ("assistant", "好的，已经退款。")))
    zh = await ledger.read(lambda conn: examples_of(conn, chinese))
    assert "喜欢靠窗" in question(chinese, Known(examples=zh)).messages[1]["content"]
    await ledger.close()


def test_without_examples_the_question_is_as_before():
    assert "examples" not in question(make_episode(), Known()).messages[1]["content"]
