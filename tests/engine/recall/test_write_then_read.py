"""What was written is found by the next question, with nothing dispatching the outbox."""

import asyncio

from tests.engine.recall.helpers import apply_outbox, ask, conclusions, fact, ids, keep, lesson

_EN = ("prefers", "dislikes", "collects", "repairs", "photographs")
_ZH = ("喜欢", "讨厌", "收藏", "修理", "拍摄")
_THINGS_ZH = ("古钟", "木船", "邮票", "钢笔", "风筝", "灯笼", "瓷碗", "竹椅", "铜镜", "纸伞")


def _written(number: int) -> tuple[str, str]:
    """A sentence and a question about it, each number its own; even ones English, odd ones Chinese."""
    if number % 2 == 0:
        thing = f"gadget{number}q"
        verb = _EN[number // 2 % len(_EN)]
        return f"Customer {verb} the {thing} on weekdays", f"who {verb} {thing}"
    thing, verb = _THINGS_ZH[number % len(_THINGS_ZH)], _ZH[number // 2 % len(_ZH)]
    return f"客户{verb}编号{number}的{thing}", f"谁{verb}编号{number}的{thing}？"


async def test_a_thousand_of_a_thousand_are_found_at_once_with_no_dispatcher(running) -> None:
    engine, recaller = running
    missed: list[tuple[str, str]] = []

    async def one_user(user: int) -> None:
        # Ten memories one after the other: the outbox of a space is never empty here.
        for number in range(user * 10, user * 10 + 10):
            text, question = _written(number)
            [memory_id] = await keep(engine, f"user:{user}", fact(text))
            answer = await ask(recaller, question, user=str(user))
            if memory_id not in ids(answer):
                missed.append((text, answer.reason))

    for start in range(0, 100, 10):
        await asyncio.gather(*(one_user(user) for user in range(start, start + 10)))
    assert not missed


async def test_what_was_written_beside_a_thousand_known_ones_is_found_at_once(running) -> None:
    engine, recaller = running
    await keep(engine, "user:a", *(fact(f"The archive box {n} stands in row {n % 40}") for n in range(150)))
    await apply_outbox(engine)
    for text, question in (
        ("The violin teacher is called Ms. Orlova", "who is the violin teacher"),
        ("小提琴老师姓欧", "小提琴老师姓什么"),
    ):
        [memory_id] = await keep(engine, "user:a", fact(text))
        assert ids(await ask(recaller, question, user="a"))[:1] == [memory_id]


async def test_it_is_still_found_after_the_index_has_caught_up(running) -> None:
    engine, recaller = running
    [memory_id] = await keep(engine, "user:a", fact("The spare key lies under the third flowerpot"))
    before = await ask(recaller, "where is the spare key", user="a", explain=True)
    await apply_outbox(engine)
    after = await ask(recaller, "where is the spare key", user="a", explain=True)
    assert ids(before) == ids(after) == [memory_id]


async def test_without_an_embedder_words_alone_find_it(tmp_path, open_at) -> None:
    from hindwise.embed.none import NoEmbedder

    async with open_at(tmp_path, NoEmbedder()) as (engine, recaller):
        await keep(engine, "user:a", fact("Prefers window seats"), fact("用户喜欢靠窗的座位"), lesson("When late, call the harbour"))
        answer = await ask(recaller, "which seats: window?", user="a")
        assert conclusions(answer) == ["Prefers window seats"]
        assert not answer.degraded, "no embedder is a choice, not a failure"
        assert conclusions(await ask(recaller, "靠窗座位", user="a")) == ["用户喜欢靠窗的座位"]


async def test_saying_it_twice_keeps_one_memory(running) -> None:
    engine, _ = running
    first, second = await keep(engine, "user:a", fact("Speaks Portuguese"), fact("Speaks Portuguese"))
    assert first == second
