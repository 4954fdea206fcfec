"""What the scorers of CIDEr in pycocoevalcap and pyciderevalcap expose: cooked captions, document frequencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._frequencies import DocumentFrequencies
from ._engine import check, evaluate
from ._ngrams import Counts, cook_refs, cook_test
from ._pairs import Pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CiderPairs(Pairs):
    """Collects hypotheses and references, whose n-grams and document frequencies can be looked up.

    They are counted when they are asked for; scoring does not need them in Python.
    """

    n: int
    ref_len: np.float64 | None = None
    _table: DocumentFrequencies | None = None

    def __init__(self) -> None:
        super().__init__()
        self._frequencies: defaultdict[tuple[str, ...], float] = defaultdict(float)
        self._uncounted: list[Sequence[Sequence[str]]] = []

    def _metric(self) -> str:
        """The metric with its settings."""
        raise NotImplementedError

    @property
    def crefs(self) -> list[list[Counts]]:
        """The n-grams of the references of each image."""
        return [cook_refs(refs) for refs in self._refs]

    @property
    def ctest(self) -> list[Counts | None]:
        """The n-grams of each hypothesis; None where one is missing."""
        return [None if test is None else cook_test(test) for test in self._tests]

    def compute_doc_freq(self) -> None:
        """Adds the references to ``document_frequency``."""
        self._uncounted.append(list(self._refs))

    @property
    def document_frequency(self) -> defaultdict[tuple[str, ...], float]:
        """The number of images in which each n-gram of the references occurs, as :meth:`compute_doc_freq` counts them."""
        if self._table is not None and not self._frequencies:
            self._frequencies.update(self._table.to_dict())
        for images in self._uncounted:
            for refs in images:
                for ngram in {ngram for reference in cook_refs(refs) for ngram in reference}:
                    self._frequencies[ngram] += 1
        self._uncounted.clear()
        return self._frequencies

    @document_frequency.setter
    def document_frequency(self, frequencies: dict[tuple[str, ...], float]) -> None:
        self._uncounted.clear()
        self._frequencies = defaultdict(float, frequencies)

    def compute_cider(self) -> list[np.float64]:
        """The score of each hypothesis by the document frequencies of :attr:`document_frequency`."""
        import numpy as np

        table = self._table
        if table is None:
            self.ref_len = np.log(float(len(self._refs)))
            table = DocumentFrequencies.from_counts(dict(self.document_frequency), len(self._refs))
        return list(evaluate(self._refs, self._given(), [self._metric()], df=table)[0].segments[0])

    def my_get_cider(self, gts: Sequence[str], res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each caption of `res` against each of `gts` alone: ``(len(res), len(gts))``."""
        table = self._table
        if table is None:
            check(self.ref_len is not None, "ref_len is not None: compute scores first, or pass df=")
            table = DocumentFrequencies.from_counts(dict(self.document_frequency), len(self._refs))
        references = [[reference] for _ in res for reference in gts]
        candidates = [candidate for candidate in res for _ in gts]
        scores = evaluate(references, candidates, [self._metric()], df=table)[0].segments[0]
        matrix: npt.NDArray[np.float64] = scores.reshape(len(res), len(gts))
        return matrix

    def my_get_self_cider(self, res: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each caption against each: ``(len(res), len(res))``."""
        return self.my_get_cider(res, res)
