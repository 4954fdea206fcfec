"""Plain CIDEr over hypotheses that are added with ``+=``."""

from __future__ import annotations

from .._scorer import Scorer


class CiderScorer(Scorer):
    """Collects hypotheses and references, then scores them by CIDEr."""

    metric = "cider"
