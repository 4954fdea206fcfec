"""Scores that someone else computed, in all forms that the package accepts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from . import _engine
from ._inputs import index_labels, listed, named_index, table_columns, to_list
from ._report import Measure


class Scores:
    """Scores that someone else computed, with what their file does not say.

    Args:
        source: the path of a file (JSON Lines as ``capeval score --segments`` writes them, CSV, TSV, JSON, Parquet,
            numpy's ``.npy``); a dictionary ``{id: number}`` or ``{id: {measure: number}}``, or one of these for each
            system by name as ``{system: {id: {measure: number}}}``; a list of dictionaries with ``image_id``; a table of
            pandas, polars or pyarrow with a column ``image_id``; or numbers in the order of `ids`. A column or key
            ``system`` tells which system each score is of.
        system: the name of the system, if `source` does not say it. It may be left out if only one system has captions.
        measures: what is known about measures: their names, ranges and directions.
        ids: the ids of numbers without any, in the same order.
    """

    def __init__(
        self,
        source: Any,
        system: str | None = None,
        *,
        measures: Measure | Iterable[Measure] = (),
        ids: Iterable[Any] | None = None,
    ) -> None:
        self.source = source
        self.system = system
        self.measures = [measures] if isinstance(measures, Measure) else listed("measures", measures)
        self.ids = None if ids is None else listed("ids", ids)
        for measure in self.measures:
            if not isinstance(measure, Measure):
                raise TypeError(f"a measure is described by capeval.Measure(name, range, lower_is_better), not {measure!r}")

    def _read(self) -> _engine.Scores:
        measures = [
            (
                measure.key,
                (measure.min, measure.max) if (measure.min, measure.max) != (-_INFINITY, _INFINITY) else None,
                None if measure.higher_is_better is None else not measure.higher_is_better,
            )
            for measure in self.measures
        ]
        source, stem = self.source, "scores"
        if isinstance(source, (str, os.PathLike)):
            source = os.fspath(source)
            stem = os.path.splitext(os.path.basename(source))[0]
        else:
            rows = _rows(source, self.ids, measures)
            if not rows:
                raise ValueError("scores: there are no scores")
            source = json.dumps(rows, default=_plain).encode()
        ids = self.ids if isinstance(source, str) else None
        return _engine.Scores.read(source, stem, self.system, ids, measures)


_INFINITY = float("inf")

GivenScores = Union[Any, Scores, None]
"""A source of scores, or several in a list; see :class:`capeval.Scores`."""


def given(scores: GivenScores) -> list[_engine.Scores]:
    """The scores in the form that the engine takes."""
    if scores is None:
        return []
    if isinstance(scores, (list, tuple)) and scores and all(isinstance(one, (str, os.PathLike, Scores)) for one in scores):
        several: Sequence[Any] = scores
    else:
        several = [scores]
    return [(one if isinstance(one, Scores) else Scores(one))._read() for one in several]


def keys(lower_is_better: str | Sequence[str]) -> list[str]:
    """The keys of error rates as a list."""
    return [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better)


def _rows(source: Any, ids: list[Any] | None, measures: list[Any]) -> list[dict[str, Any]]:
    """Rows with ``image_id``."""
    columns = table_columns(source)
    if columns is not None:
        values = {**named_index(source), **{name: to_list(source, name) for name in columns}}
        return [dict(zip(values, row)) for row in zip(*values.values())]
    name = measures[0][0] if len(measures) == 1 else "score"
    if isinstance(source, Mapping):
        if "per_item" in source:
            source = source["per_item"]
        if not isinstance(source, Mapping):
            raise TypeError(f"scores: per_item must be a dictionary from ids to scores, not {type(source).__name__}")
        return _of_ids(source, name)
    numbers = listed("scores", source)
    if all(isinstance(row, Mapping) for row in numbers):
        return [dict(row) for row in numbers]
    if ids is None:
        ids = index_labels(source)
    if ids is None:
        raise ValueError(
            f"scores: {len(numbers)} numbers without ids; pass a dictionary {{id: number}}, or capeval.Scores(numbers, ids=…)"
        )
    if len(ids) != len(numbers):
        raise ValueError(f"scores: there are {len(numbers)} numbers, and {len(ids)} ids")
    return [{"image_id": key, name: number} for key, number in zip(ids, numbers)]


def _of_ids(items: Mapping[Any, Any], name: str) -> list[dict[str, Any]]:
    inner = [value for value in items.values() if isinstance(value, Mapping)]
    if inner and len(inner) == len(items) and all(value and all(isinstance(v, Mapping) for v in value.values()) for value in inner):
        return [{"system": system, **row} for system, own in items.items() for row in _of_ids(own, name)]
    return [
        {"image_id": key, **value} if isinstance(value, Mapping) else {"image_id": key, name: value}
        for key, value in items.items()
    ]


def _plain(value: Any) -> Any:
    """Numbers of numpy and torch as Python's."""
    if hasattr(value, "item"):
        return value.item()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise TypeError(f"scores: {value!r} is neither a number nor an id")
