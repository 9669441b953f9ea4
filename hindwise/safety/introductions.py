"""How people say a name: "my name is …", "Passenger: …", 「我叫…」, 「收货人：…」, 「王芳是我妈妈」.

What they leave unsaid no pattern can know.
"""

import re
from collections.abc import Iterator

from hindwise.safety.proper_nouns import PROPER_NOUNS
from hindwise.text.lazy_re import lazy_re
from hindwise.text.particulars import CHINESE_NAMES, NOT_NAMES
from hindwise.text.stop_words import STOP_WORDS

_SURNAMES = (
    "李王张刘陈杨赵吴徐孙朱郭林罗郑梁谢宋唐韩冯邓曹彭曾肖蔡潘袁董苏吕魏蒋沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷龙段郝孔邵史陶黎贺毛龚邢"
    "高周马何常万白黄许余叶程丁胡杜田康严温牛庞樊倪殷颜柳柯翁霍梅乔赖文向莫岳"
)
_DOUBLE_SURNAMES = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|司徒|令狐|夏侯|轩辕|端木|南宫|宇文|长孙"
_HAN_NAME = rf"(?:(?:{_DOUBLE_SURNAMES})[\u4e00-\u9fff]{{1,3}}|[{_SURNAMES}][\u4e00-\u9fff]{{1,2}})"
_WORD = r"[A-Za-z\u00c0-\u024f](?:[A-Za-z\u00c0-\u024f]|['’-](?=[A-Za-z\u00c0-\u024f])){1,30}"
_CAPITAL = rf"(?=[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f]){_WORD}"

