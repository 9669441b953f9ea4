"""One question to an OpenAI-compatible chat endpoint: the answer's text and what it cost, or one of our three errors.

Endpoints differ in what they accept. What one refuses is remembered (`ability`), so that the next question starts with what works.
Retrying what may heal is Temporal's affair: the provider's client never retries.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlsplit

from hindwise.clock import Clock, SystemClock
from hindwise.errors import AnswerUnusable, HindwiseError, ModelRefused, ModelTimeout, ModelUnavailable, WindowTooSmall
from hindwise.ledger.engine import Ledger
from hindwise.model.base import Model
from hindwise.model.reflection import Usage
from hindwise.reflect.llm.ability import FORMATS, Abilities, Ability
from hindwise.safety.contacts import Contacts, mask_contacts
from hindwise.settings import Settings
from hindwise.text.clean import clean
from hindwise.text.lazy_re import lazy_re
from hindwise.text.token_budget import count_tokens

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

OPENAI_URL = "https://api.openai.com/v1"
MAX_RETRY_AFTER_S = 120.0
MAX_TOLD_TOKENS = 10_000_000
REASONING_FACTOR = 4
"""Endpoints that want max_completion_tokens count hidden reasoning in it: the limit is this many times the answer's."""
_MAX_RAW_CHARS = 200_000
_SAFE_CODE = lazy_re(r"[a-z][a-z0-9_]{2,40}")
_NAMES_FORMAT = ("response_format", "json_schema", "json_object", "structured output", "grammar", "guided_json")


class Completion(Model):
    """What the endpoint said. `cut`: it stopped at the token limit."""

    text: str
    usage: Usage
    cut: bool = False


def _without_contacts(messages: Sequence[Mapping[str, str]], contacts: Contacts) -> list[dict[str, str]]:
    """Masked once more on the way out: what was stored while the settings said otherwise is not sent either."""
    return [{**message, "content": mask_contacts(message["content"], contacts, [])} for message in messages]


