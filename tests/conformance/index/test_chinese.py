"""Chinese text is found by its bigrams, alone and among Latin names."""

from hindwise.index.base import Filters
from hindwise.text.tokens import query_tokens
from tests.conformance.index.reference import make_item

TEXTS = {
    "m1": "取消预订之前先核对会员等级",
    "m2": "用户喜欢靠窗的座位",
    "m3": "调用 get_reservation_details 之后再退款",
    "m4": "李娜出生于一九九〇年",
}


async def test_chinese_questions_find_the_right_sentence(index):
    await index.upsert([make_item(i, text) for i, text in TEXTS.items()])
    for question, expected in (
        ("会员等级", "m1"),
        ("靠窗座位", "m2"),
        ("怎么退款？", "m3"),
        ("李娜", "m4"),
        ("get_reservation_details", "m3"),
    ):
        found = await index.candidates("user:a", query_tokens(question), None, Filters())
        assert max(found, key=lambda c: c.lexical).memory_id == expected


async def test_space_and_memory_names_may_be_chinese(index):
    await index.upsert([make_item("记忆一", "退款", space="user:李娜")])
    assert await index.ids("user:李娜") == {"记忆一"}
    assert [c.coverage for c in await index.candidates("user:李娜", query_tokens("退款"), None, Filters())] == [1.0]
