"""Looks into what is kept, for tests: what the product itself never asks."""

from typing import Any

from sqlalchemy import Connection, or_, select

from hindwise.engine import Engine
from hindwise.index.live import LiveIndex
from hindwise.ledger import generations
from hindwise.ledger.schema import memory_links
from hindwise.model.turn import Origin
from hindwise.reflect.rules.statements import draft_of, statements_of
from hindwise.text.language import Language


def links_of(conn: Connection, memory_id: str) -> list[Any]:
    """Links from and to a memory."""
    either = or_(memory_links.c.from_id == memory_id, memory_links.c.to_id == memory_id)
    return list(conn.execute(select(memory_links).where(either).order_by(memory_links.c.at)))


async def ids_everywhere(engine: Engine, space: str) -> set[str]:
    """All ids of a space in any generation of the index that is kept. space: as the index has it."""
    assert isinstance(engine.index, LiveIndex)
    found: set[str] = set()
    for generation in await engine.ledger.read(generations.kept):
        found |= await (await engine.index.opened(generation)).ids(space)
    return found


def drafts_of_text(text: str, language: Language) -> tuple[Any, ...]:
    """Drafts for all statements that the user makes in a text, in order, as rules read them out of a turn."""
    return tuple(draft_of(statement, language, Origin.USER) for statement in statements_of(text))
