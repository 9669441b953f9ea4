"""A fixed corpus in both languages, the questions asked of it, and an answer as plain values: what `test_pinned.py` holds against a file.

`python -m tests.engine.recall.pinned` writes the file anew: only where what is recalled was changed on purpose.
"""

import asyncio
import json
import random
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import Connection

from hindwise.embed.none import NoEmbedder
from hindwise.engine import Engine
from hindwise.ledger import memory_changes, outbox, spaces
from hindwise.model.brief import Recalled
from hindwise.model.memory import Draft, Evidence, Kind, Memory, Retrospective, Status
from hindwise.model.turn import Origin
from hindwise.recall.recall import Recaller
from hindwise.recall.remember import remember
from tests.engine.recall.conftest import opened
from tests.engine.recall.helpers import TENANT, apply_outbox, ask, fact, lesson
from tests.engine.recall.lessons import LESSONS_EN, LESSONS_ZH, RELATED, UNRELATED

ANSWERS = Path(__file__).with_name("pinned.json")

_EN = ("seat", "booking", "harbour", "invoice", "garden", "train", "doctor", "school", "recipe", "camera", "flight", "hotel", "budget")
_ZH = ("座位", "预订", "港口", "发票", "花园", "火车", "医生", "学校", "菜谱", "相机", "机票", "酒店", "预算")
_DETAILS_EN = ("on Monday", "near the window", "with the blue cover", "before noon", "for two people", "without sugar", "in winter")
_DETAILS_ZH = ("在星期一", "靠近窗户", "蓝色封面", "中午之前", "两个人用", "不要加糖", "冬天的时候")
_KINDS = (Kind.FACT, Kind.EVENT, Kind.SNIPPET, Kind.TODO, Kind.FACT, Kind.LESSON)


def memory_id(name: str) -> str:
    """The id of a memory of this corpus."""
    return str(uuid5(NAMESPACE_URL, name))


def _many(now: Any) -> list[Memory]:
    """Three hundred memories of one user that are alike enough to compete: more than a question looks at."""
    rng = random.Random(5)
    kept = []
    for number in range(300):
        zh = number % 2 == 1
        nouns, details = (_ZH, _DETAILS_ZH) if zh else (_EN, _DETAILS_EN)
        first, second, detail = *rng.sample(nouns, 2), rng.choice(details)
        kind = _KINDS[number % len(_KINDS)]
        text = f"{first}和{second}{detail}{number}号" if zh else f"The {first} and the {second} {detail}, number {number}"
        age = timedelta(days=number % 25, minutes=number)
        kept.append(
            Memory(
                id=memory_id(f"many {number}"),
                tenant_id=TENANT,
                space="user:a",
                kind=kind,
                conclusion=text,
                language="zh" if zh else "en",
                generalized_query=(f"安排{first}" if zh else f"arrange the {first}") if kind is Kind.LESSON else "",
                retrospective=Retrospective(what_worked=f"asking about {second}") if number % 7 == 0 else Retrospective(),
                topics=(second,) if number % 4 == 0 else (),
                importance=1 + number % 10,
                status=Status.PENDING if number % 11 == 0 else Status.ARCHIVED if number % 13 == 0 else Status.ACTIVE,
                origin=Origin.TOOL if number % 5 == 0 else Origin.WEB if number % 17 == 0 else Origin.USER,
                valid_from=now - age,
                recorded_at=now - age,
                hits=number % 4,
                helpful=number % 3,
                evidence_count=1 + number % 3,
                disputed=number % 29 == 0,
                evidence=(Evidence(episode_id=memory_id(f"episode {number}"), seq=1, turn_id="t1"),) if number % 3 == 0 else (),
            )
        )
    return kept


