"""ROUGE-L as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..._engine import check, evaluate, mean, pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Rouge:
    """ROUGE-L with beta 1.2; the best precision and the best recall may come from different references."""

    def __init__(self) -> None:
        self.beta = 1.2

    def calc_score(self, candidate: list[str], refs: list[str]) -> float:
        """The score of one caption, given in a list."""
        check(len(candidate) == 1, "candidate must be a list of one caption")
        check(len(refs) > 0, "there must be a reference")
        metric = f"rouge-l:beta={self.beta}:tok=none"
        return float(evaluate([refs], candidate, [metric])[0].segments[0][0])

    def compute_score(
        self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]]
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the scores of the images: ``(images,)``."""
        references, candidates = pairs(gts, res)
        metric = f"rouge-l:beta={self.beta}:tok=none"
        scores = evaluate(references, candidates, [metric])[0].segments[0]
        return mean(scores), scores

    def method(self) -> str:
        """``"Rouge"``."""
        return "Rouge"
