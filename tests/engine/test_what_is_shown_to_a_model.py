"""Which known memories a model is shown: near the task, and near what the user said on the way, which may confirm or change them."""

import pytest

from hindwise.engine import open_engine
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from hindwise.reflect.base import Known
from hindwise.reflect.known import with_memories
from hindwise.reflect.llm.prompt import MAX_KNOWN, question
from hindwise.settings import Settings
from hindwise.testing import FixedClock
from tests.build import NOON, TENANT, make_draft, make_episode, make_turns

SAID = {
    "en": {
        "goal": "Refund an order that never arrived",
        "talk": (("user", "Please refund order 1, it never arrived."), ("assistant", "Done."), ("user", "By the way, I moved to Basel.")),
        "lesson": "When an order number {n} is refunded that never arrived, ask the carrier first, because they pay",
        "fact": "The user moved to Bern.",
    },
    "zh": {
        "goal": "给没有送到的订单退款",
        "talk": (("user", "请给没有送到的订单退款。"), ("assistant", "已退款。"), ("user", "顺便说一下，我搬到杭州了。")),
        "lesson": "当第{n}类没有送到的订单要退款时，应先问承运商，因为由他们赔付",
        "fact": "用户搬到苏州了。",
    },
}


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_the_user_mentions_brings_its_memory_though_the_task_is_about_something_else(tmp_path, lang):
    said = SAID[lang]
    settings = Settings(_env_file=None, data=tmp_path, embed="none", index_cache_mb=64)
    fact = make_draft(said["fact"], kind="fact", attribute="residence", language=lang)
    lessons = [make_draft(said["lesson"].format(n=n), kind="lesson", applies_when=said["goal"], language=lang) for n in range(30)]
    async with open_engine(settings, FixedClock(NOON)) as engine:

        def keep(conn):
            placements = [Placement(0, fact, "user:u1"), *(Placement(n + 1, lesson, "agent:a1") for n, lesson in enumerate(lessons))]
            return Resolution(conn, TENANT, "r1", "test", NOON, AgingRules(), 0.4, NOON).run(placements)

        await engine.ledger.write(keep)
        while await engine.projection.one_space() is not None:
            pass
        episode = make_episode(turns=make_turns(*said["talk"]), goal=said["goal"], agent_id="a1")
        known = await with_memories(engine.ledger, engine.index, engine.embedder, episode, "refund", Known())
    shown = question(episode, known).known.values()
    assert said["fact"] in [memory.conclusion for memory in shown]
    assert 1 < len(shown) <= MAX_KNOWN and {memory.space for memory in shown} == {"user:u1", "agent:a1"}
    assert not any(memory.evidence for memory in known.memories)
