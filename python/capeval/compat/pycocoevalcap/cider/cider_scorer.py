"""CIDEr-D over hypotheses that are added with ``+=``, as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...._frequencies import DocumentFrequencies
from ..._engine import evaluate, mean
from ..._pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CiderScorer(Pairs):
    """Collects hypotheses and references, then scores them."""

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        super().__init__()
        self.n = n
        self.sigma = sigma
        self.ref_len: np.float64 | None = None
        self.cook_append(test, refs)

    def copy(self) -> CiderScorer:
        """A scorer of the same captions; sigma is not copied, as in the original."""
        new = CiderScorer(n=self.n)
        new._take(self)
        return new

    @property
    def document_frequency(self) -> dict[tuple[str, ...], int]:
        """The number of images in which each n-gram of the references occurs."""
        rows = dict(enumerate(self._refs))
        return DocumentFrequencies.build(rows, tokenizer="none", n=self.n).to_dict()

    def compute_score(
        self, option: str | None = None, verbose: int = 0
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the score of each hypothesis: ``(size,)``. Both arguments are ignored, as in the original."""
        import numpy as np

        tests = self._given()
        self.ref_len = np.log(float(len(self._refs)))
        metric = f"cider-d:n={self.n}:sigma={self.sigma}:tok=none"
        scores = evaluate(self._refs, tests, [metric])[0].segments[0]
        return mean(scores), scores