_INTRODUCTIONS = (
    lazy_re(rf"(?:[Ii]['’]m|[Ii] am|[Tt]his is)\s+({_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"),
    lazy_re(
        r"(?:[Nn]ame|[Pp]assenger|[Rr]ecipient|[Cc]ontact|[Gg]uest|[Cc]ustomer|[Pp]atient|[Cc]ardholder)(?: name)?\s?:\s?"
        rf"({_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"
    ),
    lazy_re(
        r"\b[Mm]y (?:husband|wife|spouse|partner|son|daughter|mother|father|mom|mum|dad|brother|sister"
        r"|friend|colleague|boss|aunt|uncle|cousin)"
        rf",? (?:is |named |called ){{0,2}}({_CAPITAL}(?:\s{_CAPITAL}){{0,1}})"
    ),
)
_INTRODUCTIONS_ZH = (
    lazy_re(r"(?:我叫|我的名字是|我名叫|本人姓名|叫我)([\u4e00-\u9fff]{2,4})"),
    lazy_re(r"(?:收货人|收件人|联系人|乘客|旅客|姓名|入住人|持卡人|患者)(?:姓名)?[ \t]?(?:是|为|叫|：|:)[ \t]?([\u4e00-\u9fff]{2,5})"),
    lazy_re(
        rf"(?:我的?|的)(?:妈妈?|爸爸?|母亲|父亲|爷爷|奶奶|老婆|老公|妻子|丈夫|儿子|女儿|哥哥?|姐姐?|弟弟?"
        rf"|妹妹?|朋友|同事|同学|客户|老板)({_HAN_NAME})"
    ),
    lazy_re(rf"我是({_HAN_NAME})(?![\u4e00-\u9fff])"),
    lazy_re(rf"({_HAN_NAME})是我的?(?:妈|爸|母亲|父亲|老婆|老公|妻子|丈夫|爱人|儿子|女儿|哥|姐|弟|妹|朋友|同事|老板|领导|客户)"),
)
_KIN_ZH = (
    "妈妈|爸爸|母亲|父亲|妈|爸|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|老婆|老公|妻子|丈夫|太太|儿子|女儿|孩子|家长|家属|家里|阿姨|叔叔"
    "|先生|女士|小姐|老师|同学|医生|经理|师傅|总监|主任|教授|律师|护士"
)
_PET_NAME = (
    r"(?:小(?![时心米组程票数型费吃孩学说区姐于额结计麦伙朋公店车包箱客巧众看幅类号块部节段事写字册屏窗图工规微尺步半间麻儿气偷便助])"
    r"|老(?![师板人家婆公年客用是旧版式实大爷爸妈太的了化])|阿(?![里姨拉联根尔富克的]))[\u4e00-\u9fff]"
)
_NO_HAN_NAMES = lazy_re(
    r"高兴|常|方才|于|白名|黄牌|高峰|陆运|万|常客|毛重|温控|文[件档章本字]|金[额卡融牌]|高[管级铁速价]|方[案法便式面]|白[色天班]|安[全排装]|任[务何]|常[用规见]|万一|余[额票]|温[度馨]|许[可多]|马上|黄[金色]"
    r"|何[时地]|程[序度]|康复|严[重格]|向[导量上下前后]|雷达|夏[天季]|江[苏西]|陆续|史料|石油|毛利|段落|叶子|于[是]|成[功本员]|贺[卡词]|龙头|孟买|温州|常州|贵州"
    r"|杭州|江门|黄山|唐山|石家|向[用客]|和[用客]|田[径野]|马[尼来]|张[贴]|单|元|谢谢|文艺|乔迁|许可|严禁|季度|鲁"
)
_TALKED_ABOUT_ZH = (
    lazy_re(rf"(?<![\u4e00-\u9fff])({_HAN_NAME}|{_PET_NAME})(?=的?(?:{_KIN_ZH}))"),
    lazy_re(rf"(?:帮|替|给|为|跟|和|向|找|请|让|陪|约|联系|通知|叫|是|我|由|问|把|，|、)({_HAN_NAME}|{_PET_NAME})(?=的?(?:{_KIN_ZH}))"),
    lazy_re(rf"(?:帮|替|陪|约|联系|通知)({_PET_NAME})"),
    lazy_re(
        rf"(?:给|为|跟|和|找|请|让|叫|问|我是|我叫|由)({_PET_NAME})(?=的|订|买|改|退|查|办|预|报|取|申|发|打|送|寄|说|转|请|$|[^\u4e00-\u9fff])"
    ),
    lazy_re(
        rf"(?<![\u4e00-\u9fff])({_HAN_NAME})(?=不同意|不愿|要求|拒绝|说|想要|还没|没有?|已经|得了|患|住院|生病|怀孕|确认|需要|应该?|必须|打来|来电|在等)"
    ),
    lazy_re(rf"({_PET_NAME})(?=说|要求|想要|今天|昨天|已经|还没|不同意|不愿|需要|得了|患|住院|生病|怀孕|确认)"),
)
_TITLE = r"(?:Mr|Mrs|Ms|Mx|Dr|Prof|Miss|Mister|Professor|Doctor|Nurse|Aunt|Auntie|Uncle|Grandma|Grandpa|Granny|Sir|Madam|Lady|Captain)"
_TITLED = lazy_re(rf"(?<![A-Za-z]){_TITLE}\.? ({_CAPITAL}(?: {_CAPITAL}){{0,2}})")
_SMALL_WORD = r"(?-i:[a-z\u00df-\u00f6\u00f8-\u024f])['’a-z\u00df-\u024f-]{1,30}"
_SMALL = lazy_re(
    rf"(?i)(?:(?<![a-z'’])(?:i am|i['’]m)|(?<![a-z])this is)\s+({_SMALL_WORD}(?: (?:{_SMALL_WORD}|i\b)){{0,3}})"
    r"(?P<end>\s*(?:$|[.,;:!?\n]))?"
)
_NAMED = lazy_re(rf"(?:[Mm]y (?:full )?name(?: is|['’]s)|[Cc]all me)\s+({_WORD}(?:\s{_WORD}){{0,2}})")
_AFTER_NAME = frozenset(
    (
        *("and", "i", "my", "from", "but", "here", "with", "please", "the", "for", "to", "not", "so", "can", "could"),
        *(
            "on",
            "at",
            "in",
            "by",
            "a",
            "as",
            "or",
            "who",
            "calling",
            "speaking",
            "later",
            "back",
            "if",
            "when",
            "is",
            "has",
            "want",
            "need",
        ),
    )
)


