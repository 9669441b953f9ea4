"""Numbers in words made digits, in English and Chinese. Numbers never merge: "two three" is "2 3", never 23 or 5."""

import re
from decimal import Decimal

from hindwise.text.lazy_re import lazy_re

_ZH_DIGIT = {char: value for value, chars in enumerate(["零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"]) for char in chars}
_ZH_SMALL = {"十": 10, "百": 100, "千": 1000}
_ZH_LARGE = {"万": 10_000, "亿": 100_000_000}
_ZH_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
ZH_UNITS = (
    "个月|个|天|日|号|次|张|元|块|小时|分钟|秒|年|月|周|人|位|件|岁|点|公斤|千克|斤|公里|米|倍|层|楼|页|章|杯|瓶|份|级|步|折|间|晚|美元|%"
)
"""Words after which a Chinese numeral is surely a number; elsewhere it may be part of a word (统一, 一般)."""

_ZH_NUMBER = lazy_re(
    rf"(?<![\d.{_ZH_NUMERAL}])[{_ZH_NUMERAL}]+(?=(?:{ZH_UNITS}))|(?<=第)[{_ZH_NUMERAL}]+(?![\d{_ZH_NUMERAL}])|^[{_ZH_NUMERAL}]+$"
)
_ZH_MIXED = lazy_re(rf"(?<![\d.])(\d+(?:\.\d+)?)([万亿])(?![\d{_ZH_NUMERAL}])")

_ONES_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_EN_ONES = {word: value for value, word in enumerate(_ONES_WORDS.split())}
_EN_TENS = {word: 10 * value for value, word in enumerate(_TENS_WORDS.split(), start=2)}
_EN_SCALE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ONES, _TENS = "|".join(_EN_ONES), "|".join(_EN_TENS)
_BELOW_100 = rf"(?:(?:{_TENS})(?:[ -](?:one|two|three|four|five|six|seven|eight|nine)\b)?|(?:{_ONES}))"
_EN_NUMBER = lazy_re(
    rf"(?<![\w.-])(?:{_BELOW_100}\b(?: (?:hundred|thousand|million)\b)?(?: and {_BELOW_100}\b)?)(?!-?\w)",
)


def chinese_number(numeral: str) -> int | None:
    """Return the value of a Chinese numeral ("三百二十" 320, "二〇二六" 2026); None where it is not one."""
    if not numeral or any(char not in _ZH_NUMERAL for char in numeral):
        return None
    if all(char in _ZH_DIGIT for char in numeral):
        return int("".join(str(_ZH_DIGIT[char]) for char in numeral))
    total = section = 0
    digit: int | None = None
    for char in numeral:
        if char in _ZH_DIGIT:
            digit = _ZH_DIGIT[char]
        elif char in _ZH_SMALL:
            section += (1 if digit is None else digit) * _ZH_SMALL[char]
            digit = None
        else:
            total += max(section + (digit or 0), 1) * _ZH_LARGE[char]
            section, digit = 0, None
    return total + section + (digit or 0)


def digits_for_words(text: str) -> str:
    """Return lower-case, NFKC `text` with number words and Chinese numerals as digits, thousands separators dropped."""
    text = re.sub(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", lambda m: m.group().replace(",", ""), text)
    text = _ZH_MIXED.sub(lambda m: format((Decimal(m[1]) * _ZH_LARGE[m[2]]).normalize(), "f"), text)
    text = _ZH_NUMBER.sub(lambda m: str(chinese_number(m.group())), text)
    return _EN_NUMBER.sub(lambda m: str(_english_number(m.group())), text)


def _english_number(words: str) -> int:
    total = current = 0
    for word in re.split("[ -]", words):
        if word in _EN_SCALE:
            total += max(current, 1) * _EN_SCALE[word]
            current = 0
        elif word != "and":
            current += _EN_TENS.get(word, _EN_ONES.get(word, 0))
    return total + current
