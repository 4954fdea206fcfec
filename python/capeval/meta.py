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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import _engine
from ._chair import Chair
from ._choices import Idf
from ._data import Models, Vectors, data_of
from ._frequencies import DocumentFrequencies, Frequencies
from ._given import GivenScores, given, keys
from ._inputs import (
    Metrics,
    Pictures,
    Settings,
    digit_count,
    metric_options,
    refuse_beside_scores,
    resampling,
    thread_count,
)
from ._judging import Judging
from ._progress import Listener, Progress
from ._rendered import Framed, Rendered

__all__ = ["Agreement", "MetaReport", "Published", "list", "run", "show"]

Interval = tuple[float, float]


class Published(NamedTuple):
    """A published value beside what was measured."""

    source: str
    """The name of the source; ``show(name)["sources"]`` says which paper it is."""
    value: str
    """The value as it was printed, since its digits count."""
    scale: int
    """What the coefficient was multiplied by there."""
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


class MetaReport(Framed, Rendered):
    """Metrics on benchmarks. Prints as a table, with coefficients times 100."""

    _found: _engine.MetaReport

    def __init__(self, found: _engine.MetaReport) -> None:
        self._found = found
        whole = self.to_dict()
        self.benchmarks: dict[str, dict[str, Agreement]] = {
            name: {key: _agreement(row) for key, row in benchmark["measures"].items()}
            for name, benchmark in whole["benchmarks"].items()
        }
        """By benchmark and measure."""
        self.unmet: Sequence[str] = found.unmet()
        """The published values that are not met, in words."""
        self.notices: Sequence[tuple[str, str]] = found.notices()
        """Notices about the result: code and message."""

    def __getitem__(self, name: str) -> dict[str, Agreement]:
        """The agreement of each measure on a benchmark, by its name."""
        try:
            return self.benchmarks[name]
        except KeyError:
            raise KeyError(f"{name!r} was not run; there are {', '.join(self.benchmarks)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.benchmarks)

    def __contains__(self, name: object) -> bool:
        return name in self.benchmarks

    def _rows(self) -> Sequence[dict[str, Any]]:
        rows = []
        for benchmark, measures in self.benchmarks.items():
            for measure, found in measures.items():
                low, high = found.interval or (None, None)
                row = {"benchmark": benchmark, "measure": measure, "value": found.value, "low": low, "high": high}
                rows.append({**row, "letters": found.letters})
        return rows

    def __str__(self) -> str:
        return self._found.render("table", 1).rstrip("\n")

    def to_markdown(self, digits: int = 1) -> str:
        """Renders a Markdown table, for a web page or a pull request."""
        return self._found.render("markdown", digit_count(digits))

    def to_latex(self, digits: int = 1) -> str:
        """Renders a LaTeX table, for a paper."""
        return self._found.render("latex", digit_count(digits))

    def to_html(self, *, title: str | None = None, digits: int = 1) -> str:
        """Renders a page with the tables, and charts of the coefficients."""
        return self._found.html(title, digit_count(digits))


def _agreement(row: Mapping[str, Any]) -> Agreement:
    first = row["values"][0]
    published = tuple(
        Published(one["source"], one["value"], one["scale"], one["verdict"], one.get("difference", ""))
        for one in first.get("published", ())
    )
    interval = first["interval"]
    return Agreement(first["value"], None if interval is None else tuple(interval), row.get("letters", ""), published)


def show(name: str) -> dict[str, Any]:
    """What is known of a benchmark: its files, how they are read, its customary coefficient, and published values.

    Raises:
        ValueError: there is no such benchmark.
    """
    known: dict[str, Any] = json.loads(_engine.benchmarks([name]))[0]
    return known


def run(
    names: str | Sequence[str],
    data: str | os.PathLike[str],
    metrics: Metrics = None,
    *,
    scores: GivenScores | Mapping[str, GivenScores] = None,
    lower_is_better: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int = 12_345,
    subset: bool = False,
    differences: bool = False,
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
    threads: int | None = None,
    progress: Progress = None,
) -> MetaReport:
    """Runs metrics and given scores on benchmarks, and compares them with each other and with published values.

    Args:
        names: the benchmarks; see :func:`list`.
        data: the folder with their files, which are found by name or by content, packed or not, and in archives.
        metrics: as for :func:`capeval.score`.
        scores: as for :func:`capeval.correlate`, with columns or keys ``image_id`` and ``caption``; a dictionary by benchmark,
            if they differ. Metrics are computed beside them only if some are named.
        lower_is_better: which of these scores are error rates, by key; ``ter`` and other known ones need not be listed.
        level: the level of intervals and tests.
        resamples: the number of resamples of the images.
        seed: the seed of the random numbers.
        subset: whether the files may hold other numbers of captions than the published ones.
        differences: whether tables show every pair of metrics.
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
        threads: the number of threads; see :func:`capeval.set_num_threads`.
        progress: as for :func:`capeval.score`.

    Raises:
        ValueError: a file is missing, or is not what it should be.
        FileNotFoundError: the folder does not exist.
    """
    frequencies = DocumentFrequencies._given(document_frequencies, None)
    named = [names] if isinstance(names, str) else [*names]
    of_benchmarks = _by_benchmark(scores)
    if metrics is None and suite is None and of_benchmarks:
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
        }
        refuse_beside_scores(scores, of_scoring)
    chosen = metric_options(metrics, suite, tokenizer, settings, idf)
    options = {
        "metrics": chosen.options,
        "lower_is_better": keys(lower_is_better),
        "intervals": resampling(level, resamples, seed),
        "subset": subset,
        "differences": differences,
    }
    if options["intervals"] is None:
        raise ValueError("level must be a number between 0 and 1 such as 0.95")
    files = data_of(
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
    with Listener(progress) as listener:
        found = _engine.run_benchmarks(
            named, os.fspath(data), of_benchmarks, options, files, thread_count(threads), listener
        )
    return MetaReport(found)


def _by_benchmark(scores: Any) -> Any:
    """Scores with the benchmark that they are of; None for all."""
    known = set(list())
    if isinstance(scores, Mapping) and scores and all(key in known for key in scores):
        return [(name, one) for name, own in scores.items() for one in given(own)]
    return [(None, one) for one in given(scores)]


def list() -> Sequence[str]:
    """The names of all benchmarks."""
    return [benchmark["name"] for benchmark in json.loads(_engine.benchmarks([]))]
