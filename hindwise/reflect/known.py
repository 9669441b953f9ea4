"""What is already known where an episode happened: near memories, and earlier episodes of the same task.

Others' episodes are reduced to a sketch here, before any reflector sees them.
"""

import asyncio
from collections.abc import Sequence

from sqlalchemy import Connection

from hindwise.embed.base import Embedder, Vector
from hindwise.errors import HindwiseError
from hindwise.index.base import Candidate, Filters, Index
from hindwise.index.projection import index_space
from hindwise.ledger import episodes, memories, review, spaces
from hindwise.ledger.engine import Ledger
from hindwise.model.episode import Episode
from hindwise.model.memory import LIVE, Draft, Kind, Memory, Words
from hindwise.model.space import ANONYMOUS_PREFIX, spaces_of, user_space
from hindwise.reflect.base import Known
from hindwise.reflect.transcript import language_of_episode, user_turns
from hindwise.safety.introductions import introduced
from hindwise.safety.personal import find_personal
from hindwise.safety.sharing import shared_form
from hindwise.safety.sketch import for_reader
from hindwise.text.tokens import tokens

MAX_MEMORIES = 20
MAX_EARLIER = 6
MAX_EXAMPLES = 3
_READ_EXAMPLES = 12
_MAX_QUERY_CHARS = 2_000
_MAX_SAID_CHARS = 200
_WAIT_S = 2.5
"""For each of two questions."""


def earlier_of(conn: Connection, episode: Episode, task_key: str) -> tuple[Episode, ...]:
    """Return earlier episodes of the episode's task, as its user may see them."""
    return tuple(for_reader(other, episode.user_id) for other in episodes.earlier_of_task(conn, episode, task_key, MAX_EARLIER))


def examples_of(conn: Connection, episode: Episode) -> tuple[Memory, ...]:
    """Return up to 3 memories that people of the tenant confirmed, in the episode's language, as its user may see them.

    The user's own as they are, quotes included. Of everybody else only lessons that are shared already (an agent's space), in the form in
    which others may read them and without quotes: what stands in another user's space is seen by nobody else, scrubbed or not.
    """
    # Who sends no user is nobody in particular: of two such tasks each may be another person's.
    named = episode.user_id and not episode.user_id.startswith(ANONYMOUS_PREFIX)
    own = user_space(episode.user_id) if named and episode.user_id else ""
    found = review.confirmed_examples(conn, episode.tenant_id, language_of_episode(episode), _READ_EXAMPLES, own=own)
    seen = (memory if memory.space == own else _shared(memory, episode) for memory in found)
    return tuple(memory for memory in seen if memory is not None)[:MAX_EXAMPLES]


def _shared(memory: Memory, episode: Episode) -> Memory | None:
    if memory.kind is not Kind.LESSON:
        return None
    words = Draft(**memory.model_dump(include=set(Words.model_fields) - {"evidence"}))
    told = shared_form(words, episode)
    texts = (told.conclusion, told.applies_when, told.not_when)
    # A lesson written by hand passed no validator: whoever it introduces makes it no example.
    if any(find_personal(text) or any(introduced(text)) for text in texts):
        return None
    return memory.model_copy(update={**{name: getattr(told, name) for name in ("conclusion", "applies_when", "not_when")}, "evidence": ()})


async def with_memories(ledger: Ledger, index: Index, embedder: Embedder, episode: Episode, task_key: str, known: Known) -> Known:
    """Return `known` with near live memories of the episode's spaces.

    An index or embedder that is away costs nearness, nothing else. Raises LedgerUnavailable.
    """
    return known.model_copy(update={"memories": await _near(ledger, index, embedder, episode, task_key)})


async def _near(ledger: Ledger, index: Index, embedder: Embedder, episode: Episode, task_key: str) -> tuple[Memory, ...]:
    names = spaces_of(episode.user_id, episode.agent_id)
    numbers = await ledger.read(lambda conn: {name: row.no for name, row in spaces.find(conn, episode.tenant_id, names).items()})
    asked = [index_space(episode.tenant_id, name) for name in names]
    # By the task, for lessons; and by what the user said on the way, for facts and wishes that it may confirm or change.
    texts = dict.fromkeys(text for text in ((episode.goal or task_key)[:_MAX_QUERY_CHARS], _said(episode)) if text)
    found = [await _candidates(index, embedder, asked, text) for text in texts]
    ranked = _in_turns([[one.memory_id for one in sorted(some, key=_nearness, reverse=True)] for some in found])[:MAX_MEMORIES]
    return await ledger.read(lambda conn: _live(conn, list(numbers.values()), ranked))


def _said(episode: Episode) -> str:
    """The user's words in short, the latest last: what is long is mostly shown, not said."""
    return "\n".join(words[:_MAX_SAID_CHARS] for _, words in user_turns(episode))[-_MAX_QUERY_CHARS // 2 :]


def _in_turns(rankings: Sequence[Sequence[str]]) -> list[str]:
    """The first of each, the second of each, and so on: scores of two questions do not compare."""
    longest = max(map(len, rankings), default=0)
    return list(dict.fromkeys(ranking[place] for place in range(longest) for ranking in rankings if place < len(ranking)))


def _nearness(candidate: Candidate) -> tuple[float, float, str]:
    return (candidate.cosine or 0.0) + candidate.coverage, candidate.lexical, candidate.memory_id


async def _candidates(index: Index, embedder: Embedder, names: Sequence[str], text: str) -> list[Candidate]:
    found: list[Candidate] = []
    try:
        async with asyncio.timeout(_WAIT_S):
            vector: Vector | None = await embedder.query(text) if text else None
            for name in names:
                found += await index.candidates(name, tokens(text), vector, Filters(), k=MAX_MEMORIES)
    except (HindwiseError, TimeoutError):
        # Nearness is a help to the model, not a condition: the newest ones stand in.
        return found
    return found


def _live(conn: Connection, space_nos: Sequence[int], ranked: Sequence[str]) -> tuple[Memory, ...]:
    """The near ones in order, filled up with the newest; without evidence, which is others' words."""
    by_id = {row.id: memories.from_row(row) for row in memories.rows_by_ids(conn, space_nos, ranked)} if ranked else {}
    near = [by_id[memory_id] for memory_id in ranked if memory_id in by_id and by_id[memory_id].status in LIVE]
    if len(near) < MAX_MEMORIES:
        seen = {memory.id for memory in near}
        near += [memories.from_row(row) for row in memories.newest_live(conn, space_nos, MAX_MEMORIES) if row.id not in seen]
    return tuple(near[:MAX_MEMORIES])
