"""The form a model fills in: flat fields, small integers for turns and known items, and the JSON schema that is sent.

Reading is forgiving where nothing can be lost (null for "", another case, British or American spelling, an entry without a word in
it) and strict everywhere else: an item that does not fit makes the whole answer unusable, with a complaint that names it, so that
nothing is dropped in silence.
"""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import SkipJsonSchema

from hindwise.errors import AnswerUnusable
from hindwise.model.memory import MAX_CONCLUSION_CHARS, MAX_SNIPPET_CHARS
from hindwise.reflect.llm import complaints
from hindwise.text.clean import clean, one_line
from hindwise.text.language import Language

MAX_LESSONS = 3
MAX_ITEMS = 8

NOTHING_SAID = "the answer is empty and nothing_because gives no reason: write what was learned, or why nothing was"
_OF_KNOWN = ("agreed", "relation", "known")
"""Keys that speak of known items: not asked for where none were shown."""
_CHOSEN = ("kind", "lesson_type", "relation")
"""Words out of a list, which an entry has though it says nothing."""
_LIMIT_WORDS = ("maxLength", "minLength", "maxItems", "minItems", "minimum", "maximum", "default", "title", "description")


_NEAR = {
    "optimization": "optimisation",
    **dict.fromkeys(("best practice", "best_practice", "procedure", "success", "tip", "策略", "做法"), "strategy"),
    **dict.fromkeys(("failure", "mistake", "warning", "陷阱", "教训", "避免"), "pitfall"),
    **dict.fromkeys(("fix", "solution", "workaround", "恢复", "补救", "解决"), "recovery"),
    **dict.fromkeys(("efficiency", "improvement", "优化", "改进"), "optimisation"),
    **dict.fromkeys(("knowledge", "information", "事实", "信息"), "fact"),
    **dict.fromkeys(("preferences", "偏好", "喜好"), "preference"),
    **dict.fromkeys(("rule", "order", "standing order", "standing_order", "要求", "约定", "指令"), "instruction"),
    **dict.fromkeys(("to-do", "to do", "task", "action item", "待办", "未完成"), "todo"),
}
"""What models say for the names of our lists, and mean. Any other word is complained about."""


def _lower(value: object) -> object:
    """The word in small letters, by our name for it."""
    word = value.strip().lower() if isinstance(value, str) else value
    return _NEAR.get(word, word) if isinstance(word, str) else word


def _one_line(value: object) -> object:
    return one_line(value) if isinstance(value, str) else value


def _clean(value: object) -> object:
    """Without what no database keeps, such as NUL and half a surrogate pair: JSON lets both through."""
    return clean(value) if isinstance(value, str) else value


_RELATIONS = {"": "new", "add": "new", "none": "new", "refine": "refines", "contradict": "contradicts"}


def _relation(value: object) -> object:
    """The word as a verb, whatever form of it was chosen."""
    word = _lower(value)
    return _RELATIONS.get(word, word) if isinstance(word, str) else word


def _no_number(value: object) -> object:
    """An empty text where no number belongs."""
    return 0 if isinstance(value, str) and not value.strip() else value


def _quote(value: object) -> object:
    """A prefix of a true quote is a true quote, so a long one is cut, not refused."""
    return clean(value).strip()[:MAX_SNIPPET_CHARS] if isinstance(value, str) else value


def _many(value: object) -> object:
    """One name or number where a list was asked for; without empty names."""
    if isinstance(value, list):
        return [one for one in value if not (isinstance(one, str) and not one.strip())]
    return [value] if isinstance(value, str | int) and value != "" else value


def _said(value: object) -> object:
    """Entries in which something is said: one whose texts are all empty is the form filled in with nothing, and nothing is lost."""
    if not isinstance(value, list):
        return value
    return [one for one in value if not isinstance(one, dict) or any(text.strip() for text in _texts(one))]


def _texts(entry: dict[Any, Any]) -> Iterator[str]:
    for name, value in entry.items():
        if name not in _CHOSEN:
            yield from (text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


def _day(value: object) -> object:
    """YYYY-MM-DD or a whole RFC 3339 time; a date is its first instant in UTC."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text) if len(text) > 10 else datetime.combine(date.fromisoformat(text), datetime.min.time())
    except ValueError:
        raise ValueError("not a date: write YYYY-MM-DD or an empty string") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Line = Annotated[str, BeforeValidator(_one_line), Field(min_length=1, max_length=MAX_CONCLUSION_CHARS)]
Short = Annotated[str, BeforeValidator(_one_line), Field(max_length=200)]
Text = Annotated[str, BeforeValidator(_one_line), Field(max_length=500)]
Part = Annotated[str, BeforeValidator(_clean), Field(max_length=2_000)]
Quote = Annotated[str, BeforeValidator(_quote)]
Names = Annotated[list[Short], BeforeValidator(_many), Field(max_length=20)]
TurnNumbers = Annotated[list[int], BeforeValidator(_many), Field(min_length=1, max_length=20)]


class _Form(BaseModel):
    """Unknown keys are ignored; null means left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, value: object) -> object:
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


class RetrospectiveForm(_Form):
    """The seven parts."""

    goal: Part = ""
    what_happened: Part = ""
    what_worked: Part = ""
    what_failed_and_why: Part = ""
    final_feedback: Part = ""
    next_time: Part = ""
    still_open: Part = ""


