"""Models made of values that were validated when they were written: a recall makes dozens, and validating costs more than all else."""

from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def assembled(model: type[M], values: dict[str, Any]) -> M:
    """Return an instance that holds `values` as they are. Every field must be among them, of its right type, and nothing else."""
    made = model.__new__(model)
    object.__setattr__(made, "__dict__", values)
    object.__setattr__(made, "__pydantic_fields_set__", _fields_of(model))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


@cache
def _fields_of(model: type[BaseModel]) -> set[str]:
    """The names of its fields: one set for all instances, which a frozen model never changes and a copy of it copies."""
    return set(model.model_fields)
