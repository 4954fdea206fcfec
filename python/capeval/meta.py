"""Benchmarks of metrics by name: how well metrics agree with people, beside what papers print.

:func:`list` names the benchmarks, :func:`show` says what is known of one, and :func:`run` runs metrics and given scores on
them. Their files are not part of capeval; :func:`show` says where they come from.

>>> import capeval
>>> capeval.meta.list()[:3]
['flickr8k-expert', 'elliott-keller-2014', 'flickr8k-cf']
>>> capeval.meta.show("composite")["coefficient"]
'tau-c'
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._data import calling
from ._given import given, keys
from ._inputs import Metrics, metric_options, refuse_beside_scores, resampling
from ._keywords import only, takes
from ._result import Interval, Keyed, ends
from .options import Benchmarking, MetricChoice, MetricData, RunOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Agreement", "MetaReport", "Published", "list", "run", "show"]


class Published(NamedTuple):
    """A published value beside what was measured."""

    source: str
    """The name of the source; ``show(name)["sources"]`` says which paper it is."""
    value: str
    """The value as it was printed, since its digits count."""
    scale: int
    """The factor by which the coefficient was multiplied there."""
    verdict: str
    """``"equal"``, ``"within"`` (it depends on chance), ``"known"`` (it is known to differ) or ``"differs"``."""
    difference: str
    """Measured minus published, in the digits that were published; empty if they are equal."""


class Agreement(NamedTuple):
    """The agreement of one measure with people on one benchmark."""

    value: float | None
    """The customary coefficient; None if it is undefined."""
    interval: Interval | None
    """Its confidence interval over resamples of the images."""
    letters: str
    """Measures that share a letter do not differ significantly on the same ratings."""
    published: tuple[Published, ...]
    """Its published values."""


class MetaReport(Keyed["dict[str, Agreement]"]):
    """Metrics on benchmarks. Tables show coefficients times 100."""

    _kind = "benchmark-run"
    _what = "benchmark"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        whole = self.to_dict()
        self.benchmarks: dict[str, dict[str, Agreement]] = {
            name: {key: _agreement(row) for key, row in benchmark["measures"].items()}
            for name, benchmark in whole["benchmarks"].items()
        }
        """By benchmark and measure."""
        self.unmet: Sequence[str] = found.unmet()
        """The published values that are not met, in words."""

    @property
    def _by_name(self) -> dict[str, dict[str, Agreement]]:
        return self.benchmarks

    def _frame(self) -> Sequence[dict[str, Any]]:
        rows = []
        for benchmark, measures in self.benchmarks.items():
            for measure, found in measures.items():
                low, high = found.interval or (None, None)
                row = {"benchmark": benchmark, "measure": measure, "value": found.value, "low": low, "high": high}
                rows.append({**row, "letters": found.letters})
        return rows


def _agreement(row: Mapping[str, Any]) -> Agreement:
    first = row["values"][0]
    published = tuple(
        Published(one["source"], one["value"], one["scale"], one["verdict"], one.get("difference", ""))
        for one in first.get("published", ())
    )
    interval = first["interval"]
    return Agreement(first["value"], None if interval is None else ends(interval), row.get("letters", ""), published)


def show(name: str) -> dict[str, Any]:
    """A benchmark: its files, how they are read, its customary coefficient, and published values.

    Raises:
        ValueError: there is no such benchmark.
    """
    known: dict[str, Any] = json.loads(_engine.benchmarks([name]))[0]
    return known


@takes(RunOptions, resamples=1_000)
def run(
    names: str | Sequence[str], data: str | os.PathLike[str], metrics: Metrics = None, **options: Unpack[RunOptions]
) -> MetaReport:
    """Runs metrics and given scores on benchmarks, and compares them with each other and with published values.

    Args:
        names: The benchmarks; see :func:`list`.
        data: The folder with their files, which are found by name or by content, compressed or not, and in archives.
        metrics: As for :func:`capeval.score`. Metrics are computed beside `scores` only if some are named. Scores need
            columns or keys ``image_id`` and ``caption``; they are a dictionary by benchmark if they differ.

    Raises:
        ValueError: a file is missing, or is not what it should be.
        FileNotFoundError: the folder does not exist.
    """
    named = [names] if isinstance(names, str) else [*names]
    of_benchmarks = _by_benchmark(options["scores"])
    if metrics is None and options["suite"] is None and of_benchmarks:
        refuse_beside_scores(options["scores"], options, MetricChoice, MetricData)
    chosen = metric_options(metrics, options)
    settings = {
        **only(options, Benchmarking),
        "metrics": chosen.options,
        "lower_is_better": keys(options["lower_is_better"]),
        "intervals": resampling(options["level"], options),
    }
    if settings["intervals"] is None:
        raise ValueError("level must be a number between 0 and 1 such as 0.95")
    with calling(chosen, options) as call:
        return MetaReport(_engine.run_benchmarks(named, os.fspath(data), of_benchmarks, settings, call))


def _by_benchmark(scores: Any) -> Any:
    """Scores with the benchmark that they are of; None for all."""
    known = set(list())
    if isinstance(scores, Mapping) and scores and all(key in known for key in scores):
        return [(name, one) for name, own in scores.items() for one in given(own)]
    return [(None, one) for one in given(scores)]


def list() -> Sequence[str]:
    """The names of all benchmarks."""
    return [benchmark["name"] for benchmark in json.loads(_engine.benchmarks([]))]
