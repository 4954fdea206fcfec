"""BLEU-1 to BLEU-n as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Mapping

from ..._engine import check
from .bleu_scorer import BleuScorer

__all__ = ["Bleu", "BleuScorer"]


class Bleu:
    """BLEU over a corpus, with the closest reference length."""

    def __init__(self, n: int = 4) -> None:
        self._n = n
        self._hypo_for_image: dict[object, object] = {}
        self.ref_for_image: dict[object, object] = {}

    def compute_score(
        self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]], verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Corpus scores ``[n]`` and image scores ``[n][images]``; prints lengths and counts unless ``verbose=0``."""
        check(gts.keys() == res.keys(), "gts and res must have the same ids")
        scorer = BleuScorer(n=self._n)
        for key, references in gts.items():
            hypothesis = res[key]
            check(type(hypothesis) is list and len(hypothesis) == 1, f"image {key!r}: res must hold one caption")
            check(type(references) is list and len(references) >= 1, f"image {key!r}: gts must hold captions")
            scorer.cook_append(hypothesis[0], references)
        score, scores = scorer.compute_score(option="closest", verbose=verbose)
        return score, scores

    def method(self) -> str:
        """``"Bleu"``."""
        return "Bleu"
