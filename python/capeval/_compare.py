"""Significance tests between systems."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._chair import Chair
from ._choices import Correction, Duplicate, Empty, Idf, Ids, Missing, Surplus
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
    ids_of,
    metric_options,
    thread_count,
)
from ._judging import Judging
from ._progress import Listener, Progress
from ._rendered import Framed, Rendered, Savable
from ._report import Id, Report
from ._score import by_name, prepare

if TYPE_CHECKING:
    from ._evaluator import Evaluator


class P(NamedTuple):
    """The p-value of one test; NaN where a score is NaN."""

    value: float
    """The probability of a difference this large if the systems are equally good."""
    adjusted: float
    """The p-value after correction for the number of tests."""


class Contrast(NamedTuple):
    """How two systems differ by one measure."""

    difference: float
    """The system's score minus the baseline's, on the measure's own scale."""
    interval: tuple[float, float]
    """The percentile interval of the difference, from resamples of the images."""
    bootstrap: P
    """The paired bootstrap, as sacreBLEU defines it."""
    randomisation: P
    """Paired approximate randomisation."""
    sign: P | None
    """The exact sign test over images; None unless the corpus score is a mean of image scores."""
    permutation: P | None
    """The exact permutation test; None unless the corpus score is a mean and few images differ."""
    wins: int
    """The number of images on which the system is better."""
    ties: int
    losses: int
    cohens_d: float
    """The mean of the differences of image scores, divided by their standard deviation."""
    verdict: str
    """``"better"``, ``"worse"`` or ``"undecided"``."""


class Pair(NamedTuple):
    """Two systems and how they differ."""

    baseline: str
    system: str
    contrasts: dict[str, Contrast]
    """By measure."""


