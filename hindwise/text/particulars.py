"""Patterns for what is particular in a text: ids, dates, amounts, addresses, quoted words, names of people.

`generalise` drops them, and `safety` looks for names by some. Light on purpose: no model, no dictionary; what they miss costs a little
precision, so they prefer to miss a name over taking an ordinary word for one.
"""

import re

from hindwise.text.lazy_re import lazy_re

MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_MONTH = rf"(?:{MONTHS})\b\.?"
SURNAMES = (
    "李王张刘陈杨赵吴徐孙朱郭林罗郑梁谢宋唐韩冯邓曹彭曾肖蔡潘袁董苏吕魏蒋沈姜范江傅钟"
    "卢汪戴崔任陆廖姚方金邱夏谭韦贾邹石熊孟秦阎薛侯雷龙段郝孔邵史陶黎贺毛龚邢"
)
"""Frequent Chinese surnames; those that mostly begin ordinary words (高 周 马 何 常 时 万 白 黄 许 余) are left out."""

URL = lazy_re(r"\bhttps?://[^\s<>\"'，。）)]+", re.IGNORECASE)
EMAIL = lazy_re(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
UUID = lazy_re(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE | re.ASCII)
DATE = lazy_re(
    rf"\d{{4}}\s*年(?:\s*\d{{1,2}}\s*月(?:\s*\d{{1,2}}\s*[日号])?)?|\d{{1,2}}\s*月\s*\d{{1,2}}\s*[日号]"
    rf"|(?<![\d.-])\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)|(?<![\d/])\d{{1,2}}/\d{{1,2}}/\d{{2,4}}(?!\d)"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}}\b)?",
    re.IGNORECASE,
)
TIME = lazy_re(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])(?:\s*[ap]\.?m\b\.?)?|\b\d{1,2}\s*[ap]m\b", re.IGNORECASE)
MONEY = lazy_re(
    r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?|(?<!\d)\d[\d,]{0,24}+(?:\.\d{1,24}+)?\s{0,8}(?:元|块钱|美元|美金|usd|eur|cny|rmb|dollars?|euros?)",
    re.IGNORECASE,
)
CODE = lazy_re(
    r"(?<![A-Za-z0-9_])#?(?=[A-Za-z0-9_-]{0,64}\d)(?=[0-9_-]{0,64}[A-Za-z])[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])#\d+\b",
    re.ASCII,
)
"""XEHM4B, HAT001, user_3668, #123, order-42a: letters with digits, or a number sign."""
NUMBER = lazy_re(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?%?(?![A-Za-z_])")
QUOTED = lazy_re(r"「([^」\n]{1,80})」|『([^』\n]{1,80})』|《([^》\n]{1,80})》|“([^”\n]{1,80})”|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
SINGLE_QUOTED = lazy_re(r"(?<!\w)'([^'\n]{1,80})'(?!\w)")
NAME_EN = lazy_re(r"(?<![A-Za-z.'’-])[A-Z][a-z]+(?:[ -](?:[A-Z]\.|[A-Z][a-z]+)){1,3}(?![a-z])")
"""Two to four capitalised words in a row."""
CUED_NAME_EN = lazy_re(
    r"\b(?i:(customer|user|client|passenger|guest|patient|member|named|name is|called|mr|mrs|ms|dr)\.?)"
    r" ([A-Z][a-z]+(?: [A-Z][a-z]+){0,2})(?![a-z])"
)
CUED_NAME_ZH = lazy_re(
    rf"(?P<cue>客户|用户|乘客|旅客|会员|病人|患者|名叫|我叫|姓名[是为::]?)(?P<name>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?)"
    r"(?=$|[^\u4e00-\u9fff]|[的在从到要想取预订查退改办修处订申请和与])"
)
TITLED_NAME_ZH = lazy_re(rf"[{SURNAMES}][\u4e00-\u9fff]{{0,2}}(?:先生|女士|小姐|经理|老师|医生)")
SERVED_NAME_ZH = lazy_re(
    rf"(?P<cue>[为给帮替])(?P<name>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?=$|[^\u4e00-\u9fff]|的|取消|预订|查询|退|改|办理|修改|处理|订|申请|安排)"
)
OWNER_NAME_ZH = lazy_re(rf"(?P<cue>取消|查询|修改|处理|更改|退订|删除)(?P<name>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?=的)")
CHINESE_NAMES = (CUED_NAME_ZH, SERVED_NAME_ZH, OWNER_NAME_ZH)

_WHAT = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november
    december i python java javascript typescript docker kubernetes postgres postgresql mysql sqlite redis linux windows macos github gitlab
    excel word slack jira google amazon azure openai chinese english japanese french german spanish temporal weaviate dify django flask
    react node visual studio code machine learning please the a an and or if when then what how why can could would
"""

NOT_NAMES = frozenset(_WHAT.split())
"""Capitalised words that say what a task is about, not whom."""


def only_known_words(name: str) -> bool:
    """Whether one of the words says what, not who ("Visual Studio Code", "Monday Morning")."""
    return any(word.lower() in NOT_NAMES for word in re.split("[ -]", name))
