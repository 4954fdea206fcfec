"""CIDEr-D that grows by ``+=``, as in pycocoevalcap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...._frequencies import DocumentFrequencies
from ..._engine import check, evaluate, mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CiderScorer:
    """Collects hypotheses and references, then scores them."""

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        self.n = n
        self.sigma = sigma
        self._tests: list[str | None] = []
        self._refs: list[list[str]] = []
        self.ref_len: np.float64 | None = None
        self.cook_append(test, refs)

    def copy(self) -> CiderScorer:
        """A scorer of the same captions; sigma is not copied, as in the original."""
        new = CiderScorer(n=self.n)
        new._tests, new._refs = list(self._tests), list(self._refs)
        return new

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Adds a hypothesis with its references."""
        if refs is not None:
            self._refs.append(list(refs))
            self._tests.append(test)

    def size(self) -> int:
        """The number of hypotheses."""
        return len(self._refs)

    def __iadd__(self, other: Any) -> CiderScorer:
        if type(other) is tuple:
            self.cook_append(other[0], other[1])
        else:
            self._tests.extend(other._tests)
            self._refs.extend(other._refs)
        return self

    @property
    def document_frequency(self) -> dict[tuple[str, ...], int]:
        """In how many images each n-gram of the references occurs."""
        rows = dict(enumerate(self._refs))
        return DocumentFrequencies.build(rows, tokenizer="none", n=self.n).to_dict()

    def compute_score(
        self, option: str | None = None, verbose: int = 0
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the score of each hypothesis: ``(size,)``. Both arguments are ignored, as ever."""
        import numpy as np

        tests = [test for test in self._tests if test is not None]
        check(len(tests) == len(self._refs), f"refs/test mismatch! {len(self._refs)}<>{len(tests)}")
        self.ref_len = np.log(float(len(self._refs)))
        metric = f"cider-d:n={self.n}:sigma={self.sigma}:tok=none"
        scores = evaluate(self._refs, tests, [metric])[0].segments[0]
        return mean(scores), scores
