"""CIDEr-D under the name CIDEr, as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..._engine import pairs
from .cider_scorer import CiderScorer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Cider", "CiderScorer"]


class Cider:
    """CIDEr-D with the document frequencies of the given references."""

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:
        self._n = n
        self._sigma = sigma

    def compute_score(
        self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]]
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the scores of the images: ``(images,)``."""
        references, candidates = pairs(gts, res)
        scorer = CiderScorer(n=self._n, sigma=self._sigma)
        for reference, candidate in zip(references, candidates):
            scorer.cook_append(candidate, reference)
        return scorer.compute_score()

    def method(self) -> str:
        """``"CIDEr"``."""
        return "CIDEr"
