"""The result of an evaluation."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._result import Id as Id
from ._result import Notice as Notice
from ._result import Result, number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas
    import polars

    from ._engine import Study


class _Measure(NamedTuple):
    key: str
    """The key in ``scores`` and ``segments``."""
    label: str
    """The name that tables show."""
    higher_is_better: bool | None
    """None if neither a higher nor a lower value is better."""
    min: float
    """The lowest possible value; may be infinite."""
    max: float
    """The highest possible value; may be infinite."""


class Measure(_Measure):
    """One of the scores that a metric computes, or that someone else computed: see :class:`capeval.Scores`."""

    __slots__ = ()

    def __new__(
        cls,
        name: str,
        range: tuple[float, float] = (-math.inf, math.inf),
        lower_is_better: bool | None = False,
    ) -> Measure:
        low, high = range
        return super().__new__(cls, name, name, None if lower_is_better is None else not lower_is_better, low, high)

    def __reduce__(self) -> tuple[Any, ...]:
        return Measure._make, (tuple(self),)


class System:
    """The scores of one system."""

    def __init__(self, found: Study, k: int) -> None:
        self._found = found
        self._k = k
        about = found.system(k)
        self.name: str = about["name"]
        """The name of the system."""
        self.source: str = about["source"]
        """The source of its captions, such as a path."""
        self.n_images: int = about["n_images"]
        """The number of images scored."""
        self.n_references: int = about["n_references"]
        """The number of references of these images."""
        self.scores: dict[str, float] = about["scores"]
        """The corpus score of each measure, on the measure's own scale."""
        self.signatures: dict[str, str] = about["signatures"]
        """By metric: a line that names everything that can change a digit."""
        self.intervals: dict[str, tuple[float, float]] = found.intervals(k) or {}
        """The confidence interval of each corpus score; empty unless requested."""
        n_runs, deviations = found.runs(k) or (1, {})
        self.n_runs: int = n_runs
        """The number of runs that the scores are means of; 1 unless several were given as ``runs``."""
        self.deviations: dict[str, float] = deviations
        """The standard deviation of each corpus score over the runs; empty if there is one run."""
        self._ids: list[Id] | None = None
        self._segments: dict[str, npt.NDArray[np.float64]] | None = None

    @property
    def ids(self) -> list[Id]:
        """The ids of the images, in the order of ``segments``; empty unless segments were requested."""
        if self._ids is None:
            self._ids = self._found.ids(self._k)
        return self._ids

    @property
    def segments(self) -> dict[str, npt.NDArray[np.float64]]:
        """By measure: the score of every image, float64 of shape ``(n_images,)`` in the order of ``ids``.

        Empty unless segments were requested.
        """
        if self._segments is None:
            import numpy as np

            raw = self._found.segments(self._k)
            keys = self._found.keys()
            if raw is None:
                self._segments = {}
            else:
                matrix = np.frombuffer(raw, dtype=np.float64).reshape(len(keys), -1)
                self._segments = dict(zip(keys, matrix))
        return self._segments

    def __getitem__(self, key: str) -> float:
        """The corpus score of a measure."""
        try:
            return self.scores[key]
        except KeyError:
            raise KeyError(_absence(key, self.scores, self._found)) from None

    def __repr__(self) -> str:
        scores = ", ".join(f"{key}={score:.4f}" for key, score in self.scores.items())
        return f"System({self.name!r}, {self.n_images} images, {scores})"


def _absence(key: str, scores: Mapping[str, float], found: Study) -> str:
    """Why a report has no measure `key`."""
    from . import _engine

    there = f"there are {', '.join(scores)}"
    metric = next((one for one in _engine.metrics() if key in (one["name"], *one["keys"])), None)
    if metric is None:
        return f"no measure is called {key!r}; {there}"
    if metric["name"] == key and any(own in scores for own in metric["keys"]):
        return f"the metric {key!r} has several measures; choose one of {', '.join(metric['keys'])}"
    said = re.compile(rf"(?<![\w-]){re.escape(metric['name'])}(?![\w-])")
    for _, message, *_ in found.notices():
        if said.search(message.lower()):
            return f"there is no {key!r}: {message}; {there}"
    return f"there is no {key!r}, since {metric['name']} was not asked for; name it in metrics; {there}"


