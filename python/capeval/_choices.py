"""The closed sets of names that keyword arguments take."""

from __future__ import annotations

from typing import Literal, NamedTuple

Missing = Literal["error", "skip", "empty"]
Surplus = Literal["error", "ignore"]
Duplicate = Literal["error", "first", "last"]
Empty = Literal["error", "keep", "skip"]


class Policy(NamedTuple):
    """What to do about missing, surplus and duplicate captions, and about captions without words."""

    missing: Missing
    surplus: Surplus
    duplicate: Duplicate
    empty: Empty


Ids = Literal["as-given", "text"]
Idf = Literal["corpus", "uniform", "table"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Unit = Literal["rating", "item"]
OwnReference = Literal["keep", "remove", "remove-same-words", "hold-out", "skip"]
HumanTies = Literal["skip", "half"]
MetricTies = Literal["half", "wrong", "first"]
Dtype = Literal["float32", "float64"]
TableFormat = Literal["capeval", "pickle", "json"]
