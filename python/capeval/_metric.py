"""Metrics that are Python functions."""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set, Sized
from itertools import islice
from types import CodeType
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
        corpus: bool,
        keywords: Sequence[str],
        languages: Sequence[str],
        keeps: bool,
    ) -> None:
        self.name = name
        """The name in lists of metrics, signatures and reports."""
        self.measures = list(measures)
        """Its measures, with ranges and directions."""
        self._function = function
        self._keywords = keywords
        self._arguments = (name, function, measures, version, batch_size, needs_references, corpus, keywords, languages, keeps)
        self._engine()

    def _engine(self) -> _engine.Function:
        """The metric for the engine; made for each call, since no object that Python holds may hold itself through the engine."""
        name, function, measures, version, batch_size, needs_references, corpus, keywords, languages, keeps = self._arguments
        rows = [(measure.key, measure.min, measure.max, measure.higher_is_better is not False) for measure in measures]
        about = {
            "version": version,
            "batch": batch_size,
            "needs_references": needs_references,
            "corpus": corpus,
            "needs_pictures": _has_no_default(function, "images") if "images" in keywords else None,
            "languages": list(languages),
            "code": _fingerprint(function) if keeps else "",
            "knows_images": "ids" in keywords,
        }
        return _engine.Function(name, rows, self._score, about)

    def _without_kept_scores(self) -> Metric:
        """The same metric, whose scores are not kept for later calls."""
        return Metric(*self._arguments[:-1], False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric, self._arguments

    def __repr__(self) -> str:
        return f"capeval.metric({self.name!r}, …)"

    def _score(
        self, candidates: list[str], references: list[list[str]], ids: list[Any], images: list[Any], first: int
    ) -> list[list[float]]:
        """The scores of a batch, measure after measure."""
        where = f"captions {first + 1} to {first + len(candidates)} (images {_few(ids)})"
        # The function may do with its lists what it likes.
        known = {"ids": [*ids], "images": images}
        keywords = {name: value for name, value in known.items() if name in self._keywords}
        found = self._run(where, lambda: self._function(candidates, references, **keywords))
        columns = self._columns(found, len(ids), where)
        return [
            [self._number(measure, number, key) for number, key in zip(column, ids)]
            for measure, column in zip(self.measures, columns)
        ]

    def _run(self, where: str, code: Callable[[], Any]) -> Any:
        """Runs code of the function, such as that of a generator, and says where it failed."""
        try:
            return code()
        except Exception as error:
            raise RuntimeError(f"{self.name} failed on {where}: {type(error).__name__}: {error}") from error

    def _columns(self, found: Any, n: int, where: str) -> list[list[Any]]:
        """The returned objects, measure after measure: as many as there are captions."""
        if isinstance(found, Mapping):
            keys = [measure.key for measure in self.measures]
            if set(found) != set(keys):
                raise ValueError(f"{self.name} gave the measures {_few([*found])} for {where}, and is described with {_few(keys)}")
            returned = [found[key] for key in keys]
        elif len(self.measures) > 1:
            raise TypeError(
                f"{self.name} has {len(self.measures)} measures, so it must return a dictionary with a list for each, "
                f"not {type(found).__name__}"
            )
        else:
            returned = [found]
        return [self._column(one, n, where) for one in returned]

    def _column(self, column: Any, n: int, where: str) -> list[Any]:
        shape = getattr(column, "shape", None)
        if isinstance(shape, tuple) and len(shape) != 1:
            one = "one number for all captions" if not shape else f"an array of shape {tuple(shape)}"
            raise TypeError(f"{self.name} must return a list of numbers, one for each caption, not {one}")
        if hasattr(column, "tolist"):
            column = self._run(where, column.tolist)
        if isinstance(column, (str, bytes, Mapping, Set)) or not isinstance(column, Iterable):
            raise TypeError(f"{self.name} must return a list of numbers, one for each caption, not {type(column).__name__}")
        numbers: list[Any] = self._run(where, lambda: [*islice(column, n + 1)])
        if len(numbers) != n:
            count = len(column) if isinstance(column, Sized) else len(numbers) if len(numbers) < n else f"more than {n}"
            raise ValueError(f"{self.name} returned {count} scores for {n} captions: {where}")
        return numbers

    def _number(self, measure: Measure, number: Any, key: Any) -> float:
        of = "a row without id" if key is None else f"image {key!r}"
        what = f"{self.name}: the score by {measure.key} of {of} is"
        try:
            if hasattr(number, "item"):
                number = number.item()
            is_number = hasattr(number, "__float__") and not isinstance(number, (str, bytes))
            score = float(number) if is_number else math.nan
        except Exception as error:
            raise ValueError(f"{what} no number: {error}") from error
        if not is_number:
            raise TypeError(f"{what} {number!r}, not a number")
        if math.isnan(score):
            raise ValueError(f"{what} not a number (NaN)")
        if math.isinf(score):
            raise ValueError(f"{what} infinite; give the worst or the best score that there is instead")
        if not measure.min <= score <= measure.max:
            raise ValueError(f"{what} {score!r}, beyond its range from {measure.min!r} to {measure.max!r}")
        return score


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
    corpus: bool = False,
    language: str | Sequence[str] = (),
) -> Metric:
    """Makes a Python function a metric, which can stand in any list of metrics of captions: of :func:`score`,
    :func:`compare`, :func:`correlate`, :func:`prefer`, :class:`Evaluator`, :mod:`capeval.arrow` and :mod:`capeval.spark`.

    The function is called on the thread that calls capeval, so Ctrl-C interrupts it. It may use capeval itself. The metric can
    be pickled if the function can.

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
        function: is called with a list of candidates and a list of lists of references. If it has a parameter `ids`, it gets
            the ids of their images (None for a row of a table without id). If it has a parameter `images`, it gets their
            pictures, as the argument `pictures` of the call gives them: paths, or what a dictionary holds. If this parameter
            has a default, it gets None for an image without a picture, which is otherwise an error. It returns a number for
            each candidate, in a list, an array or a tensor; or a dictionary with such a list for each of `measures`. Captions
            are as they were given, not tokenised. Equal captions of an image are scored once.
        range: the lowest and the highest possible score.
        lower_is_better: whether lower scores are better.
        measures: what it measures, if that is more than one number, instead of `range` and `lower_is_better`.
        version: the version of the function, for signatures: scores are comparable if it is the same. With a version, scores
            are kept for later calls, see `score_cache` of :func:`score`.
        batch_size: the largest number of captions of a call.
        needs_references: whether the references are passed; without them, `function` is given empty lists.
        corpus: whether the score of a caption depends on the others, as those of CIDEr do. Then the function is called once for
            each system, with all its captions, whatever `batch_size`.
        language: the language that it is made for, or several, as codes such as ``"en"``; the default is all. A notice says
            if captions do not look like it.

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
        bool(corpus),
        _keywords(function),
        [language] if isinstance(language, str) else listed("language", language),
        bool(version),
    )


def _keywords(function: Callable[..., Any]) -> list[str]:
    """The names of parameters that may be passed by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return ["ids"]
    return [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _has_no_default(function: Callable[..., Any], name: str) -> bool:
    """True if a parameter must be passed."""
    return inspect.signature(function).parameters[name].default is inspect.Parameter.empty


_PLAIN = (bool, int, float, complex, str, bytes, type(None))
"""What is told apart by how it is written."""


def _fingerprint(function: Callable[..., Any]) -> str:
    """A hash of what a function is compiled to, and of the plain values that it is made with, so that scores of one that has
    changed are not taken for its own."""
    digest = hashlib.sha256()
    known: list[Any] = []

    def add(*parts: Any) -> None:
        for part in parts:
            if isinstance(part, _PLAIN):
                digest.update(f"{type(part).__name__} {part!r}\0".encode("utf-8", "backslashreplace"))
            elif isinstance(part, tuple):
                add(*part)
            elif isinstance(part, frozenset):
                # The order differs between processes.
                add(*sorted(map(repr, part)))
            elif all(part is not other for other in known):
                known.append(part)
                add_object(part)

    def add_object(part: Any) -> None:
        if isinstance(part, CodeType):
            add(part.co_code, part.co_names, part.co_consts)
        elif isinstance(part, functools.partial):
            add(part.func, part.args, tuple(part.keywords.items()))
        elif hasattr(part, "__code__"):
            cells = [cell.cell_contents for cell in part.__closure__ or () if _is_filled(cell)]
            add(part.__code__, *cells, part.__defaults__, tuple((part.__kwdefaults__ or {}).items()))
        elif hasattr(type(part).__call__, "__code__"):
            add(type(part).__call__)

    add(function)
    return digest.hexdigest()[:16]


def _is_filled(cell: Any) -> bool:
    """True if a variable that a function has from around it has a value."""
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _few(ids: Sequence[Any]) -> str:
    shown = ", ".join(map(str, ids[:_SHOWN]))
    return f"{shown}, …" if len(ids) > _SHOWN else shown
