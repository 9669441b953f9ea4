"""One of two operating-system processes that settle the same users' slots in the same instant, round by round."""

import asyncio
import os
from datetime import timedelta
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier

from hindwise.ledger.engine import Ledger
from hindwise.ledger.resolution import Placement, Resolution
from hindwise.lifecycle.aging import AgingRules
from tests.build import NOON, TENANT, make_draft, make_evidence

AGENT_SPACE = "agent:desk"
LESSON_EVERY = 5
_WAIT_S = 60.0


def space_of(round_no: int, users: int) -> str:
    """Whose round it is: the first rounds also race for who makes the space."""
    return f"user:u{round_no % users}"


def run(url: str, rounds: int, users: int, together: Barrier, told: "Queue[tuple[str, list[str]]]") -> None:
    """Settle three drafts a round together with the other process; tell the ids of what now says so."""
    asyncio.run(_run(url, rounds, users, together, told))


async def _run(url: str, rounds: int, users: int, together: Barrier, told: "Queue[tuple[str, list[str]]]") -> None:
    ledger = Ledger(url)
    name, ids = str(os.getpid()), []
    try:
        await ledger.read(lambda conn: None)
        for round_no in range(rounds):
            drafts = placements(name, round_no, users)
            together.wait(_WAIT_S)
            decisions = await ledger.write(lambda conn, drafts=drafts, no=round_no: _resolve(conn, name, no, drafts))
            ids += [decision.memory_id for decision in decisions]
        told.put((name, ids))
    finally:
        await ledger.close()


def placements(name: str, round_no: int, users: int) -> list[Placement]:
    """What one process says: another seat than the other, the same city, and now and then a lesson that all share."""
    own, said = space_of(round_no, users), (make_evidence(f"e-{name}-{round_no}"),)
    drafts = [
        Placement(0, make_draft(f"座位 {name}-{round_no}", attribute="seat", evidence=said), own),
        Placement(1, make_draft(f"city {round_no}", kind="fact", attribute="city", evidence=said), own),
    ]
    if round_no % LESSON_EVERY == 0:
        lesson = make_draft(f"When asked {round_no}, look first", kind="lesson", applies_when="asked", evidence=said)
        drafts.append(Placement(2, lesson, AGENT_SPACE))
    return drafts if int(name) % 2 else drafts[::-1]


def _resolve(conn, name: str, round_no: int, drafts: list[Placement]):
    now = NOON + timedelta(minutes=round_no)
    return Resolution(
        conn=conn,
        tenant_id=TENANT,
        reflection_id=f"{name}-{round_no}",
        actor=name,
        now=now,
        rules=AgingRules(),
        min_confidence=0.4,
        default_valid_from=now,
    ).run(drafts)
