"""Which tokens of a question tell what it is about?

English has its stop words taken out. Chinese bigrams run across words, so that each function word makes two that stand in a memory only
by chance: of 「我叔叔是做什么工作的呢」 only 「叔叔」 and 「工作」 tell. What an index keeps has all its bigrams; only questions are cut.
"""

from hindwise.text.clean import nfkc
from hindwise.text.language import CJK
from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import query_tokens, tokens

_FUNCTION_WORDS = """
    为什么 什么时候 什么样 什么 怎么样 怎么办 怎么 怎样 如何 多少 几个 来着 是否 请问 另外 还有 以及 一下 一个
    在哪里 在哪儿 在哪 哪里 哪儿 哪个 哪些 哪位 哪一 这个 那个 这些 那些 这款 那款
    我们 咱们 你们 他们 她们 它们 我 你 您 他 她 它 谁 啥 哪 这 那
    的 了 呢 吗 吧 啊 呀 么 嘛 是 也 很
"""
_NO_FUNCTION_WORDS = """
    目的 的确 的士 了解 了结 其他 他人 他乡 吉他 维他 他汀 自我 是非 酒吧 网吧 贴吧 吧台 喇嘛 吗啡 呢子 呢绒
    也门 那不勒斯 那曲 哪吒 饿了么
"""
"""Words in which these signs are something else."""


def _longest_first(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


_CUT = lazy_re(f"({_longest_first(_NO_FUNCTION_WORDS)})|{_longest_first(_FUNCTION_WORDS)}")
_ONE_SIGN = lazy_re(f"[{CJK}]")


def telling_tokens(text: str) -> list[str]:
    """Return the tokens of a question in order, repeated as they occur; all of them where none of them tells."""
    words = tokens(_CUT.sub(lambda found: found[1] or " ", nfkc(text)))
    return [word for word in words if not _ONE_SIGN.fullmatch(word)] or query_tokens(text)