class Comparison(Savable, Framed, Rendered):
    """The differences between systems by every measure, with tests. Prints as a table.

    It can be pickled and saved, as a :class:`Report` can.
    """

    _found: _engine.Comparison

    def __init__(self, found: _engine.Comparison) -> None:
        self._found = found
        self.report = Report(found.report())
        """The scores of the systems, with confidence intervals."""
        self.pairs: list[Pair] = [
            Pair(baseline, system, {key: _contrast(row) for key, row in contrasts.items()})
            for baseline, system, contrasts in found.pairs()
        ]
        """The pairs that were compared."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Comparison:
        """Reads a comparison that was written by :meth:`save`, by ``capeval compare --save`` or as JSON.

        Raises:
            OSError: if the file cannot be opened.
            ValueError: if it is not a comparison.
        """
        return cls(_engine.Comparison.load(os.fspath(path)))

    def __getitem__(self, key: tuple[str, str]) -> Contrast:
        """The contrast for ``(system, measure)``, if the system was compared with only one baseline."""
        system, measure = key
        pairs = [pair for pair in self.pairs if pair.system == system]
        if len(pairs) != 1 or measure not in pairs[0].contrasts:
            raise KeyError(f"{len(pairs)} pairs end in {system!r}; look up measure {measure!r} in .pairs")
        return pairs[0].contrasts[measure]

    def to_html(
        self, *, title: str | None = None, digits: int = 3, threads: int | None = None, progress: Progress = None
    ) -> str:
        """Renders a page of the differences between systems; with ``gallery=True`` also every image.

        The arguments are those of :meth:`Report.to_html`.
        """
        with Listener(progress) as listener:
            return self._found.html(title, digit_count(digits), thread_count(threads), listener)

    def plot(self, backend: str = "page") -> Shown:
        """Shows the differences with their intervals in a notebook; takes `backend` as :meth:`Report.plot` does."""

        def panels() -> dict[str, list[Point]]:
            measures = self.report.measures.items()
            return {
                measure.label: [
                    Point(f"{pair.system} − {pair.baseline}", contrast.difference, contrast.interval)
                    for pair in self.pairs
                    if (contrast := pair.contrasts.get(key)) is not None
                ]
                for key, measure in measures
            }

        return shown(backend, self.to_html, panels)

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for pair in self.pairs:
            for measure, contrast in pair.contrasts.items():
                row: dict[str, Any] = {"baseline": pair.baseline, "system": pair.system, "measure": measure}
                for name, value in contrast._asdict().items():
                    if name == "interval":
                        row["low"], row["high"] = value
                    elif isinstance(value, P):
                        row[f"{name}_p"], row[f"{name}_adjusted"] = value
                    elif name in ("sign", "permutation"):
                        row[f"{name}_p"] = row[f"{name}_adjusted"] = None
                    else:
                        row[name] = value
                rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        import html

        shown = {
            "system": "system",
            "baseline": "against",
            "measure": "measure",
            "difference": "difference",
            "low": "low",
            "high": "high",
            "randomisation_adjusted": "p (randomisation, adjusted)",
            "verdict": "verdict",
        }
        head = "".join(f"<th>{title}</th>" for title in shown.values())
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(row[name]))}</td>" for name in shown) + "</tr>" for row in self._rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _contrast(row: dict[str, Any]) -> Contrast:
    tests = ("bootstrap", "randomisation", "sign", "permutation")
    fields: dict[str, Any] = {k: P(*v) if k in tests and v is not None else v for k, v in row.items()}
    return Contrast(**fields)


def compare(
    references: Captionlike | Evaluator = None,
    systems: Mapping[str, Captionlike] | None = None,
    metrics: Metrics = None,
    *,
    scores: GivenScores = None,
    lower_is_better: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 12_345,
    correction: Correction = "holm",
    all_pairs: bool = False,
    suite: str | None = None,
    tokenizer: str | None = None,
    settings: Settings = None,
    idf: Idf | None = None,
    document_frequencies: Frequencies = None,
    lm: str | os.PathLike[str] | None = None,
    spice_cache: str | os.PathLike[str] | None = None,
    model: Models = None,
    vectors: Vectors = None,
    chair: Chair | None = None,
    judging: Judging | None = None,
    pictures: Pictures = None,
    score_cache: str | os.PathLike[str] | None = None,
    missing: Missing = "error",
    surplus: Surplus = "error",
    duplicate: Duplicate = "error",
    empty: Empty = "error",
    ids: Ids = "as-given",
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
    input_format: str | None = None,
    id_column: str | None = None,
    caption_column: str | None = None,
    images: Iterable[Id] | None = None,
    segments: bool = True,
    gallery: bool = False,
    threads: int | None = None,
    progress: Progress = None,
    df: Frequencies = None,
) -> Comparison:
    """Tests whether systems differ: paired tests by every metric, and confidence intervals.

    Resampling draws images and sums their statistics, so the tests of BLEU, METEOR and TER apply to corpus scores.
    The same seed gives the same digits.

    Args:
        references: as for :func:`capeval.score`.
        systems: at least two systems by name; the first is the baseline.
        metrics: as for :func:`capeval.score`.
        scores: as for :func:`capeval.score`.
        lower_is_better: as for :func:`capeval.score`.
        level: the confidence level of intervals and verdicts.
        resamples: the number of resamples for the bootstrap and of shuffles for randomisation.
        seed: the seed of the random numbers.
        correction: how p-values are corrected for the number of tests:
            - ``"none"``: none
            - ``"bonferroni"``: multiplied by the number of tests; bounds the chance of a false finding
            - ``"holm"``: stepwise from the smallest (Holm 1979); bounds the same chance, finds more
            - ``"bh"``: stepwise from the largest (Benjamini, Hochberg 1995); bounds their share
        all_pairs: compare every system with every other, not only with the first.
        suite: as for :func:`capeval.score`.
        tokenizer: as for :func:`capeval.score`.
        settings: as for :func:`capeval.score`.
        idf: as for :func:`capeval.score`.
        document_frequencies: as for :func:`capeval.score`.
        lm: as for :func:`capeval.score`.
        spice_cache: as for :func:`capeval.score`.
        model: as for :func:`capeval.score`.
        vectors: as for :func:`capeval.score`.
        chair: as for :func:`capeval.score`.
        judging: as for :func:`capeval.score`.
        pictures: as for :func:`capeval.score`.
        score_cache: as for :func:`capeval.score`.
        missing: as for :func:`capeval.score`.
        surplus: as for :func:`capeval.score`.
        duplicate: as for :func:`capeval.score`.
        empty: as for :func:`capeval.score`.
        ids: as for :func:`capeval.score`.
        split: as for :func:`capeval.score`.
        ref_format: as for :func:`capeval.score`.
        ref_id_column: as for :func:`capeval.score`.
        ref_caption_columns: as for :func:`capeval.score`.
        input_format: as for :func:`capeval.score`.
        id_column: as for :func:`capeval.score`.
        caption_column: as for :func:`capeval.score`.
        images: the ids of the images to use; the default is all images.
        segments: as for :func:`capeval.score`.
        gallery: whether :meth:`Comparison.to_html` shows every image.
        threads: as for :func:`capeval.score`.
        progress: as for :func:`capeval.score`.
        df: the former name of `document_frequencies`.

    Raises:
        ValueError: there are fewer than two systems, an option is invalid, or the systems describe different images.
    """
    is_alone = scores is not None and references is None and systems is None
    ground, read, chosen, table = prepare(
        references,
        {} if is_alone else by_name(None, systems),
        metric_options(metrics, suite, tokenizer, settings, idf),
        DocumentFrequencies._given(document_frequencies, df),
        {"split": split, "format": ref_format, "id_column": ref_id_column, "caption_columns": ref_caption_columns},
        {"format": input_format, "id_column": id_column, "caption_columns": caption_column},
    )
    scoring = {
        "metrics": chosen.options,
        "lower_is_better": keys(lower_is_better),
        "missing": missing,
        "surplus": surplus,
        "duplicate": duplicate,
        "empty": empty,
        "ids": ids,
        "images": ids_of(images),
        "segments": segments,
        "gallery": gallery,
    }
    tests = {
        "score": scoring,
        "resampling": {"level": level, "resamples": resamples, "seed": seed},
        "correction": correction,
        "all_pairs": all_pairs,
    }
    data = data_of(
        table,
        chosen,
        lm=lm,
        spice_cache=spice_cache,
        model=model,
        vectors=vectors,
        chair=chair,
        judging=judging,
        pictures=pictures,
        score_cache=score_cache,
    )
    with Listener(progress) as listener:
        return Comparison(_engine.compare(ground, read, given(scores), tests, data, thread_count(threads), listener))
