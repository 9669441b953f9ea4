"""Small named rules that every draft must pass, whoever wrote it. Each says what to change: the text goes back to the model.

What fails is kept as a rejected draft with its reason; nothing is dropped silently.
"""

from hindwise.reflect.validators.base import Said, fold
from hindwise.reflect.validators.judge import GATE, MAX_LESSONS, MAX_SEMANTIC, NAMES, RULES, Grounded, ground, validate
from hindwise.reflect.validators.quarantine import why_quarantined

__all__ = ["GATE", "MAX_LESSONS", "MAX_SEMANTIC", "NAMES", "RULES", "Grounded", "Said", "fold", "ground", "validate", "why_quarantined"]