class CitedForm(_Form):
    """Whatever stands on turns, named by the small numbers that the model was shown."""

    turns: TurnNumbers
    quote: Quote = ""


class NewForm(CitedForm):
    """Something that is written down, and what it means for a known item."""

    relation: Annotated[Literal["new", "refines", "contradicts"], BeforeValidator(_relation)] = "new"
    known: Annotated[int, BeforeValidator(_no_number)] = 0
    """The number of the known item that this refines or contradicts; 0 where it is new."""


class LessonForm(NewForm):
    """One lesson."""

    conclusion: Line
    lesson_type: Annotated[Literal["strategy", "pitfall", "recovery", "optimisation"], BeforeValidator(_lower)]
    applies_when: Text = ""
    not_when: Text = ""
    why: Part = ""
    tools: Names = []
    topics: Names = []
    importance: int = Field(default=5, ge=1, le=10)
    confidence: float = Field(default=0.7, ge=0, le=1)
    unproven: SkipJsonSchema[bool] = False
    """By code alone (`short`): it is not asked for."""


class ItemForm(NewForm):
    """One fact, preference, instruction or todo."""

    kind: Annotated[Literal["fact", "preference", "instruction", "todo"], BeforeValidator(_lower)]
    conclusion: Line
    subject: Short = ""
    attribute: Short = ""
    value: Annotated[str, BeforeValidator(_one_line), Field(max_length=1_000)] = ""
    scope: Short = ""
    since: Annotated[datetime | None, BeforeValidator(_day)] = None
    never_true: bool = False
    topics: Names = []
    entities: Names = []
    importance: int = Field(default=5, ge=1, le=10)
    confidence: float = Field(default=0.7, ge=0, le=1)


class AgreedForm(CitedForm):
    """A known item that the transcript confirms."""

    known: int


class AnswerForm(_Form):
    """The whole answer, in the order in which it is best thought: what happened and why, then what follows from it."""

    retrospective: RetrospectiveForm = RetrospectiveForm()
    task_type: Short = ""
    generalized_query: Text = ""
    lessons: Annotated[list[LessonForm], BeforeValidator(_said)] = Field(default=[], max_length=MAX_LESSONS)
    items: Annotated[list[ItemForm], BeforeValidator(_said)] = Field(default=[], max_length=MAX_ITEMS)
    agreed: list[AgreedForm] = Field(default=[], max_length=MAX_ITEMS)
    nothing_because: Text = ""

    def holds_nothing(self) -> bool:
        """True when nothing was learned."""
        return not (self.lessons or self.items or self.agreed)


@cache
def wire_schema(*, with_known: bool = True) -> dict[str, Any]:
    """Return the JSON schema that is sent: references resolved, every key required, no lengths (they cut words in half).

    with_known: known items are shown; else nothing is asked about them. The same object for the same question: it is not changed.
    """
    schema = AnswerForm.model_json_schema(mode="serialization")
    defs = schema.pop("$defs", {})
    return _plain(schema, defs, () if with_known else _OF_KNOWN)  # type: ignore[no-any-return]


def _plain(node: Any, defs: dict[str, Any], left_out: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_plain(part, defs, left_out) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(copy.deepcopy(defs[node["$ref"].rsplit("/", 1)[1]]), defs, left_out)
    if "anyOf" in node:  # `since`: a date or nothing; an empty string says the same and every endpoint understands it
        return {"type": "string"}
    if node.get("type") == "object" and "properties" in node:
        properties = {name: _plain(part, defs, left_out) for name, part in node["properties"].items() if name not in left_out}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {key: _plain(part, defs, left_out) for key, part in node.items() if key not in _LIMIT_WORDS}


@cache
def form_sketch(*, with_known: bool = True) -> str:
    """The form as the prompt shows it: the whole answer with empty lists, then what one entry of each holds.

    A list that is shown with an entry in it is filled in, whether there is anything to say or not. Built from the schema, so it cannot
    drift.
    """
    properties = wire_schema(with_known=with_known)["properties"]
    lists = {name: part["items"] for name, part in properties.items() if part["type"] == "array"}
    shown = (f"{json.dumps(name)}: {'[]' if name in lists else _sketch(part)}" for name, part in properties.items())
    entries = (f"{name}[i] = {_sketch(part)}" for name, part in lists.items())
    return "\n".join(["{" + ", ".join(shown) + "}", *entries])


def _sketch(node: dict[str, Any]) -> str:
    if "enum" in node:
        return '"' + "|".join(node["enum"]) + '"'
    if node["type"] == "array":
        return f"[{_sketch(node['items'])}]"
    if node["type"] == "object":
        return "{" + ", ".join(f'"{name}": {_sketch(part)}' for name, part in node["properties"].items()) + "}"
    return {"string": '""', "integer": "1", "number": "0.7", "boolean": "false"}[str(node["type"])]


def read_answer(parsed: object, lang: Language = "en") -> AnswerForm:
    """Return the validated form. Raises AnswerUnusable naming each bad field by path and rule, never by its content, in `lang`."""
    if not isinstance(parsed, dict):
        raise AnswerUnusable("the answer is not one JSON object")
    try:
        form = AnswerForm.model_validate(parsed)
    except ValidationError as error:
        raise AnswerUnusable(complaints.of_form(error, lang)) from None
    if form.holds_nothing() and not form.nothing_because:
        raise AnswerUnusable(NOTHING_SAID)
    return form
