"""Little words of English and Chinese: what says nothing, what denies, and what tells duty, will and time. Own work.

Duty and time are told apart or nothing is compared: "must not send" and 「不用发」, "I was" and 「我是」 are no two ways to say one thing.
"""

from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import query_tokens

NOT, SKIP, UNSURE, DONE, HAVE = "not", "", "?", "done", "have"
"""Names that are no concepts, but for HAVE. UNSURE: a word of two meanings, or of a time; nothing is compared. DONE: 了."""


def words(text: str) -> tuple[str, ...]:
    """The words of a list, apart by blanks."""
    return tuple(text.split())


_HYPHEN = lazy_re(r"(?<=[a-z])-(?=[a-z])")


def stems(words: str) -> tuple[str, ...]:
    """The words of an English phrase as they are compared; "moved" and "used" keep their time."""
    return tuple(
        stem
        for word in _HYPHEN.sub("", words).split()
        for stem in ((word,) if word in {"moved", "used"} else tuple(query_tokens(word)[:1]))
    )


def _stems_of(words: str) -> frozenset[str]:
    return frozenset(stem for word in words.split() for stem in query_tokens(word))


OWN_EN = frozenset(words("a an the i my we our user their s"))
"""Before whom they stand, he is still the first who is named."""
SKIPPED_EN = _stems_of(
    """me mine us you your he him his she her they them it its is are am be do does to of in on at for with by as that this these those
    there please also too very really much all always now currently use using own any ever so"""
)
SKIPPED_ZH = words(
    """的 地 吧 啊 呢 呀 着 吗 把 在 是 就 都 也 给 对 我 我们 你 您 他 她 它 他们 她们 自己 用户 请 用 使用 很 非常 特别 比较 十分 真的
    一直 一向 平时 一般 现在 目前 如今 一律 一定 一定要 总是 务必 有点 一点 一些 点儿 个 只 位 名 条 张 间 台 辆 份 杯 本 件 来 去 到 先 于
    为 人 一只 1个 1只 1位"""
)
NOT_EN = frozenset({"not", "no", "never", "none", "cannot", "neither"})
NOT_ZH = words("不 别 不要 不再 再也不 从不 从来不 无 勿")

UNSURE_EN = _stems_of("was were been had did having got will would shall could might")
"""Of the past, of the future, or only thinkable."""
UNSURE_ZH = words("要 不一定 不一定要 会 不会 得 不用 曾 曾经 当时 当年 那时 过去 原来 本来 将 将要 快要")
"""要: want, must or will. 不用: need not, or does not use. 会: will, or is able to. 得: must, or a mere particle."""

_STATES = (("结婚", "married"), ("退休", "retired"), ("怀孕", "pregnant"))
_MUST, _SHOULD, _NEED_NOT = ("must",), ("should",), (NOT, "need")
PHRASES_EN: dict[tuple[str, ...], tuple[str, ...]] = {
    **{stems(words): (NOT,) for words in ("no longer", "not any more", "not anymore", "no more")},
    **{
        stems(f"{word} {duty}"): _NEED_NOT
        for word in ("not", "never", "no longer")
        for duty in ("have to", "has to", "have got to", "has got to")
    },
    **{stems(words): ("undone",) for words in ("still", "still have to", "still has to", "still need to", "still must")},
    **{stems(words): ("have to",) for words in ("have to", "has to", "have got to", "has got to")},
    **{stems(words): (HAVE,) for words in ("have", "has", "have got", "has got")},
    **{stems(words): ("moved",) for words in ("moved", "have moved", "has moved")},
    **{stems(words): ("want",) for words in ("would like",)},
    **{stems(words): ("like",) for words in ("would prefer", "would love")},
    **{stems(words): ("can not stand",) for words in ("can not stand", "cannot stand")},
    **{stems(word): (word,) for word in ("can", "only", "dislike", "hate")},
    stems("must"): _MUST,
    stems("should"): _SHOULD,
    stems("cannot"): (NOT, "can"),
}
PHRASES_ZH: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("必须", "必需"), _MUST),
    **dict.fromkeys(("不得", "不准", "不许", "禁止", "严禁"), (NOT, *_MUST)),
    **dict.fromkeys(("应该", "应当"), _SHOULD),
    **dict.fromkeys(("不应该", "不应当", "不该"), (NOT, *_SHOULD)),
    **dict.fromkeys(("不必", "无需", "无须", "用不着", "不需要"), _NEED_NOT),
    **dict.fromkeys(("有", "患有"), (HAVE,)),
    **dict.fromkeys(("没", "没有"), (NOT, HAVE)),
    **{
        f"{no}{word}": (NOT, name)
        for no in ("没", "没有")
        for word, name in (("结婚", "married"), ("退休", "retired"), ("怀孕", "pregnant"))
    },
    **dict.fromkeys(("还没", "还没有", "还要", "还得", "还需要"), ("undone",)),
    **dict.fromkeys(("可以", "能"), ("can",)),
    **dict.fromkeys(("不能", "不可以"), (NOT, "can")),
    **dict.fromkeys(("搬到", "搬去"), ("moved",)),
    "了": (DONE,),
    "只": ("only",),
    "讨厌": ("hate",),
    "受不了": ("can not stand",),
    "不想": (NOT, "want"),
    "住在": ("live",),
}

LASTS = frozenset({"moved", "married", "retired", "pregnant"})
"""What is so since it happened: 「我搬到柏林了」."""
ILL = frozenset({"allergy", "diabetes", "asthma"})
"""Who has it and who is it are one."""
BE = frozenset({"be", "is", "are", "am", "being"})
"""Before a participle they tell no past: "be contacted by e-mail"."""