class ChatEndpoint:
    """An OpenAI-compatible endpoint, by settings. Cheap to make: the provider's client is imported at the first question.

    ledger: where what the endpoint accepts is remembered beyond this process.
    """

    def __init__(self, settings: Settings, ledger: Ledger | None = None, clock: Clock | None = None) -> None:
        self.base_url = settings.llm_base_url or OPENAI_URL
        self.model = settings.llm_model
        self._key = settings.llm_api_key
        self._configured = bool(settings.llm_base_url or self._key.get_secret_value())
        self._timeout_s = settings.llm_timeout_s
        self._contacts = settings.contacts()
        self._client: openai.AsyncOpenAI | None = None
        self._connecting = asyncio.Lock()
        self._clock = clock or SystemClock()
        self._ledger = ledger
        self._abilities: Abilities | None = None

    @property
    def ability(self) -> Ability:
        """What this endpoint is known to accept."""
        return self._known().last

    def _known(self) -> Abilities:
        """Made late: an address that is none is told at the first question, not when a worker starts."""
        if self._abilities is None:
            self._abilities = Abilities(self.base_url, self.model, self._ledger)
        return self._abilities

    async def close(self) -> None:
        """Close the connections. The next question opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], max_tokens: int, *, spent_s: float = 0.0
    ) -> Completion:
        """Ask once, trying simpler formats where one is refused; bounded by `llm_timeout_s` in all, of which `spent_s` are gone already.

        Raises AnswerUnusable (no text, or not a chat completion), ModelUnavailable (try later), ModelRefused (a person must act), and of
        these WindowTooSmall.
        """
        self._check_settings()
        messages = await asyncio.to_thread(_without_contacts, messages, self._contacts)
        # Before the clock runs: an import on a busy machine, or a ledger that is slow, is not the model's time.
        client = await self._connect()
        ability = await self._known().recall(self._clock.now())
        try:
            async with asyncio.timeout(max(0.0, self._timeout_s - spent_s)):
                return await self._ask(client, messages, schema, max_tokens, ability)
        except TimeoutError:
            raise ModelTimeout(f"the model at {self._where()} did not answer within {self._timeout_s:g} s (LLM_TIMEOUT_S)") from None

    async def long_failures(self) -> int:
        """Tasks in a row in which this model failed the long form and not the short one. Raises ModelRefused where settings cannot work."""
        self._check_settings()
        return (await self._known().recall(self._clock.now())).long_failures

    async def remember_long_failures(self, number: int) -> None:
        """Remember that, as long as what else is remembered of the endpoint. Never raises."""
        known = self._known()
        await known.learn(replace(known.last, long_failures=number), self._clock.now())

    def _check_settings(self) -> None:
        if not self.model:
            raise ModelRefused("LLM_MODEL is empty: name the model, or set HINDWISE_REFLECTOR=rules")
        if not self._configured:
            raise ModelRefused("LLM_MODEL is set, but neither LLM_BASE_URL nor LLM_API_KEY: set the endpoint, its key, or both")
        if not _is_http(self.base_url):
            raise ModelRefused("LLM_BASE_URL is no URL: it begins with http:// or https:// and usually ends in /v1")
        key = self._key.get_secret_value()
        if not (key.isascii() and key.isprintable() and key == key.strip()):
            raise ModelRefused("LLM_API_KEY holds blanks at its ends, line breaks or non-ASCII characters: copy it again")

    async def _connect(self) -> "openai.AsyncOpenAI":
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> "openai.AsyncOpenAI":
        """On a thread: the import takes half a second and the certificates are read from disk."""
        from openai import AsyncOpenAI

        key = self._key.get_secret_value() or "none"  # local servers want none, the client wants some
        return AsyncOpenAI(base_url=self.base_url, api_key=key, max_retries=0, timeout=self._timeout_s)

    async def _ask(
        self,
        client: "openai.AsyncOpenAI",
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        max_tokens: int,
        trial: Ability,
    ) -> Completion:
        import openai

        while True:
            request = _request(self.model, messages, schema, max_tokens, trial)
            try:
                answer = await client.chat.completions.create(**request)
            except openai.APIStatusError as error:
                step = _simpler(error, trial)
                if step is None:
                    raise _meaning_of(error, self.model, self._where()) from None
                trial = step
                if error.status_code < 500:  # a 500 may be a blip: it counts once the simpler format was accepted
                    await self._known().learn(step, self._clock.now())
                continue
            except openai.APIError as error:
                raise _meaning_of(error, self.model, self._where()) from None
            except ValueError:  # a body that says it is JSON and is not
                raise AnswerUnusable(
                    "the endpoint's response is not JSON: cut on the way, or LLM_BASE_URL names no chat endpoint"
                ) from None
            await self._known().learn(trial, self._clock.now())
            return _completion(answer, messages)

    def _where(self) -> str:
        """Host and port, never credentials or paths."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname or 'LLM_BASE_URL'}{f':{parts.port}' if parts.port else ''}"


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port or an address that is none
        return False


def _request(
    model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], max_tokens: int, ability: Ability
) -> dict[str, Any]:
    limit = max_tokens if ability.token_limit == "max_tokens" else max_tokens * REASONING_FACTOR  # noqa: S105
    request: dict[str, Any] = {"model": model, "messages": list(messages), ability.token_limit: limit}
    if ability.temperature:
        request["temperature"] = 0
    match FORMATS[ability.format]:
        case "json_schema":
            wrapped = {"name": "hindsight", "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": wrapped}
        case "json_object":
            request["response_format"] = {"type": "json_object"}
    return request


def _simpler(error: "openai.APIStatusError", ability: Ability) -> Ability | None:
    """The next simpler way to ask after this refusal; None when the refusal is about something else."""
    said = _said(error)
    if ability.format < len(FORMATS) - 1 and _refuses_format(error.status_code, said, ability):
        return replace(ability, format=ability.format + 1)
    if error.status_code in (400, 422) and ability.token_limit == "max_tokens" and "max_tokens" in said:  # noqa: S105
        return replace(ability, token_limit="max_completion_tokens")  # noqa: S106
    if error.status_code in (400, 422) and ability.temperature and "temperature" in said:
        return replace(ability, temperature=False)
    return None


def _refuses_format(status: int, said: str, ability: Ability) -> bool:
    """By name; or by a plain 500 to a schema, which is how some local servers refuse one."""
    if status == 500 and FORMATS[ability.format] == "json_schema":
        return True
    return status in (400, 422, 500) and any(name in said for name in _NAMES_FORMAT)


