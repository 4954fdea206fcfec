"""Plain CIDEr with saved document frequencies."""

from __future__ import annotations

from ...._frequencies import DocumentFrequencies
from .._scorer import Metric
from .cider_scorer import CiderScorer


class Cider(Metric):
    """CIDEr; `df` is ``"corpus"``, the name or path of a table, or a :class:`capeval.DocumentFrequencies`."""

    scorer = CiderScorer

    def __init__(self, n: int = 4, df: str | DocumentFrequencies = "corpus") -> None:
        super().__init__(n=n, df=df)

    def method(self) -> str:
        """``"CIDEr"``."""
        return "CIDEr"
