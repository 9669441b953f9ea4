"""Under which words and meaning is a memory found again? One text per memory, the same for every index."""

from dataclasses import dataclass

from hindwise.model.ids import digest
from hindwise.model.memory import Kind, Words
from hindwise.text.tokens import tokens


@dataclass(frozen=True, slots=True)
class Document:
    """`text` is embedded; `tokens` are searched; `text_hash` names the text in the embeddings table."""

    text: str
    tokens: tuple[str, ...]
    text_hash: str


def document_of(words: Words) -> Document:
    """Return what is indexed of a memory: lessons by conclusion, condition and generalised task, others by conclusion and value.

    The task of a lesson counts because the next asker describes a task, not a lesson (R@5 25 -> 42 on ReMe's bank).
    """
    if words.kind is Kind.LESSON:
        parts = [words.conclusion, words.applies_when, words.generalized_query]
    else:
        parts = [words.conclusion, words.value, words.attribute, words.scope]
        if words.kind is Kind.EVENT:
            parts.append(words.generalized_query)
    kept: list[str] = []
    for part in parts:
        if part and not any(part in other for other in kept):
            kept.append(part)
    text = "\n".join(kept)
    return Document(text, tuple(tokens(text)), digest(text))
