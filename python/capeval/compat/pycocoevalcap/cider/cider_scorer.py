"""CIDEr-D over hypotheses that are added with ``+=``, as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._cider import CiderPairs
from ..._engine import evaluate, mean
from ..._ngrams import cook_refs, cook_test, precook

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(CiderPairs):
    """Collects hypotheses and references, then scores them."""

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        super().__init__()
        self.n = n
        self.sigma = sigma
        self.cook_append(test, refs)

    def copy(self) -> CiderScorer:
        """A scorer of the same captions; sigma is not copied, as in the original."""
        new = CiderScorer(n=self.n)
        new._take(self)
        return new

    def _metric(self) -> str:
        return f"cider-d:n={self.n}:sigma={self.sigma}:tok=none"

    def compute_score(
        self, option: str | None = None, verbose: int = 0
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the score of each hypothesis: ``(size,)``. Both arguments are ignored, as in the original."""
        import numpy as np

        tests = self._given()
        self.ref_len = np.log(float(len(self._refs)))
        self.compute_doc_freq()
        scores = evaluate(self._refs, tests, [self._metric()])[0].segments[0]
        return mean(scores), scores