_STANDING = (
    fact("Prefers short answers", kind=Kind.PREFERENCE, attribute="answer length", value="short"),
    fact("Prefers aisle seats on long flights", kind=Kind.PREFERENCE, attribute="seat", value="aisle", scope="flight booking"),
    fact("Never call the customer before nine", kind=Kind.INSTRUCTION, attribute="calls", value="after nine"),
    fact("总是用中文写邮件", kind=Kind.INSTRUCTION, attribute="邮件语言", value="中文"),
    fact("喜欢靠窗的座位", kind=Kind.PREFERENCE, attribute="座位", value="靠窗"),
)
_CHANGED = (
    (
        fact("The hotel budget is 90 euros", attribute="hotel budget", value="90"),
        fact("The hotel budget is 120 euros", attribute="hotel budget", value="120"),
    ),
    (
        fact("出差餐费预算是三百元", attribute="餐费预算", value="三百元"),
        fact("出差餐费预算是五百元", attribute="餐费预算", value="五百元"),
    ),
)
_UNAPPLIED = (
    fact("The camera is booked for the harbour tour", kind=Kind.TODO, attribute="camera tour"),
    lesson("When the harbour hotel is full, ask the school next door", "full hotels", "book a hotel"),
    lesson("当港口酒店满房时，应询问旁边的学校，因为它出租房间", "酒店满房", "预订酒店"),
)

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((text, {"agent": "x"}) for text, _ in RELATED),
    *((text, {"agent": "x", "user": "a"}) for text in UNRELATED),
    *((text, {"agent": "x", "user": "a", "limit": 20}) for text, _ in RELATED[::3]),
    ("Where is the camera booking near the window", {"user": "a"}),
    ("Is the harbour hotel within the budget, and which seat did I book on the train?", {"user": "a", "agent": "x", "limit": 50}),
    ("港口酒店的预算是多少，火车座位靠窗吗", {"user": "a", "agent": "x", "limit": 50}),
    ("火车和医生", {"user": "a", "budget_tokens": 120}),
    ("doctor and school", {"user": "a", "kinds": (Kind.EVENT, Kind.SNIPPET)}),
    ("invoice for the garden", {"user": "a", "topics": ("garden", "花园"), "limit": 12}),
    ("number 7 and number 133", {"user": "a", "lang": "zh"}),
    ("I would like to arrange the camera for my trip to the sea, can you tell me what went wrong before", {"user": "a"}),
    ("请帮我安排相机，下个月要去海边，上次出了什么问题", {"user": "a"}),
    ("Seat?", {"user": "a", "budget_tokens": 50}),
    ("nobody", {"user": "nobody"}),
)


async def fill(engine: Engine) -> None:
    """Write the corpus: all but the last three known to the index."""
    now = engine.clock.now()

    def write(conn: Connection) -> None:
        space = spaces.lock(conn, TENANT, ["user:a"])["user:a"]
        many = _many(now)
        for memory in many:
            memory_changes.insert_memory(conn, space.no, memory, actor="test", why="test")
        mark = spaces.bump(conn, space.no)
        outbox.mark_dirty(conn, space.no, [memory.id for memory in many], mark, now)

    await engine.ledger.write(write)
    await _keep(engine, "agent:x", "lesson", [lesson(*parts) for parts in (*LESSONS_EN, *LESSONS_ZH)])
    await _keep(engine, "user:a", "standing", _STANDING)
    for number, pair in enumerate(_CHANGED):
        await _keep(engine, "user:a", f"changed {number}", pair)
    await apply_outbox(engine)
    await _keep(engine, "user:a", "unapplied", _UNAPPLIED)


async def _keep(engine: Engine, space: str, name: str, drafts: Any) -> None:
    for number, draft in enumerate(drafts):
        assert isinstance(draft, Draft)
        # Each a minute after the other, so that no two tie by time.
        at = engine.clock.now() + timedelta(minutes=number)
        await remember(engine, TENANT, draft, space, "test", at, write_id=memory_id(f"{name} {number}"))


def plain(text: str, answer: Recalled) -> dict[str, Any]:
    """What must stay of an answer."""
    return {
        "question": text,
        "brief": answer.brief,
        "tokens": answer.tokens,
        "reason": answer.reason,
        "items": [
            [
                item.memory_id,
                item.tier,
                item.space,
                item.status,
                [entry.model_dump() for entry in item.evidence],
                item.why.model_dump() if item.why else None,
            ]
            for item in answer.items
        ],
    }


async def all_answers(recaller: Recaller) -> list[dict[str, Any]]:
    """Ask everything."""
    return [plain(text, await ask(recaller, text, explain=True, **more)) for text, more in QUESTIONS]


async def _write() -> None:
    found = {}
    for embed in ("hashed", "none"):
        with tempfile.TemporaryDirectory() as directory:
            async with opened(Path(directory), NoEmbedder() if embed == "none" else None) as (engine, recaller):
                await recaller.start()
                await fill(engine)
                found[embed] = await all_answers(recaller)
    lines = {embed: ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers) for embed, answers in found.items()}
    ANSWERS.write_text("{" + ",\n".join(f'"{embed}": [\n{text}\n]' for embed, text in lines.items()) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_write())
