"""Correlation of metrics with human ratings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._chair import Chair
from ._choices import Idf, Ids, OwnReference, Surplus, Unit
from ._data import Models, Vectors, data_of
from ._figure import Point, Shown, shown
from ._frequencies import DocumentFrequencies, Frequencies
from ._given import GivenScores, given, keys
from ._inputs import (
    Captionlike,
    Metrics,
    Pictures,
    Settings,
    digit_count,
    metric_options,
    reference_captions,
    refuse_beside_scores,
    resampling,
    table_columns,
    to_list,
    thread_count,
)
from ._judging import Judging
from ._progress import Listener, Progress
from ._rendered import Framed, Rendered
from ._report import Id

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Interval = tuple[float, float]


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


_COEFFICIENTS = {
    "pearson": "Pearson r",
    "spearman": "Spearman ρ",
    "tau_b": "Kendall τ-b",
    "tau_c": "Kendall τ-c",
    "accuracy": "pairwise accuracy",
}


class Correlation(Framed, Rendered):
    """The agreement of each measure with human ratings. Prints as a table."""

    _found: _engine.Correlation

    def __init__(self, found: _engine.Correlation) -> None:
        self._found = found
        self.agreements: dict[str, Agreement] = {key: _agreement(row) for key, row in found.agreements().items()}
        """By measure."""
        self.human: dict[str, Any] = found.human()
        """The ratings: numbers of images, items, ratings and points, scale, Krippendorff's alpha, Fleiss' kappa."""
        self.signatures: dict[str, str] = found.signatures()
        """Everything that can change a digit, by metric."""
        whole = self.to_dict()
        self.system_level: dict[str, dict[str, Any]] = {
            key: row["system_level"] for key, row in whole["correlations"].items() if row.get("system_level")
        }
        """By measure: coefficients over the corpus scores of systems, if the ratings name systems."""
        self.williams: list[dict[str, Any]] = whole.get("williams", [])
        """Williams' test of each pair of measures ``a`` and ``b``: is one correlation higher than the other?"""
        self.notices: list[tuple[str, str]] = found.notices()
        """Notices about the result: code and message."""

    def __getitem__(self, key: str) -> Agreement:
        """The agreement of a measure, by its key."""
        try:
            return self.agreements[key]
        except KeyError:
            raise KeyError(f"no measure is called {key!r}; there are {', '.join(self.agreements)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.agreements)

    def __contains__(self, key: object) -> bool:
        return key in self.agreements

    @property
    def points(self) -> tuple[list[Id], npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
        """The points that the coefficients are computed from: images, ratings, and scores by measure."""
        import numpy as np

        images, ratings, scores = self._found.points()
        return images, np.frombuffer(ratings), {key: np.frombuffer(values) for key, values in scores.items()}

    def plot(self, backend: str = "page") -> Shown:
        """Shows the coefficients in a notebook, a panel for each; takes `backend` as :meth:`Report.plot` does."""

        def panels() -> dict[str, list[Point]]:
            return {
                title: [
                    Point(measure, value, found.intervals.get(name))
                    for measure, found in self.agreements.items()
                    if (value := getattr(found, name)) is not None
                ]
                for name, title in _COEFFICIENTS.items()
            }

        return shown(backend, self.to_html, panels)

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for measure, found in self.agreements.items():
            row: dict[str, Any] = {"measure": measure}
            for name in _COEFFICIENTS:
                row[name] = getattr(found, name)
                if name in found.intervals:
                    row[f"{name}_low"], row[f"{name}_high"] = found.intervals[name]
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        import html

        def cell(found: Agreement, name: str) -> str:
            value, interval = getattr(found, name), found.intervals.get(name)
            if value is None:
                return "<td></td>"
            return f"<td>{value:.3f}</td>" if interval is None else f"<td>{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]</td>"

        head = "".join(f"<th>{title}</th>" for title in _COEFFICIENTS.values())
        body = "".join(
            f"<tr><th>{html.escape(measure)}</th>" + "".join(cell(found, name) for name in _COEFFICIENTS) + "</tr>"
            for measure, found in self.agreements.items()
        )
        notices = "".join(f"<li>{html.escape(message)}</li>" for _, message in self.notices)
        table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
        return table + (f"<ul>{notices}</ul>" if notices else "")

    def to_html(self, *, title: str | None = None, digits: int = 3) -> str:
        """Renders a page with the coefficients, and charts of scores and ratings."""
        return self._found.html(title, digit_count(digits))


def _agreement(row: dict[str, Any]) -> Agreement:
    names = tuple(_COEFFICIENTS)
    intervals = {name: row[f"{name}_interval"] for name in names if row[f"{name}_interval"] is not None}
    fields: dict[str, Any] = {name: row[name] for name in (*names, "n_pairs")}
    return Agreement(**fields, intervals=intervals)


def correlate(
    ratings: Any,
    references: Captionlike | None = None,
    metrics: Metrics = None,
    *,
    scores: GivenScores = None,
    lower_is_better: str | Sequence[str] = (),
    unit: Unit = "rating",
    own_reference: OwnReference = "keep",
    surplus: Surplus = "error",
    ids: Ids = "as-given",
    intervals: bool | float = False,
    resamples: int = 1_000,
    seed: int = 12_345,
    suite: str | None = None,
    tokenizer: str | None = None,
    settings: Settings = None,
    idf: Idf | None = None,
    document_frequencies: Frequencies = None,
    spice_cache: str | os.PathLike[str] | None = None,
    model: Models = None,
    vectors: Vectors = None,
    chair: Chair | None = None,
    judging: Judging | None = None,
    pictures: Pictures = None,
    score_cache: str | os.PathLike[str] | None = None,
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = None,
    df: Frequencies = None,
) -> Correlation:
    """Correlates metrics with human ratings: Pearson, Spearman, Kendall's tau-b and tau-c, pairwise accuracy.

    Args:
        ratings: the path of a file (Flickr8k's annotations, CLIPScore's format, a table); or dictionaries with
            ``image_id``, ``caption`` and ``rating`` (a number, or a list with one per rater), and optionally
            ``system``, which wrote the caption; or a table of pandas, polars or pyarrow with such columns.
        references: as for :func:`capeval.score`; not needed if the file of ratings contains them.
        metrics: as for :func:`capeval.score`.
        scores: as for :func:`capeval.score`; with a column or key ``caption`` where an image has several captions. Metrics
            are computed beside them only if some are named, or references given.
        lower_is_better: which of these scores are error rates, by key; ``ter`` and other known ones need not be listed.
        unit: the points to correlate:
            - ``"rating"``: each rating by each rater, as in the caption literature
            - ``"item"``: each item, with the mean of its ratings
        own_reference: what to do about a rated caption that is also a reference of its image:
            - ``"keep"``: score it against all references, itself included, with a notice
            - ``"remove"``: remove it from the references of its image
            - ``"remove-same-words"``: as remove, also references that differ only in case, punctuation and spaces
            - ``"hold-out"``: compare it with the other references, one caption at a time
            - ``"skip"``: leave it out, with its ratings or its pair
        surplus: what to do about ratings of images without references:
            - ``"error"``: stop, and name the images
            - ``"ignore"``: leave them out
        ids: as for :func:`capeval.score`.
        intervals: confidence intervals: ``True`` for 95 %, or a level.
        resamples: the number of resamples of the images for the intervals.
        seed: the seed of the random numbers.
        suite: as for :func:`capeval.score`.
        tokenizer: as for :func:`capeval.score`.
        settings: as for :func:`capeval.score`.
        idf: as for :func:`capeval.score`.
        document_frequencies: as for :func:`capeval.score`.
        spice_cache: as for :func:`capeval.score`.
        model: as for :func:`capeval.score`.
        vectors: as for :func:`capeval.score`.
        chair: as for :func:`capeval.score`.
        judging: as for :func:`capeval.score`.
        pictures: as for :func:`capeval.score`.
        score_cache: as for :func:`capeval.score`.
        split: as for :func:`capeval.score`.
        ref_format: as for :func:`capeval.score`.
        ref_id_column: as for :func:`capeval.score`.
        ref_caption_columns: as for :func:`capeval.score`.
        threads: the number of threads; see :func:`capeval.set_num_threads`.
        progress: as for :func:`capeval.score`.
        df: the former name of `document_frequencies`.

    Raises:
        ValueError: the ratings are invalid, or do not match the references.
        FileNotFoundError: a file does not exist.
    """
    is_path = isinstance(ratings, (str, os.PathLike))
    frequencies = DocumentFrequencies._given(document_frequencies, df)
    of_scoring = {
        "tokenizer": tokenizer is not None,
        "settings": bool(settings),
        "idf": idf is not None,
        "document_frequencies": frequencies is not None,
        "spice_cache": spice_cache is not None,
        "model": model is not None,
        "vectors": vectors is not None,
        "chair": chair is not None,
        "judging": judging is not None,
        "pictures": pictures is not None,
        "score_cache": score_cache is not None,
        "own_reference": own_reference != "keep",
        "surplus": surplus != "error",
    }
    if references is None and metrics is None and suite is None:
        refuse_beside_scores(scores, of_scoring)
    chosen = metric_options(metrics, suite, tokenizer, settings, idf)
    options = {
        "metrics": chosen.options,
        "lower_is_better": keys(lower_is_better),
        "unit": unit,
        "own_reference": own_reference,
        "surplus": surplus,
        "ids": ids,
        "intervals": resampling(intervals, resamples, seed),
    }
    ground = None
    if references is not None:
        ground = reference_captions(references, split, ref_format, ref_id_column, ref_caption_columns)
    data = data_of(
        DocumentFrequencies._table(frequencies),
        chosen,
        spice_cache=spice_cache,
        model=model,
        vectors=vectors,
        chair=chair,
        judging=judging,
        pictures=pictures,
        score_cache=score_cache,
    )
    rated = os.fspath(ratings) if is_path else _rows(ratings)
    with Listener(progress) as listener:
        return Correlation(_engine.correlate(rated, ground, given(scores), options, data, thread_count(threads), listener))


def _rows(ratings: Any) -> list[tuple[Any, str | None, str | None, list[float]]]:
    columns = table_columns(ratings)
    if columns is not None:
        values = {name: to_list(ratings, name) for name in columns}
        ratings = [dict(zip(values, row)) for row in zip(*values.values())]
    rows = []
    for k, record in enumerate(ratings):
        if not isinstance(record, Mapping):
            raise TypeError(f"rating {k} must be a dictionary with 'image_id', 'caption' and 'rating', not {record!r}")
        rating = record.get("rating", record.get("ratings"))
        if rating is None or "image_id" not in record:
            raise ValueError(f"rating {k} has no {'rating' if 'image_id' in record else 'image_id'!r}")
        many = [float(value) for value in rating] if isinstance(rating, Iterable) else [float(rating)]
        rows.append((record["image_id"], record.get("caption"), record.get("system"), many))
    return rows
