"""Captions and settings in all forms that the package accepts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Union

from ._engine import Captions, caption_columns

Captionlike = Any
"""A path, a dictionary, a list, or a table of pandas, polars or pyarrow; see :func:`capeval.score`."""

Settings = Union[Mapping[str, object], None]
Metrics = Union[str, Iterable[str], None]


def captions(source: Captionlike, name: str, *, references: bool, format: str | None = None) -> Captions:
    """The captions of `source`, which errors call `name`."""
    if isinstance(source, Captions):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Captions.read(os.fspath(source), references=references, format=format)
    if format is not None:
        raise ValueError(f"format={format!r} is for files, but {name} is of type {type(source).__name__}")
    columns = table_columns(source)
    if columns is not None:
        return from_table(source, columns, name, references=references)
    if isinstance(source, (dict, list)):
        return Captions.of(source, name, references=references)
    if isinstance(source, Mapping):
        return Captions.of(dict(source), name, references=references)
    if hasattr(source, "__iter__") and not isinstance(source, bytes):
        return Captions.of(list(source), name, references=references)
    raise TypeError(
        f"{name}: captions must be a path, a dictionary, a list or a table of pandas, polars or pyarrow, not "
        f"{type(source).__name__}"
    )


def table_columns(source: object) -> list[str] | None:
    """The names of a table's columns; None if `source` is not a table."""
    if isinstance(source, (dict, list)):
        return None
    if hasattr(source, "column_names"):  # pyarrow.Table; a datasets.Dataset
        return list(source.column_names)
    if hasattr(source, "collect_schema"):  # polars
        return list(source.collect_schema().names())
    if hasattr(source, "columns") and hasattr(source, "dtypes"):  # pandas
        return [str(column) for column in source.columns]
    schema = getattr(source, "schema", None)
    if hasattr(source, "num_rows") and hasattr(schema, "names"):  # pyarrow.RecordBatch
        return list(schema.names)  # type: ignore[union-attr]
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow

        return list(pyarrow.table(source).column_names)
    return None


def from_table(source: Any, columns: Sequence[str], name: str, *, references: bool) -> Captions:
    """The captions of a table with a row per caption, several columns of captions, or a column of lists."""
    key, places = caption_columns(list(columns), name, references)
    wanted = [columns[place] for place in places]
    for column in wanted:
        if wanted.count(column) > 1:
            raise ValueError(f"{name}: the column {column!r} is given twice; leave out or rename one of them")
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):  # polars.LazyFrame
        source = source.select(wanted if key is None else [columns[key], *wanted]).collect()
    texts = to_list(source, wanted[0])
    if len(wanted) > 1:
        rows = zip(texts, *(to_list(source, column) for column in wanted[1:]))
        texts = [[text for cell in row for text in several(cell)] for row in rows]
    ids = list(range(len(texts))) if key is None else to_list(source, columns[key])
    return Captions.of_columns(ids, texts, name)


def several(cell: Any) -> list[Any]:
    """The captions of one cell, as a list; empty if the cell is missing."""
    if is_missing(cell):
        return []
    return [cell] if isinstance(cell, str) else list(cell)


def is_missing(cell: object) -> bool:
    """None, NaN, pandas.NA and pandas.NaT."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(math.isnan(cell))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def to_list(source: Any, column: str) -> list[Any]:
    """A column of a table as a list."""
    if not hasattr(source, "__getitem__"):
        import pyarrow

        source = pyarrow.table(source)
    values = source[column]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def settings(given: Settings) -> list[tuple[str, str]]:
    """Settings of metrics in the form that the engine takes."""
    return [(name, setting(value)) for name, value in (given or {}).items()]


def setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def metric_options(metrics: Metrics, given: Settings) -> dict[str, Any]:
    """Metrics and settings as the engine's options."""
    return {"names": metric_names(metrics), "settings": dict(settings(given))}


def resampling(level: bool | float, resamples: int, seed: int) -> dict[str, Any] | None:
    """The engine's options for confidence intervals; None for no intervals."""
    if not level:
        return None
    return {"level": 0.95 if level is True else float(level), "resamples": resamples, "seed": seed}


def metric_names(metrics: Metrics) -> list[str]:
    """The names of metrics as a list; None selects the suite ``coco``."""
    if metrics is None:
        return ["coco"]
    if isinstance(metrics, str):
        return [name.strip() for name in metrics.split(",")]
    names = list(metrics)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a metric is named by a string such as 'cider-d:sigma=4', not {name!r}")
    if not names:
        raise ValueError("the list of metrics is empty; leave it out for the metrics of COCO")
    return names


def whole(name: str, value: object, least: int, most: int, *, what: str = "a whole number") -> int:
    """The argument `name` as a whole number from `least` to `most`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    number = index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be {what} from {least} to {most}, not {number}")
    return number


def refuse_beside_scores(scores: object, given: Mapping[str, bool]) -> None:
    """Raises an error if scores are given together with arguments that would have no effect.

    `given` maps the names of these arguments to whether they are set.
    """
    names = [name for name, is_given in given.items() if is_given]
    if scores is not None and names:
        them = ", ".join(names)
        raise ValueError(f"{them}: no effect when scores are given; leave out {them}, or scores")