_KIN_SMALL = lazy_re(
    rf"(?i)\bmy (?:husband|wife|spouse|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|friend|colleague"
    rf"|boss|aunt|uncle|cousin),? (?:is |named |called ){{0,2}}({_SMALL_WORD})(?![\w-])"
)
_VERBS_IN_SMALL = """
    got went said told made took bought lost broke left came gave had can did was met fell felt knew saw sent sat ran paid put let chose
    have do go be see get say come make take need want like live work just recently who whose which that to for and or will would
    might ever even yet once twice please too both tickets ticket
"""
_VERBS = frozenset(_VERBS_IN_SMALL.split())
_AFTER_WHOLE = frozenset(("and", "i", "my", "from", "here", "please", "speaking", "calling"))
_PLAIN = """
    gonna super proud keen glued supposed new
    sorry sure happy glad sad sick ill unwell fine good bad well ok okay ready late early new old free busy able unable unsure
    aware afraid angry upset done back home away online here there right wrong serious certain curious confused worried excited
    interested grateful thankful hopeful positive negative eligible responsible available alone pregnant diabetic vegan
    vegetarian allergic disabled retired urgent important ridiculous unacceptable unfair absurd awful terrible great perfect
    nice enough all always never still already also only just really very quite rather extremely so too now currently probably
    definitely absolutely pretty kind member customer user client passenger guest student teacher doctor nurse engineer
    developer manager employee owner parent beginner regular gold silver bronze premium first second last next one two three
    four five six seven eight nine ten time times day days week year years trip flight flights ticket order booking reservation
    account card payment problem issue question request mistake error bug test message case how what why where who that because
    nothing everything anything something another other others same short long low high full empty half open close closed active
    inactive valid invalid correct incorrect true false english chinese stuck lost broke blind deaf tired hungry cold hot warm
    big small young poor rich strong weak fast slow hard easy fun due human person man woman boy girl adult child senior mother
    father husband wife son daughter brother sister friend not no yes none part group team company business family money cash
    refund fee fees insurance cabin seat economy
"""
_NOT_NAMES = frozenset(_PLAIN.split())
_NOT_IN_NAMES = lazy_re(r"(?:ing|ed|ly|able|ible|ful|less|ous|ive|tion|ment|ness|ism|ant|ent|ic|al|ary|n['’]t|['’]s)$")


def introduced(text: str) -> Iterator[str]:
    """Yield the names by which `text` introduces people, each in every length that may be the whole of it."""
    english = text.isascii()
    for pattern in _INTRODUCTIONS if english else (*_INTRODUCTIONS, *_INTRODUCTIONS_ZH):
        for match in pattern.finditer(text):
            if not _NO_HAN_NAMES.match(match[1]):
                yield match[1]
                yield from _shorter(match[1])
    for match in _NAMED.finditer(text):
        if name := _before_more(match[1]):
            yield name
    yield from titled(text)
    for match in _KIN_SMALL.finditer(text):
        if not (match[1] in _VERBS or match[1].endswith(("s", "'d", "'ll")) or _is_plain(match[1])):
            yield match[1][:1].upper() + match[1][1:]
    for match in _SMALL.finditer(text):
        if name := _in_small_letters(match[1], ends=match["end"] is not None):
            yield name
    if not english:
        yield from _talked_about(text)


def titled(text: str) -> Iterator[str]:
    """Yield names that stand behind a title, without it: whoever is called `Aunt X` once is called `X` later."""
    for match in _TITLED.finditer(text):
        yield match[1]


def _talked_about(text: str) -> Iterator[str]:
    """Chinese names of whom somebody speaks: 「帮小明妈妈…」, 「王芳老师」, 「帮李雷订…」."""
    for pattern in _TALKED_ABOUT_ZH:
        for match in pattern.finditer(text):
            if not _NO_HAN_NAMES.match(match[1]):
                yield match[1]
    for pattern in CHINESE_NAMES:
        for match in pattern.finditer(text):
            if len(match["name"]) > 1 and not _NO_HAN_NAMES.match(match["name"]):
                yield match["name"]


def _in_small_letters(said: str, *, ends: bool) -> str:
    """A name of one to three words that nothing tells from other words but that they are none: empty where one of them is."""
    words: list[str] = []
    for word in said.split():
        if word in _AFTER_NAME:
            # "I am X for …" tells of a person only where two words are unknown.
            ends = word in _AFTER_WHOLE or bool(words[1:])
            break
        words.append(word)
    plain = any(map(_is_plain, words))
    return "" if plain or not ends or not 1 <= len(words) <= 3 else " ".join(word[:1].upper() + word[1:] for word in words)


def _is_plain(word: str) -> bool:
    known = word in _NOT_NAMES or word in STOP_WORDS or word in NOT_NAMES or word in PROPER_NOUNS or word in _AFTER_NAME
    return known or _NOT_IN_NAMES.search(word) is not None


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
