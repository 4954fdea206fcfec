"""CIDEr-D with saved document frequencies."""

from __future__ import annotations

from .._scorer import Metric
from .ciderD_scorer import CiderScorer


class CiderD(Metric):
    """CIDEr-D; `df` is ``"corpus"``, the name or path of a table, or a :class:`capeval.DocumentFrequencies`.

    A quirk of the original is kept: `sigma` is stored but not used; the width is always 6.
    """

    scorer = CiderScorer

    def method(self) -> str:
        """``"CIDEr-D"``."""
        return "CIDEr-D"
