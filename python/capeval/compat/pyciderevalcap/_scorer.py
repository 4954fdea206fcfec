"""The base of CIDEr-D and CIDEr: captions in a list, and document frequencies from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._frequencies import DocumentFrequencies
from .._cider import CiderPairs
from .._engine import check, evaluate, mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_TABLES: dict[tuple[str, float], DocumentFrequencies] = {}

COCO_VAL_IMAGES = 40_504
"""The number of images counted in ``coco-val-df``, which its pickle does not contain."""


def table(df: str | DocumentFrequencies) -> DocumentFrequencies | None:
    """The document frequencies that `df` names; None for those of the given references.

    A name is tried as it is, with ``.p``, ``.pkl`` or ``.capeval`` appended, and in the folder ``data``.

    Raises:
        FileNotFoundError: the file does not exist.
    """
    if isinstance(df, DocumentFrequencies):
        return df
    if df == "corpus":
        return None
    names = [df, *(f"{df}{end}" for end in (".p", ".pkl", ".capeval", ".p.gz", ".pkl.gz"))]
    places = [place for name in names for place in (name, os.path.join("data", name))]
    path = next((place for place in places if os.path.isfile(place)), None)
    if path is None:
        raise FileNotFoundError(
            f"no document frequencies at {df!r}, nor at {', '.join(map(repr, places[1:4]))} …; pass a path, "
            "'corpus', or a capeval.DocumentFrequencies"
        )
    key = (os.path.abspath(path), os.path.getmtime(path))
    if key not in _TABLES:
        try:
            _TABLES[key] = DocumentFrequencies.load(path)
        except ValueError:
            if "coco-val" not in os.path.basename(path):
                raise
            _TABLES[key] = DocumentFrequencies.load(path, n_images=COCO_VAL_IMAGES)
    return _TABLES[key]


class Scorer(CiderPairs):
    """Collects hypotheses and references, then scores them."""

    metric = ""

    def __init__(
        self,
        df_mode: str | DocumentFrequencies = "corpus",
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        sigma: float = 6.0,
    ) -> None:
        super().__init__()
        self.n = n
        self.sigma = sigma
        self.df_mode = df_mode
        self._table = table(df_mode)
        if self._table is not None:
            import numpy as np

            self.ref_len = np.log(float(self._table.n_images))
        if test is not None and refs is not None:
            self.cook_append(test, refs)

    def copy(self) -> Any:
        """A scorer of the same captions."""
        new = self.copy_empty()
        new._take(self)
        return new

    def copy_empty(self) -> Any:
        """A scorer with the same document frequencies, without captions."""
        return type(self)(self.df_mode, n=self.n, sigma=self.sigma)

    def clear(self) -> None:
        """Removes all captions."""
        self._tests, self._refs = [], []

    def compute_score(
        self, option: str | None = None, verbose: int = 0
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the score of each hypothesis: ``(size,)``."""
        if self._table is None:
            import numpy as np

            self.ref_len = np.log(float(len(self._refs)))
            self.document_frequency = {}
            self.compute_doc_freq()
        scores = evaluate(self._refs, self._given(), [self._metric()], df=self._table)[0].segments[0]
        return mean(scores), scores

    def _metric(self) -> str:
        sigma = f":sigma={self.sigma}" if self.metric == "cider-d" else ""
        return f"{self.metric}:n={self.n}:tok=none{sigma}"


class Metric:
    """A metric for a list of captions, with any number of captions per image."""

    scorer: type[Scorer]

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str | DocumentFrequencies = "corpus") -> None:
        self._n = n
        self._sigma = sigma
        self._df = df
        self.cider_scorer = self.scorer(df_mode=df, n=n)

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Iterable[Mapping[str, Any]]
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the score of each entry of `res`.

        Args:
            gts: ``{image_id: [reference, …]}``.
            res: ``[{"image_id": image_id, "caption": [caption]}, …]``; with ``df="corpus"`` document frequencies
                count the references of an image once per caption, as in the original.
        """
        scorer = self.cider_scorer.copy_empty()
        for entry in res:
            hypothesis, references = entry["caption"], gts[entry["image_id"]]
            check(type(hypothesis) is list and len(hypothesis) == 1, "'caption' must be a list of one caption")
            check(type(references) is list and len(references) > 0, "gts must contain lists of captions")
            scorer.cook_append(hypothesis[0], references)
        found: tuple[np.float64, npt.NDArray[np.float64]] = scorer.compute_score()
        return found

    def my_compute_score(
        self, gts: Sequence[Sequence[str]], res: Sequence[Sequence[str]], avg_refs: bool = True
    ) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the scores of the captions of each image, by saved document frequencies.

        Args:
            gts: the references of each image.
            res: the same number of captions for each image.
            avg_refs: ignored, as in the original.
        """
        import numpy as np

        scores = np.array([np.mean(self.cider_scorer.my_get_cider(*pair), 1) for pair in zip(gts, res)])
        average: np.float64 = np.mean(scores)
        return average, scores

    def my_self_cider(self, res: Iterable[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """For each image, the score of each of its captions against each, by saved document frequencies."""
        return [self.cider_scorer.my_get_self_cider(captions) for captions in res]
