"""Metrics that are Python functions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _engine
from ._inputs import listed, whole
from ._report import Measure

_SHOWN = 3
"""How many ids an error names."""


class Metric:
    """A metric that is a Python function, made by :func:`capeval.metric`; it can stand in any list of metrics.

    Its corpus scores are means of its scores of captions.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        measures: Sequence[Measure],
        version: str,
        batch_size: int,
        needs_references: bool,
        keywords: Sequence[str],
    ) -> None:
        self.name = name
        """The name in lists of metrics, signatures and reports."""
        self.measures = list(measures)
        """Its measures, with ranges and directions."""
        self._function = function
        self._keywords = keywords
        self._engine = _engine.Function(
            name,
            [(measure.key, measure.min, measure.max, measure.higher_is_better is not False) for measure in measures],
            version,
            batch_size,
            needs_references,
            self._score,
        )

    def __repr__(self) -> str:
        return f"capeval.metric({self.name!r}, …)"

    def _score(self, candidates: list[str], references: list[list[str]], ids: list[Any], first: int) -> list[list[float]]:
        """The scores of a batch, measure after measure."""
        where = f"captions {first + 1} to {first + len(candidates)} (images {_few(ids)})"
        keywords = {"ids": ids} if "ids" in self._keywords else {}
        try:
            found = self._function(candidates, references, **keywords)
        except Exception as error:
            raise RuntimeError(f"{self.name} failed on {where}: {type(error).__name__}: {error}") from error
        if isinstance(found, Mapping):
            keys = [measure.key for measure in self.measures]
            if set(found) != set(keys):
                raise ValueError(f"{self.name} gave the measures {_few(list(found))} for {where}, and is described with {_few(keys)}")
            columns = [found[key] for key in keys]
        elif len(self.measures) > 1:
            raise TypeError(
                f"{self.name} has {len(self.measures)} measures, so it must return a dictionary with a list for each, "
                f"not {type(found).__name__}"
            )
        else:
            columns = [found]
        return [self._numbers(measure, column, ids, where) for measure, column in zip(self.measures, columns)]

    def _numbers(self, measure: Measure, column: Any, ids: list[Any], where: str) -> list[float]:
        if hasattr(column, "tolist"):
            column = column.tolist()
        if isinstance(column, (str, bytes, Mapping)) or not isinstance(column, Iterable):
            raise TypeError(f"{self.name} must return a list of numbers, one for each caption, not {type(column).__name__}")
        numbers = list(column)
        if len(numbers) != len(ids):
            raise ValueError(f"{self.name} returned {len(numbers)} scores for {len(ids)} captions: {where}")
        for place, number in enumerate(numbers):
            if hasattr(number, "item"):
                number = number.item()
            if isinstance(number, (str, bytes)) or not hasattr(number, "__float__"):
                raise TypeError(f"{self.name}: the score by {measure.key} of image {ids[place]!r} is {number!r}, not a number")
            number = numbers[place] = float(number)
            if math.isnan(number):
                raise ValueError(f"{self.name}: the score by {measure.key} of image {ids[place]!r} is not a number (NaN)")
            if not measure.min <= number <= measure.max:
                raise ValueError(
                    f"{self.name}: the score by {measure.key} of image {ids[place]!r} is {number!r}, beyond its range from "
                    f"{measure.min!r} to {measure.max!r}"
                )
        return numbers


def metric(
    name: str,
    function: Callable[..., Any],
    *,
    range: tuple[float, float] = (-math.inf, math.inf),
    lower_is_better: bool = False,
    measures: Iterable[Measure] | None = None,
    version: str = "",
    batch_size: int = 256,
    needs_references: bool = True,
) -> Metric:
    """Makes a Python function a metric, for the argument `metrics` of :func:`score`, :func:`compare`, :func:`correlate` and
    :func:`prefer`.

    >>> import math
    >>> import capeval
    >>> def length_ratio(candidates, references):
    ...     return [len(c.split()) / max(len(r.split()) for r in rs) for c, rs in zip(candidates, references)]
    >>> ratio = capeval.metric("length-ratio", length_ratio, range=(0, math.inf))
    >>> report = capeval.score({1: ["a dog runs", "the dog"]}, {1: "a dog"}, metrics=["bleu", ratio])
    >>> round(report["length-ratio"], 3)
    0.667

    Args:
        name: the name in reports and signatures: lower-case letters, digits and hyphens.
        function: is called with a list of candidates and a list of lists of references, and with the ids of their images as
            `ids` if it has such a parameter. It returns a number for each candidate, in a list, an array or a tensor; or a
            dictionary with such a list for each of `measures`. Captions are as they were given, not tokenised. Equal captions
            of an image are scored once.
        range: the lowest and the highest possible score.
        lower_is_better: whether lower scores are better.
        measures: what it measures, if that is more than one number, instead of `range` and `lower_is_better`.
        version: the version of the function, for signatures: scores are comparable if it is the same.
        batch_size: the largest number of captions of a call.
        needs_references: whether the references are passed; without them, `function` is given empty lists.

    Raises:
        ValueError: the name is that of a metric of capeval, or no name.
    """
    if not callable(function):
        raise TypeError(f"a metric is a function, not {type(function).__name__}")
    if measures is None:
        described = [Measure(name, range, lower_is_better)]
    else:
        described = listed("measures", measures)
    for measure in described:
        if not isinstance(measure, Measure):
            raise TypeError(f"a measure is described by capeval.Measure(name, range, lower_is_better), not {measure!r}")
    return Metric(
        name,
        function,
        described,
        str(version),
        whole("batch_size", batch_size, 1, 2**31),
        bool(needs_references),
        _keywords(function),
    )


def functions(metrics: Any) -> list[_engine.Function]:
    """The functions in a list of metrics."""
    if isinstance(metrics, (str, Mapping)) or not isinstance(metrics, Iterable):
        return []
    return [one._engine for one in metrics if isinstance(one, Metric)]


def _keywords(function: Callable[..., Any]) -> list[str]:
    """The names of parameters that may be passed by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return ["ids"]
    return [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _few(ids: Sequence[Any]) -> str:
    shown = ", ".join(map(str, ids[:_SHOWN]))
    return f"{shown}, …" if len(ids) > _SHOWN else shown