def _groups(found: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """The scores of groups by property, group and system."""
    groups: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for by in found:
        of_property = groups.setdefault(by["by"], {})
        for row in by["groups"]:
            scores = {key: number(score) for key, score in row["scores"].items()}
            of_property.setdefault(row["group"], {})[row["system"]] = scores
    return groups


class Report(Result, Mapping[str, float]):
    """The result of an evaluation: systems with their scores, signatures, notices.

    If there is only one system, ``scores``, ``segments``, ``ids`` and ``signatures`` are those of that system, and
    ``report["cider-d"]`` is its score: the report is a mapping of measures to scores. Prints as a table, also in
    notebooks. It can be pickled and saved; what ``gallery=True`` collects for a page is left out then. Two reports are
    equal if all that is saved of them is.
    """

    _kind = "report"

    def __init__(self, found: Study) -> None:
        super().__init__(found)
        self.systems: dict[str, System] = {name: System(found, k) for k, name in enumerate(found.systems())}
        """The systems by name, in the order given."""
        self.measures: dict[str, Measure] = {row[0]: Measure._make(row) for row in found.measures()}
        """The measures by key, in the order of the metrics."""
        self.same_images: bool = found.same_images()
        """True if all systems were scored on the same images; if not, their scores are not comparable."""

    @functools.cached_property
    def groups(self) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
        """By property, group and system: the scores of the group, as in ``report.groups["domain"]["near"]["mine"]``."""
        return _groups(self.to_dict().get("groups", []))

    @property
    def _only(self) -> System:
        if len(self.systems) != 1:
            names = ", ".join(map(repr, self.systems))
            raise ValueError(f"the report has {len(self.systems)} systems; choose one with report.systems[…]: {names}")
        return next(iter(self.systems.values()))

    @property
    def scores(self) -> dict[str, float]:
        """The corpus scores of the only system.

        Raises:
            ValueError: if there are several systems.
        """
        return self._only.scores

    @property
    def segments(self) -> dict[str, npt.NDArray[np.float64]]:
        """The scores of every image of the only system; see :attr:`System.segments`."""
        return self._only.segments

    @property
    def ids(self) -> list[Id]:
        """The ids of the images of the only system, in the order of ``segments``."""
        return self._only.ids

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the only system, by metric."""
        return self._only.signatures

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The confidence intervals of the only system, by measure; empty unless requested."""
        return self._only.intervals

    @property
    def deviations(self) -> dict[str, float]:
        """The standard deviations of the only system's scores over its runs; empty if there is one run."""
        return self._only.deviations

    def __getitem__(self, key: str) -> float:
        """The corpus score of a measure, for the only system."""
        return self._only[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        """The number of measures."""
        return len(self.measures)

    def unmet(self, *requirements: str, bases: Mapping[str, Report] | None = None) -> list[str]:
        """Lists where requirements do not hold, in words, as ``capeval score --require`` does; empty if all hold.

        >>> import capeval
        >>> report = capeval.score({1: ["a dog runs", "the dog ran"], 2: ["two cats"]}, {1: "a dog", 2: "two cats"}, "rouge-l")
        >>> report.unmet("rouge-l >= 0.9")
        ['candidates does not meet rouge-l >= 0.9: 0.8861 is not at least 0.9000']

        Args:
            requirements: conditions on measures, such as ``"cider-d >= 1.2"`` and ``"spice >= base - 0.001"``, which every
                system must meet that they do not name. A system alone stands for what is before the relation, by this
                system; ``base[cider-d]`` is one of its scores.
            bases: earlier reports with systems that these may name; the only system of a report has the name that is given
                here.

        Raises:
            ValueError: a requirement cannot be read, or not be decided.
        """
        return self._found.unmet_requirements(list(requirements), [], _studies(bases))

    def log_dict(self, prefix: str = "") -> dict[str, float]:
        """The scores as trackers of experiments take them: a flat dictionary of numbers.

        The keys are measures behind `prefix`, and behind the name of the system if there are several. Intervals, if there are
        any, are ``…/low`` and ``…/high``, and standard deviations over runs ``…/sd``.

        >>> import capeval
        >>> report = capeval.score({1: ["a dog runs", "the dog ran"], 2: ["two cats"]}, {1: "a dog runs", 2: "two cats"}, "cider-d")
        >>> {key: round(score, 3) for key, score in report.log_dict("val/").items()}
        {'val/cider-d': 4.583}
        """
        logged: dict[str, float] = {}
        for name, system in self.systems.items():
            head = prefix if len(self.systems) == 1 else f"{prefix}{name}/"
            for key, score in system.scores.items():
                logged[head + key] = score
                if key in system.intervals:
                    logged[f"{head}{key}/low"], logged[f"{head}{key}/high"] = system.intervals[key]
                if key in system.deviations:
                    logged[f"{head}{key}/sd"] = system.deviations[key]
        return logged

    def to_pandas(self, *, segments: bool = False) -> pandas.DataFrame:
        """Converts the scores to a data frame with a column per measure and a row per system.

        With `segments`, it has a row per system and image.

        Raises:
            ImportError: if pandas is not installed.
        """
        import pandas as pd

        if not segments:
            frame: pandas.DataFrame = pd.DataFrame({name: system.scores for name, system in self.systems.items()}).T
            frame.index.name = "system"
            return frame
        parts = []
        for name, system in self.systems.items():
            part = pd.DataFrame({"image_id": system.ids, **system.segments})
            part.insert(0, "system", name)
            parts.append(part)
        whole: pandas.DataFrame = pd.concat(parts, ignore_index=True)
        return whole

    def to_polars(self, *, segments: bool = False) -> polars.DataFrame:
        """Converts the scores to a polars data frame, with a row per system, or with `segments` per system and image.

        Raises:
            ImportError: if polars is not installed.
        """
        import polars as pl

        systems = self.systems.items()
        if not segments:
            return pl.DataFrame([{"system": name, **system.scores} for name, system in systems])
        return pl.concat(
            pl.DataFrame({"image_id": system.ids, **system.segments}).insert_column(0, pl.lit(name).alias("system"))
            for name, system in systems
        )


def _studies(bases: Mapping[str, Report] | None) -> list[tuple[str, Study]]:
    """Reports with their names, for the engine."""
    return [(name, report._found) for name, report in (bases or {}).items()]
