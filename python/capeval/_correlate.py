"""Correlation of metrics with human ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._groups import by_group
from ._inputs import Captionlike, Metrics
from ._keywords import only, takes
from ._people import People, compared
from ._result import Id, Interval, Keyed, ends
from .options import CorrelateOptions, PairLook, RatedCaptions, RatingPoints

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack


class Agreement(NamedTuple):
    """The agreement of one measure with human ratings; a coefficient is None if scores or ratings are constant."""

    pearson: float | None
    spearman: float | None
    tau_b: float | None
    tau_c: float | None
    accuracy: float | None
    """How often the measure prefers the caption that people prefer, among captions of one image; 0 to 1."""
    n_pairs: int
    """The number of pairs of captions of one image that people rated differently."""
    intervals: dict[str, Interval]
    """Confidence intervals by coefficient; empty unless requested."""


_COEFFICIENTS = ("pearson", "spearman", "tau_b", "tau_c", "accuracy")


_RATINGS = {
    "source": "file",
    "n_images": "images",
    "n_items": "items",
    "n_ratings": "ratings",
    "n_points": "points",
    "scale": "scale",
    "krippendorff_alpha": "krippendorff_alpha",
    "fleiss_kappa": "fleiss_kappa",
}


class Correlation(Keyed[Agreement]):
    """The agreement of each measure with human ratings."""

    _kind = "correlation"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        whole = self.to_dict()
        self.agreements: dict[str, Agreement] = {key: _agreement(row) for key, row in whole["correlations"].items()}
        """By measure."""
        self.human: dict[str, Any] = {name: whole["ratings"][key] for name, key in _RATINGS.items()}
        """The ratings: numbers of images, items, ratings and points, scale, Krippendorff's alpha, Fleiss' kappa."""
        self.human["scale"] = ends(self.human["scale"])
        self.signatures: dict[str, str] = whole["signatures"]
        """Everything that can change a digit, by metric."""
        self.system_level: dict[str, dict[str, Any]] = {
            key: row["system_level"] for key, row in whole["correlations"].items() if row.get("system_level")
        }
        """By measure: coefficients over the corpus scores of systems, if the ratings name systems."""
        self.williams: list[dict[str, Any]] = whole["williams"]
        """Williams' test of each pair of measures ``a`` and ``b``: is one correlation higher than the other?"""

    @property
    def groups(self) -> dict[str, dict[str, dict[str, Agreement]]]:
        """By property, group and measure: the agreement in the group."""
        return by_group(self.to_dict(), lambda group: {key: _agreement(row) for key, row in group["correlations"].items()})

    @property
    def _by_name(self) -> dict[str, Agreement]:
        return self.agreements

    @property
    def points(self) -> tuple[list[Id], npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
        """The points that the coefficients are computed from: images, ratings, and scores by measure."""
        import numpy as np

        images, ratings, scores = self._found.points()
        return images, np.frombuffer(ratings), {key: np.frombuffer(values) for key, values in scores.items()}

    def _frame(self) -> list[dict[str, Any]]:
        rows = []
        for measure, found in self.agreements.items():
            row: dict[str, Any] = {"measure": measure}
            for name in _COEFFICIENTS:
                row[name] = getattr(found, name)
                if name in found.intervals:
                    row[f"{name}_low"], row[f"{name}_high"] = found.intervals[name]
            rows.append(row)
        return rows


def _agreement(row: dict[str, Any]) -> Agreement:
    intervals = {name: ends(found) for name, found in row.get("intervals", {}).items() if found is not None}
    fields: dict[str, Any] = {name: row[name] for name in _COEFFICIENTS}
    return Agreement(**fields, n_pairs=row["pairs"], intervals=intervals)


@takes(CorrelateOptions)
def correlate(
    ratings: Any, references: Captionlike | None = None, metrics: Metrics = None, **options: Unpack[CorrelateOptions]
) -> Correlation:
    """Correlates metrics with human ratings: Pearson, Spearman, Kendall's tau-b and tau-c, pairwise accuracy.

    >>> import capeval
    >>> ratings = [{"image_id": 1, "caption": "a dog runs", "rating": 5}, {"image_id": 1, "caption": "a cat", "rating": 1},
    ...            {"image_id": 2, "caption": "two cats", "rating": 4}, {"image_id": 2, "caption": "a dog", "rating": 2}]
    >>> found = capeval.correlate(ratings, {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}, "rouge-l")
    >>> found["rouge-l"].accuracy
    1.0

    Args:
        ratings: The path of a file (Flickr8k's annotations, CLIPScore's format, a table); or dictionaries with
            ``image_id``, ``caption`` and ``rating`` (a number, or a list with one per rater), and optionally
            ``system``, which wrote the caption, and ``references``; or a table of pandas, polars or pyarrow with such
            columns. They are read as a file with such records is. None and NaN are missing cells.
        references: As for :func:`capeval.score`; not needed if the file of ratings contains them.
        metrics: As for :func:`capeval.score`. Metrics are computed beside `scores` only if some are named, or references
            given. Scores need a column or key ``caption`` where an image has several captions.

    Raises:
        ValueError: the ratings are invalid, or do not match the references.
        FileNotFoundError: a file does not exist.
    """
    people = People("ratings", ratings, "'image_id', 'caption' and 'rating'")
    own = only(options, RatingPoints, PairLook, RatedCaptions)
    return Correlation(compared(_engine.correlate, people, references, metrics, options, own))
