"""The reflector that asks a model: any OpenAI-compatible chat endpoint.

One call for one episode; re-asking, waiting and falling back to rules is the workflow's affair (DESIGN section 5).
"""

import asyncio
from collections.abc import Sequence

from hindwise.clock import Clock
from hindwise.errors import AnswerUnusable
from hindwise.ledger.engine import Ledger
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.reflect.base import Known
from hindwise.reflect.llm.client import ChatEndpoint, Completion
from hindwise.reflect.llm.complaints import told
from hindwise.reflect.llm.draft import drafts_of
from hindwise.reflect.llm.json_object import parse_object
from hindwise.reflect.llm.prompt import PROMPT_VERSION, Question, load_prompts, question
from hindwise.reflect.llm.schema import read_answer, wire_schema
from hindwise.safety.masking import mask
from hindwise.settings import Settings


class LlmReflector:
    """Looks back over an episode by asking a model. One per process; close it at the end."""

    name = "llm"
    prompt_version = PROMPT_VERSION

    def __init__(self, settings: Settings, ledger: Ledger | None = None, clock: Clock | None = None) -> None:
        """ledger, clock: where and until when it is remembered what the endpoint accepts; without, for the life of the process."""
        load_prompts()
        self.model = settings.llm_model
        self._endpoint = ChatEndpoint(settings, ledger, clock)

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._endpoint.close()

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Ask once. See Reflector for what is returned and raised; takes at most `llm_timeout_s`.

        An answer with one bad item is unusable as a whole, so that it is asked again: a dropped item would be a silent loss.
        """
        asked = await asyncio.to_thread(question, episode, known, complaints)  # masking and counting 5 MB takes a while
        try:
            completion = await self._endpoint.complete(asked.messages, wire_schema(with_known=bool(asked.known)), asked.max_tokens)
        except AnswerUnusable as error:
            raise AnswerUnusable(told(error.detail, asked.lang), raw=mask(error.raw).text, usage=error.usage) from None
        try:
            return _answer(completion, episode, asked)
        except AnswerUnusable as error:
            raise AnswerUnusable(
                told(error.detail, asked.lang), raw=mask(completion.text).text, usage=completion.usage.model_dump()
            ) from None


def _answer(completion: Completion, episode: Episode, asked: Question) -> Answer:
    if completion.cut:
        raise AnswerUnusable(f"the answer was cut at {asked.max_tokens} tokens: answer with fewer words")
    form = read_answer(parse_object(completion.text), asked.lang)
    drafts = drafts_of(form, episode, asked)
    return Answer(
        drafts=drafts,
        usage=completion.usage,
        raw=mask(completion.text).text,  # it is stored, and may hold a secret that the model made up
        nothing_because="" if drafts else form.nothing_because,
    )
