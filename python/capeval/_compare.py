"""Significance tests between systems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._data import calling
from ._figure import Point, Shown, shown
from ._given import given, keys
from ._inputs import Captionlike, Metrics, ids_of
from ._keywords import only, takes
from ._progress import Progress
from ._rendered import Framed, Paged, Rendered, Savable
from ._report import Report
from ._score import by_name, prepare
from .options import CompareOptions, IdMatching, Level, Policies, ReportContents, Resampling, Testing

if TYPE_CHECKING:
    from typing_extensions import Unpack

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


class Comparison(Savable, Paged, Framed, Rendered):
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


@takes(CompareOptions)
def compare(
    references: Captionlike | Evaluator = None,
    systems: Mapping[str, Captionlike] | None = None,
    metrics: Metrics = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Tests whether systems differ: paired tests by every metric, and confidence intervals.

    Resampling draws images and sums their statistics, so the tests of BLEU, METEOR and TER apply to corpus scores.
    The same seed gives the same digits.

    >>> import capeval
    >>> references = {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}
    >>> systems = {"old": {1: "a dog", 2: "two dogs"}, "new": {1: "a dog runs", 2: "two cats"}}
    >>> round(capeval.compare(references, systems, "rouge-l")["new", "rouge-l"].difference, 3)
    0.364

    Args:
        references: As for :func:`capeval.score`.
        systems: At least two systems by name; the first is the baseline.
        metrics: As for :func:`capeval.score`.

    Raises:
        ValueError: there are fewer than two systems, an option is invalid, or the systems describe different images.
    """
    is_alone = options["scores"] is not None and references is None and systems is None
    ground, read, chosen = prepare(references, {} if is_alone else by_name(None, systems), metrics, options)
    scoring = {
        **only(options, Policies, IdMatching, ReportContents),
        "metrics": chosen.options,
        "images": ids_of(options["images"]),
        "lower_is_better": keys(options["lower_is_better"]),
    }
    tests = {**only(options, Testing), "score": scoring, "resampling": only(options, Level, Resampling)}
    with calling(chosen, options) as call:
        return Comparison(_engine.compare(ground, read, given(options["scores"]), tests, call))
