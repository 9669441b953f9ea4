"""A statement that somebody wants kept, made into a draft and written: what both memory doors do."""

from typing import Any
from unicodedata import category

from fastapi import Request

from api.bodies import MemoryBody
from api.services import Services
from api.storing import Storing
from hindwise.errors import InvalidInput
from hindwise.ledger.keys import KeyRow
from hindwise.model.ids import derive
from hindwise.model.memory import MAX_CONCLUSION_CHARS, SLOTTED, Draft
from hindwise.model.space import agent_space, user_space
from hindwise.recall.remember import Written, remember
from hindwise.reflect.rules.statements import classify_statement


def draft_of(body: MemoryBody, storing: Storing) -> Draft:
    """Return the draft for a statement: kind and slot as read from its words, unless the caller names them. Secrets are masked.

    Raises InvalidInput for a statement without words.
    """
    content = storing.text(body.content)
    if not any(category(sign)[0] in "LNPS" for sign in content):
        raise InvalidInput("content: holds no sign that anybody could read: send what should be kept")
    try:
        read = classify_statement(content)
    except ValueError as error:
        raise InvalidInput(f"content: {error}") from error
    kind = body.kind or read.kind
    named: dict[str, Any] = {
        name: storing.line(getattr(body, name), 200) for name in ("subject", "attribute", "scope") if getattr(body, name).strip()
    }
    if body.value.strip():
        named["value"] = storing.text(body.value)[:1_000]
    if body.importance is not None:
        named["importance"] = body.importance
    if body.retrospective is not None:
        named["retrospective"] = storing.json(body.retrospective.model_dump())
    elif len(content.strip()) > MAX_CONCLUSION_CHARS:
        named["retrospective"] = {"what_happened": content.strip()}  # the conclusion holds its beginning only
    if kind not in SLOTTED:
        named |= {"attribute": named.get("attribute", ""), "retracts": False}
    return Draft.model_validate({**read.model_dump(), **named, "kind": kind})


async def write(services: Services, caller: KeyRow, request: Request, body: MemoryBody) -> Written:
    """Keep a statement. Under an Idempotency-Key a repeated writing finds the first, whatever failed in between."""
    engine, tenant = services.engine, caller.tenant_id
    space = user_space(body.user_id) if body.user_id else agent_space(body.agent_id or "")
    key = request.headers.get("idempotency-key", "").strip()
    write_id = derive("write", tenant, request.url.path, key) if key else ""
    return await remember(
        engine, tenant, draft_of(body, services.storing), space, f"api:{caller.id}", engine.clock.now(), write_id=write_id
    )
