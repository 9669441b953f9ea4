"""How people say a name: "my name is …", "Passenger: …", 「我叫…」, 「收货人：…」, 「王芳是我妈妈」.

What they leave unsaid no pattern can know.
"""

import re
from collections.abc import Iterator

_SURNAMES = (
    "李王张刘陈杨赵吴徐孙朱郭林罗郑梁谢宋唐韩冯邓曹彭曾肖蔡潘袁董苏吕魏蒋沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷龙段郝孔邵史陶黎贺毛龚邢"
    "高周马何常万白黄许余叶程丁胡杜田康严温牛庞樊倪殷颜柳柯翁霍梅乔赖文向莫岳"
)
_DOUBLE_SURNAMES = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|司徒|令狐|夏侯|轩辕|端木|南宫|宇文|长孙"
_HAN_NAME = rf"(?:(?:{_DOUBLE_SURNAMES})[\u4e00-\u9fff]{{1,3}}|[{_SURNAMES}][\u4e00-\u9fff]{{1,2}})"
_WORD = r"[A-Za-z\u00c0-\u024f](?:[A-Za-z\u00c0-\u024f]|['’-](?=[A-Za-z\u00c0-\u024f])){1,30}"
_CAPITAL = rf"(?=[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f]){_WORD}"

_INTRODUCTIONS = (
    re.compile(rf"(?:[Ii]['’]m|[Ii] am|[Tt]his is)\s+({_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"),
    re.compile(
        r"(?:[Nn]ame|[Pp]assenger|[Rr]ecipient|[Cc]ontact|[Gg]uest|[Cc]ustomer|[Pp]atient|[Cc]ardholder)(?: name)?\s?:\s?"
        rf"({_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"
    ),
    re.compile(
        r"\b[Mm]y (?:husband|wife|spouse|partner|son|daughter|mother|father|mom|mum|dad|brother|sister"
        r"|friend|colleague|boss|aunt|uncle|cousin)"
        rf",? (?:is |named |called ){{0,2}}({_CAPITAL}(?:\s{_CAPITAL}){{0,1}})"
    ),
    re.compile(r"(?:我叫|我的名字是|我名叫|本人姓名|叫我)([\u4e00-\u9fff]{2,4})"),
    re.compile(r"(?:收货人|收件人|联系人|乘客|旅客|姓名|入住人|持卡人|患者)(?:姓名)?[ \t]?(?:是|为|叫|：|:)[ \t]?([\u4e00-\u9fff]{2,5})"),
    re.compile(rf"我是({_HAN_NAME})(?![\u4e00-\u9fff])"),
    re.compile(rf"({_HAN_NAME})是我的?(?:妈|爸|母亲|父亲|老婆|老公|妻子|丈夫|爱人|儿子|女儿|哥|姐|弟|妹|朋友|同事|老板|领导|客户)"),
)
_NAMED = re.compile(rf"(?:[Mm]y (?:full )?name(?: is|['’]s)|[Cc]all me)\s+({_WORD}(?:\s{_WORD}){{0,2}})")
_AFTER_NAME = frozenset(
    (
        *("and", "i", "my", "from", "but", "here", "with", "please", "the", "for", "to", "not", "so", "can", "could"),
        *("on", "at", "in", "by", "a", "as", "or", "who", "calling", "later", "back", "if", "when"),
    )
)


def introduced(text: str) -> Iterator[str]:
    """Yield the names by which `text` introduces people, each in every length that may be the whole of it."""
    for pattern in _INTRODUCTIONS:
        for match in pattern.finditer(text):
            yield match[1]
            yield from _shorter(match[1])
    for match in _NAMED.finditer(text):
        if name := _before_more(match[1]):
            yield name


def is_chinese_name(text: str) -> bool:
    """Whether the whole of `text` can be a Chinese person's name: a known surname and one to three more characters."""
    return re.fullmatch(_HAN_NAME, text) is not None


def _shorter(name: str) -> Iterator[str]:
    """Chinese sentences have no blanks: of 「李雷想退」 the name may be two characters."""
    for length in range(2, len(name)):
        if is_chinese_name(name[:length]) or (length == 2 and name[0] in "小阿老"):
            yield name[:length]


def _before_more(name: str) -> str:
    """Of words in small letters those before the sentence goes on, capitalised as names are."""
    words: list[str] = []
    for word in name.split():
        if word.lower() in _AFTER_NAME:
            break
        words.append(word[:1].upper() + word[1:])
    return " ".join(words)
