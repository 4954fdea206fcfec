"""Scores as rouge_score gives them."""

from __future__ import annotations

from typing import NamedTuple


class Score(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    fmeasure: float
