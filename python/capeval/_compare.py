"""Whether systems differ."""

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
    """The result of one test; NaN where a score is no number."""

    value: float
    """How probable so large a difference is if there is none."""
    adjusted: float
    """The same, corrected for the number of tests."""


class Contrast(NamedTuple):
    """How two systems differ by one measure."""

    difference: float
    """The system's score less the baseline's, on the measure's own scale."""
    interval: tuple[float, float]
    """The percentile interval of the difference over resamples of the images."""
    bootstrap: P
    """The paired bootstrap, as sacreBLEU defines it."""
    randomisation: P
    """Paired approximate randomisation."""
    sign: P | None
    """The exact sign test over images, where the score is a mean."""
    permutation: P | None
    """The exact permutation test, where the score is a mean and few images differ."""
    wins: int
    """Images on which the system is better."""
    ties: int
    losses: int
    cohens_d: float
    """Mean of the differences of image scores over their standard deviation."""
    verdict: str
    """``"better"``, ``"worse"`` or ``"undecided"``."""


class Pair(NamedTuple):
    """Two systems."""

    baseline: str
    system: str
    contrasts: dict[str, Contrast]
    """By measure."""


class Comparison(Rendered):
    """Whether systems differ, by every measure. Prints as a table."""

    _found: _engine.Comparison

    def __init__(self, found: _engine.Comparison) -> None:
        self._found = found
        self.report = Report(found.report())
        """The systems' scores, with confidence intervals."""
        self.pairs: list[Pair] = [
            Pair(baseline, system, {key: _contrast(row) for key, row in contrasts.items()})
            for baseline, system, contrasts in found.pairs()
        ]
        """The pairs that were compared."""

    def __getitem__(self, key: tuple[str, str]) -> Contrast:
        """The contrast of ``(system, measure)`` with its baseline, where that is one."""
        system, measure = key
        pairs = [pair for pair in self.pairs if pair.system == system]
        if len(pairs) != 1 or measure not in pairs[0].contrasts:
            raise KeyError(f"{len(pairs)} pairs end in {system!r}; look into .pairs for measure {measure!r}")
        return pairs[0].contrasts[measure]

    def to_html(self, *, title: str | None = None, digits: int = 3) -> str:
        """A page that shows whether systems differ; with ``gallery=True`` every image too."""
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
    """Tells whether systems differ: paired tests by every metric, and confidence intervals.

    Images are resampled through their statistics, so that tests of BLEU, METEOR and TER are about the score of the
    corpus. The same seed gives the same digits.

    Args:
        references: as for :func:`capeval.score`.
        systems: at least two by name; the first one is the baseline.
        metrics: as for :func:`capeval.score`.
        level: of intervals and verdicts.
        resamples: how many resamples and exchanges are drawn.
        seed: what the random numbers start from.
        correction: of p-values for the number of tests: ``"holm"``, ``"bonferroni"``, ``"bh"`` or ``"none"``.
        all_pairs: compares every system with every other, not only with the first.
        settings: as for :func:`capeval.score`.
        df: as for :func:`capeval.score`.
        images: only these images.
        progress: as for :func:`capeval.score`.
        options: policies and so on, as for :func:`capeval.score`.

    Raises:
        ValueError: fewer than two systems, settings without sense, systems of different images.
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
