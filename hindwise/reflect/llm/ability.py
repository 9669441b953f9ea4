"""What one endpoint with one model accepts, remembered: in the process, and in the ledger for those that start later or run beside it.

An endpoint may be upgraded, so what was learned is forgotten after a day: the next question tries the best way of asking again. Neither
the URL's credentials nor its query are kept; the URL itself only as a hash, since some gateways carry a key in the path.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import structlog
from sqlalchemy import Connection

from hindwise.errors import HindwiseError
from hindwise.ledger import abilities
from hindwise.ledger.engine import Ledger
from hindwise.model.ids import digest

FORMATS = ("json_schema", "json_object", "text")
KEPT_FOR = timedelta(days=1)
"""How long a refusal is believed. An endpoint that still refuses costs at most four refused tries a day."""
_WAIT_S = 2.0
"""The ledger is a help here: without it the question is asked all the same."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ability:
    """What one endpoint with one model accepts, as far as it has been seen."""

    format: int = 0
    """Place in FORMATS."""
    token_limit: str = "max_tokens"  # noqa: S105 - the name of a request field
    temperature: bool = True
    long_failures: int = 0
    """Tasks in a row in which it failed the long form and filled in the short one."""


def endpoint_key(base_url: str, model: str) -> str:
    """Name an endpoint and model without telling either: the same for the same address, whatever credentials it is given with."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return digest([parts.scheme, host, parts.path.rstrip("/"), model])


class Abilities:
    """The memory of one endpoint and model. Without a ledger it lasts as long as the process."""

    def __init__(self, base_url: str, model: str, ledger: Ledger | None = None) -> None:
        self._key = endpoint_key(base_url, model)
        self._model = model
        self._ledger = ledger
        self._forgot = False
        # Reflectors of one process that have no ledger share what they saw; with one, the ledger is what they share.
        self._seen: dict[str, tuple[Ability, datetime]] = _OF_THIS_PROCESS if ledger is None else {}

    @property
    def last(self) -> Ability:
        """What was seen last; a hopeful one where nothing was."""
        return self._seen[self._key][0] if self._key in self._seen else Ability()

    async def recall(self, now: datetime) -> Ability:
        """Return what is remembered and not too old; a hopeful one where nothing is. Never raises, and waits at most 2 s."""
        if self._key not in self._seen and self._ledger is not None and (kept := await self._read(self._ledger)) is not None:
            self._seen[self._key] = kept
        ability, learned_at = self._seen.get(self._key, (Ability(), now))
        if abs(now - learned_at) < KEPT_FOR:
            return ability
        del self._seen[self._key]
        self._forgot = True
        return Ability()

    async def learn(self, ability: Ability, now: datetime) -> None:
        """Remember what was accepted or refused. Never raises; nothing is written where that is what was known, or hoped for, before."""
        if ability == self.last and (self._key in self._seen or self._ledger is None):
            return
        hoped = ability == Ability() and self._key not in self._seen and not self._forgot
        self._seen[self._key] = (ability, now)
        if self._ledger is not None and not hoped:
            await self._write(self._ledger, ability, now)

    async def _read(self, ledger: Ledger) -> tuple[Ability, datetime] | None:
        try:
            async with asyncio.timeout(_WAIT_S):
                row = await ledger.read(lambda conn: abilities.find(conn, self._key))
        except (HindwiseError, TimeoutError) as error:
            _log.warning("model_ability_not_read", cause=getattr(error, "type", "timeout"))
            return None
        if row is None or row.format not in range(len(FORMATS)):  # a later release may know formats that this one does not
            return None
        return Ability(row.format, row.token_limit, row.temperature, row.long_failures), row.learned_at

    async def _write(self, ledger: Ledger, ability: Ability, now: datetime) -> None:
        def keep(conn: Connection) -> None:
            abilities.keep(
                conn,
                self._key,
                self._model,
                format_no=ability.format,
                token_limit=ability.token_limit,
                temperature=ability.temperature,
                long_failures=ability.long_failures,
                learned_at=now,
            )

        try:
            async with asyncio.timeout(_WAIT_S):
                await ledger.write(keep)
        except (HindwiseError, TimeoutError) as error:
            _log.warning("model_ability_not_kept", cause=getattr(error, "type", "timeout"))


_OF_THIS_PROCESS: dict[str, tuple[Ability, datetime]] = {}
