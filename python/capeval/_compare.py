"""Significance tests between systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, Metrics, Settings
from ._progress import Listener, Progress
from ._rendered import Rendered
from ._report import Id, Report
from ._score import _prepare

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


class Comparison(Rendered):
    """The differences between systems by every measure, with tests. Prints as a table."""

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

    def __getitem__(self, key: tuple[str, str]) -> Contrast:
        """The contrast for ``(system, measure)``, if the system was compared with only one baseline."""
        system, measure = key
        pairs = [pair for pair in self.pairs if pair.system == system]
        if len(pairs) != 1 or measure not in pairs[0].contrasts:
            raise KeyError(f"{len(pairs)} pairs end in {system!r}; look up measure {measure!r} in .pairs")
        return pairs[0].contrasts[measure]

    def to_html(self, *, title: str | None = None, digits: int = 3) -> str:
        """Renders a page of the differences between systems; with ``gallery=True`` also every image."""
        return self._found.html(", ".join(self.report.systems) if title is None else title, digits)


def _contrast(row: dict[str, Any]) -> Contrast:
    tests = ("bootstrap", "randomisation", "sign", "permutation")
    fields: dict[str, Any] = {k: P(*v) if k in tests and v is not None else v for k, v in row.items()}
    return Contrast(**fields)


def compare(
    references: Captionlike | Evaluator,
    systems: Mapping[str, Captionlike],
    metrics: Metrics = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 12_345,
    correction: str = "holm",
    all_pairs: bool = False,
    settings: Settings = None,
    df: DocumentFrequencies | str | None = None,
    images: Iterable[Id] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Comparison:
    """Tests whether systems differ: paired tests by every metric, and confidence intervals.

    Resampling draws images and sums their statistics, so the tests of BLEU, METEOR and TER apply to corpus scores.
    The same seed gives the same digits.

    Args:
        references: as for :func:`capeval.score`.
        systems: at least two systems by name; the first is the baseline.
        metrics: as for :func:`capeval.score`.
        level: the confidence level of intervals and verdicts.
        resamples: the number of resamples for the bootstrap and of shuffles for randomisation.
        seed: the seed of the random numbers.
        correction: how p-values are corrected for the number of tests: ``"holm"``, ``"bonferroni"``, ``"bh"`` or
            ``"none"``.
        all_pairs: compare every system with every other, not only with the first.
        settings: as for :func:`capeval.score`.
        df: as for :func:`capeval.score`.
        images: the ids of the images to use; the default is all images.
        progress: as for :func:`capeval.score`.
        options: policies and other options of :func:`capeval.score`.

    Raises:
        ValueError: there are fewer than two systems, an option is invalid, or the systems describe different images.
    """
    ground, read, names, table = _prepare(references, None, metrics, systems, settings, df)
    threads = options.pop("threads", None)
    listed = None if images is None else list(images)
    tests = {
        "score": {"segments": True, **options, "metrics": names, "images": listed},
        "resampling": {"level": level, "resamples": resamples, "seed": seed},
        "correction": correction,
        "all_pairs": all_pairs,
    }
    with Listener(progress) as listener:
        return Comparison(_engine.compare(ground, read, tests, table, threads, listener))
