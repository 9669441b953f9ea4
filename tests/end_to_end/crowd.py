"""Many users of two agents, in two languages, each with words, names and numbers that nobody else has; and real runs of an airline."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.processes import ROOT

DESK, AIRLINE = "desk", "airline-support"
_SYLLABLES = ["ba", "cor", "dil", "fen", "gor", "hul", "jam", "kel", "lom", "mir", "nad", "pel"]
_SURNAMES, _GIVEN = "赵钱孙李周吴郑王冯陈褚卫", "明丽强芳军娜伟敏静磊洋艳"
_STONES = ["墨玉", "青瓷", "赤铜", "白檀", "紫砂", "金箔", "银杏", "琥珀", "珊瑚", "玳瑁", "翡翠", "玛瑙"]


@dataclass(frozen=True)
class Person:
    """A user. `marks`: strings that only this user ever said or is called by; none of them may reach anybody else."""

    user_id: str
    lang: str
    topic: str
    turns: tuple[dict[str, Any], ...]
    run_id: str
    agent_id: str
    outcome: dict[str, Any]
    marks: frozenset[str] = field(default_factory=frozenset)

    def episode(self) -> dict[str, Any]:
        """The body of `POST /v1/episodes`."""
        return {
            "user_id": self.user_id,
            "agent_id": self.agent_id,
            "run_id": self.run_id,
            "turns": list(self.turns),
            "outcome": self.outcome,
        }

    def said(self) -> str:
        """All that the user said."""
        return "\n".join(str(turn["content"]) for turn in self.turns if turn["role"] == "user")


def word(number: int) -> str:
    """A made-up word that is the number's own."""
    return _SYLLABLES[number % 12] + _SYLLABLES[number // 12 % 12] + _SYLLABLES[(number * 7 + 5) % 12] + "ix"


def people(count: int) -> list[Person]:
    """`count` users, every second one Chinese, all with the same sort of task, so that everybody's memories are alike."""
    return [(_chinese if number % 2 else _english)(number) for number in range(count)]


def _english(number: int) -> Person:
    own = word(number)
    name, customer, reservation = f"{own.capitalize()} {word(number + 60).capitalize()}", f"C-{88_000 + number}", f"R{number:02d}Q7ZK"
    mail = f"{own}@example.com"
    turns = (
        {"role": "user", "content": f"Hello, my name is {name}, customer number {customer}. Please refund reservation {reservation}."},
        _call("refund_reservation", reservation_id=reservation, customer=customer),
        _result("refund_reservation", f"Error: reservation {reservation} of {name} needs the e-mail {mail} first"),
        {
            "role": "user",
            "content": f"I prefer newsletters about {own}. Always send receipts to {mail}. I live in {own.capitalize()}ville.",
        },
        {"role": "assistant", "content": f"Sorry, {name}, I could not refund {reservation}."},
    )
    note = f"missing: confirm_email; reservation {reservation} of {name}"
    return Person(
        user_id=f"en-{own}",
        lang="en",
        topic=f"newsletters about {own}",
        turns=turns,
        run_id=f"run-{own}",
        agent_id=DESK,
        outcome={"status": "failure", "source": "env", "note": note},
        marks=frozenset({own, own.capitalize(), name, customer, reservation, mail}),
    )


def _chinese(number: int) -> Person:
    own = f"{_STONES[number % 12]}{_STONES[(number // 12 + 3) % 12]}{number}"
    name = f"{_SURNAMES[number % 12]}{_GIVEN[number % 12]}{_GIVEN[(number // 12 + 5) % 12]}"
    customer, order = f"K{660_000 + number}", f"DD{20_240_000 + number}"
    turns = (
        {"role": "user", "content": f"你好，我叫{name}，客户编号{customer}，请退掉订单{order}。"},
        _call("退款", 订单号=order, 客户编号=customer),
        _result("退款", f"错误：订单{order}（{name}）需要先核对手机号"),
        {"role": "user", "content": f"我喜欢关于{own}的资讯。以后都用{own}开头称呼我。"},
        {"role": "assistant", "content": f"抱歉，{name}，订单{order}暂时不能退款。"},
    )
    return Person(
        user_id=f"zh-{number}",
        lang="zh",
        topic=f"关于{own}的资讯",
        turns=turns,
        run_id=f"run-zh-{number}",
        agent_id=DESK,
        outcome={"status": "failure", "source": "env", "note": f"缺少调用：核对手机号；订单{order}，客户{name}"},
        marks=frozenset({own, name, customer, order}),
    )


def _call(name: str, **arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": f"c-{name}", "type": "function", "function": function}]}


def _result(name: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "name": name, "tool_call_id": f"c-{name}", "content": content}


# ---- real runs -----------------------------------------------------------------------------------------------------------

_NAMES = {"first_name", "last_name"}
_NUMBERS = {"user_id", "reservation_id", "email", "dob", "address1", "payment_id", "reservations", "phone", "zip"}


def passengers() -> list[Person]:
    """The runs of examples/airline, with the names and numbers that their databases told of the customer."""
    rows = map(json.loads, (ROOT / "examples" / "airline" / "runs.jsonl").read_text(encoding="utf-8").splitlines())
    return [_passenger(row) for row in rows]


def _passenger(row: dict[str, Any]) -> Person:
    status = "success" if row["reward"] >= 1 else "failure"
    return Person(
        user_id=row["user_id"],
        lang="en",
        topic=str(row["messages"][0]["content"])[:300],
        turns=tuple(row["messages"]),
        run_id=row["run_id"],
        agent_id=AIRLINE,
        outcome={"status": status, "score": row["reward"], "source": "env", "note": row["verdict"]},
        marks=frozenset({row["user_id"], *_particulars(row["messages"])}),
    )


def _particulars(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Names, ids, addresses and birthdays in what tools answered and were asked."""
    for message in messages:
        if message["role"] == "tool":
            yield from _in_json(message["content"])
        for call in message.get("tool_calls") or ():
            yield from _in_json(call["function"]["arguments"])


def _in_json(text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except ValueError:
        return
    yield from _walk(value, "")


def _walk(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        if key == "payment_methods":
            yield from value
        for name, inner in value.items():
            yield from _walk(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, key if isinstance(inner, str) else "")
    elif isinstance(value, str) and value and key in _NAMES | _NUMBERS:
        yield value
