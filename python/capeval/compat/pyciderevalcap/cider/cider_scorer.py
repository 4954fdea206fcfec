"""Plain CIDEr over hypotheses that are added with ``+=``."""

from __future__ import annotations

from ..._ngrams import cook_refs, cook_test, precook
from .._scorer import Scorer

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(Scorer):
    """Collects hypotheses and references, then scores them by CIDEr."""

    metric = "cider"
