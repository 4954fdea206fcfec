"""The closed sets of names that keyword arguments take; `cargo xtask docs` writes this file."""

from __future__ import annotations

from typing import Literal

Missing = Literal["error", "skip", "empty"]
Surplus = Literal["error", "ignore"]
Duplicate = Literal["error", "first", "last"]
Empty = Literal["error", "keep", "skip"]
Ids = Literal["as-given", "text", "file-name"]
Idf = Literal["corpus", "uniform", "table"]
Correction = Literal["none", "bonferroni", "holm", "bh"]
Unit = Literal["rating", "item"]
OwnReference = Literal["keep", "remove", "remove-same-words", "hold-out", "skip"]
HumanTies = Literal["skip", "half"]
MetricTies = Literal["half", "wrong", "first"]
TableFormat = Literal["capeval", "pickle", "json"]