def _said(error: "openai.APIError") -> str:
    """The endpoint's own words, for matching only: they may echo our key or the transcript, so they never reach a detail."""
    return f"{error.message} {json.dumps(error.body, default=str)}"[:20_000].lower()


def _meaning_of(error: "openai.APIError", model: str, where: str) -> HindwiseError:
    """The one table from the provider's errors to ours. Details say status, code and the setting to change; never the endpoint's words."""
    import openai

    if not isinstance(error, openai.APIStatusError):
        if isinstance(error, openai.APITimeoutError):
            return ModelTimeout(f"the model at {where} did not answer in time (LLM_TIMEOUT_S)")
        if isinstance(error, openai.APIConnectionError):
            return ModelUnavailable(f"no connection to {where}: is the endpoint up, and LLM_BASE_URL right?")
        return ModelUnavailable(f"the client could not read what {where} sent ({type(error).__name__})")
    status = error.status_code
    code = f", {error.code}" if error.code and _SAFE_CODE.fullmatch(error.code) else ""
    told = f"the endpoint {where} answered {status}{code}"
    if status == 429 and error.code != "insufficient_quota":
        return ModelUnavailable(f"{told}: too many requests", retry_after_s=_retry_after_s(error.response.headers))
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailable(told, retry_after_s=_retry_after_s(error.response.headers))
    refusal = WindowTooSmall if _is_too_long(status, error.code or "") else ModelRefused
    return refusal(f"{told}: {_next_step(status, error.code or '', model)}")


def _is_too_long(status: int, code: str) -> bool:
    return "context_length" in code or status == 413


def _next_step(status: int, code: str, model: str) -> str:
    if _is_too_long(status, code):
        return f"the transcript is too long for the model {model}: set LLM_MODEL to one that takes 24,000 tokens"
    if status in (401, 403):
        return "set LLM_API_KEY to a key that may use this model"
    if status in (402, 429):
        return "the account's credit is used up: add credit, or set another LLM_API_KEY"
    if status == 404:
        return f"it does not know the model {model} or the path: correct LLM_MODEL or LLM_BASE_URL (it usually ends in /v1)"
    return f"it refuses the request itself: check that LLM_MODEL ({model}) is a chat model and LLM_BASE_URL a chat endpoint"


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `Retry-After` (seconds or a date), between 0 and 120; None when absent or unreadable."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = _seconds(headers["retry-after"])
        else:
            return None
    except (ValueError, TypeError):
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_RETRY_AFTER_S)


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()


def _completion(answer: "ChatCompletion", messages: Sequence[Mapping[str, str]]) -> Completion:
    # The provider's client checks nothing: whatever the endpoint sent stands here, of any type.
    choices = getattr(answer, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    if message is None:
        raise AnswerUnusable("the endpoint's response is not a chat completion: does LLM_BASE_URL name a chat endpoint?")
    text = clean(_text_of(getattr(message, "content", None))[:_MAX_RAW_CHARS])
    usage = _usage(answer, messages, text)
    reason = getattr(first, "finish_reason", None)
    if getattr(message, "refusal", None) or reason == "content_filter":
        raise AnswerUnusable("the model declined to answer", raw=text, usage=usage.model_dump())
    if not text.strip():
        why = " (the token limit was used up before it began)" if reason == "length" else ""
        raise AnswerUnusable(f"the answer is empty{why}", raw=text, usage=usage.model_dump())
    return Completion(text=text, usage=usage, cut=reason == "length")


def _text_of(content: object) -> str:
    """A message's words, also where they come as a list of parts."""
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _usage(answer: "ChatCompletion", messages: Sequence[Mapping[str, str]], text: str) -> Usage:
    """As the endpoint counts; estimated where it does not say, so that a daily ceiling still means something."""
    told = getattr(answer, "usage", None)
    prompt, completion = getattr(told, "prompt_tokens", None), getattr(told, "completion_tokens", None)
    return Usage(
        calls=1,
        prompt_tokens=prompt if _is_count(prompt) else sum(count_tokens(m["content"]) for m in messages),
        completion_tokens=completion if _is_count(completion) else count_tokens(text),
    )


def _is_count(told: object) -> TypeGuard[int]:
    """No text, no truth value, nothing negative and nothing that no model could have read."""
    return isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MAX_TOLD_TOKENS
