"""The reflector without a model: `reflector` is the story, the other files are what it reads and how it says it."""

from hindwise.reflect.rules.reflector import RuleReflector, reflect_by_rules

__all__ = ["RuleReflector", "reflect_by_rules"]
