"""The reflector with a model: the question (`prompt`, `window`), the call (`client`), the answer (`json_object`, `schema`, `draft`)."""

from hindwise.reflect.llm.reflector import LlmReflector

__all__ = ["LlmReflector"]
