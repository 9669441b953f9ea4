"""The reflector that asks a model: any OpenAI-compatible chat endpoint.

One call for one episode; re-asking, waiting and falling back to rules is the workflow's affair (DESIGN section 5).
"""

import asyncio
import time
from collections.abc import Sequence

from hindwise.clock import Clock
from hindwise.errors import AnswerUnusable, WindowTooSmall
from hindwise.ledger.engine import Ledger
from hindwise.model.episode import Episode
from hindwise.model.reflection import Answer, Complaint
from hindwise.reflect.base import Known
from hindwise.reflect.llm.client import ChatEndpoint, Completion
from hindwise.reflect.llm.complaints import is_beyond, told
from hindwise.reflect.llm.draft import drafts_of
from hindwise.reflect.llm.json_object import parse_object
from hindwise.reflect.llm.made_up import without_made_up
from hindwise.reflect.llm.prompt import PROMPT_VERSION, Question, load_prompts, question
from hindwise.reflect.llm.schema import read_answer, wire_schema
from hindwise.reflect.llm.short import in_long_form, short_schema
from hindwise.safety.contacts import Contacts
from hindwise.safety.masking import mask
from hindwise.settings import Settings

SHORT_AFTER = 3
"""Tasks in a row that failed in the long form and not in the short one: from then on the short one is asked for at once, for a day."""


class LlmReflector:
    """Looks back over an episode by asking a model. One per process; close it at the end."""

    name = "llm"
    prompt_version = PROMPT_VERSION

    def __init__(self, settings: Settings, ledger: Ledger | None = None, clock: Clock | None = None) -> None:
        """ledger, clock: where and until when it is remembered what the endpoint accepts; without, for the life of the process."""
        load_prompts()
        self.model = settings.llm_model
        self._form = settings.llm_form
        self._contacts = settings.contacts()
        self._endpoint = ChatEndpoint(settings, ledger, clock)

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._endpoint.close()

    async def reflect(self, episode: Episode, known: Known, complaints: Sequence[Complaint] = ()) -> Answer:
        """Ask once. See Reflector for what is returned and raised; takes at most `llm_timeout_s`.

        Asked in the long form, or in the short one: by the setting, and by what this model was able to do.
        An answer with one bad item is unusable as a whole, so that it is asked again: a dropped item would be a silent loss.
        """
        short = await self._is_short(complaints)
        began = time.monotonic()
        try:
            answer = await self._ask(episode, known, complaints, short=short)
        except WindowTooSmall:
            if short or self._form != "auto":
                raise
            answer = await self._ask(episode, known, complaints, short=True, spent_s=time.monotonic() - began)
        if self._form == "auto" and answer.drafts:
            await self._remember(answer, was_beyond=_was_beyond(complaints))
        return answer

    async def _is_short(self, complaints: Sequence[Complaint]) -> bool:
        """By the setting; `auto` asks shortly whoever said nothing in the long form just now, or is known for it.

        Who was asked shortly about this task is asked so to its end: a complaint about one form makes no sense in the other.
        """
        if self._form != "auto":
            return self._form == "short"
        asked_shortly = any(complaint.short for complaint in complaints)
        return asked_shortly or _was_beyond(complaints) or await self._endpoint.long_failures() >= SHORT_AFTER

    async def _remember(self, answer: Answer, *, was_beyond: bool) -> None:
        """Count the tasks in a row in which the short form gave what the long one did not. A transcript that was too long counts not.

        was_beyond: the model said nothing in the long form just now.
        """
        failures = await self._endpoint.long_failures()
        if not answer.short and failures:
            await self._endpoint.remember_long_failures(0)
        elif answer.short and was_beyond and failures < SHORT_AFTER:
            await self._endpoint.remember_long_failures(failures + 1)

    async def _ask(self, episode: Episode, known: Known, complaints: Sequence[Complaint], *, short: bool, spent_s: float = 0.0) -> Answer:
        asked = await asyncio.to_thread(question, episode, known, complaints, short=short)  # masking and counting 5 MB takes a while
        schema = short_schema() if short else wire_schema(with_known=bool(asked.known))
        try:
            completion = await self._endpoint.complete(asked.messages, schema, asked.max_tokens, spent_s=spent_s)
        except AnswerUnusable as error:
            raise AnswerUnusable(told(error.detail, asked.lang), raw=self._masked(error.raw), usage=error.usage, short=short) from None
        try:
            return await asyncio.to_thread(_answer, completion, episode, asked, self._contacts)
        except AnswerUnusable as error:
            raise AnswerUnusable(
                told(error.detail, asked.lang), raw=self._masked(completion.text), usage=completion.usage.model_dump(), short=short
            ) from None

    def _masked(self, raw: str) -> str:
        """What is stored of an answer holds no secret and no telephone number, also where the model made them up."""
        return mask(raw, self._contacts).text


def _was_beyond(complaints: Sequence[Complaint]) -> bool:
    """Whether the model said nothing at all in the long form just now."""
    return any(is_beyond(complaint) and not complaint.short for complaint in complaints)


def _answer(completion: Completion, episode: Episode, asked: Question, contacts: Contacts) -> Answer:
    if completion.cut:
        raise AnswerUnusable(f"the answer was cut at {asked.max_tokens} tokens: answer with fewer words")
    parsed = without_made_up(parse_object(completion.text), asked.messages, contacts)
    form = read_answer(in_long_form(parsed, episode, asked) if asked.short else parsed, asked.lang)
    drafts = drafts_of(form, episode, asked)
    return Answer(
        drafts=drafts,
        usage=completion.usage,
        raw=mask(completion.text, contacts).text,  # it is stored, and may hold a secret or a number that the model made up
        nothing_because="" if drafts else mask(form.nothing_because, contacts).text,
        short=asked.short,
    )
