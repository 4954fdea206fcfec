"""Records of what people said of captions, as JSON for the readers of files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ._inputs import is_missing, table_columns, to_list


def as_json(records: Any, name: str, keys: str) -> bytes:
    """The records, or the rows of a table; `name` stands in errors, and `keys` are those that most have."""
    columns = table_columns(records)
    if columns is not None:
        twice = next((column for k, column in enumerate(columns) if column in columns[:k]), None)
        if twice is not None:
            raise ValueError(f"{name}: the column {twice!r} is given twice; leave out or rename one of them")
        if hasattr(records, "collect_schema") and hasattr(records, "collect"):  # polars.LazyFrame
            records = records.collect()
        values = {column: to_list(records, column) for column in columns}
        records = [dict(zip(values, row)) for row in zip(*values.values())]
    if isinstance(records, (Mapping, bytes)) or not hasattr(records, "__iter__"):
        kind = type(records).__name__
        raise TypeError(f"{name} must be a path, dictionaries in a list, or a table, not of type {kind}")
    return json.dumps([_row(row, keys, f"{name} (record {k})") for k, row in enumerate(records, 1)]).encode()


def _row(row: Any, keys: str, place: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise TypeError(f"{place}: expected a dictionary with {keys}, not {row!r}")
    found = {}
    for name, cell in row.items():
        if not isinstance(name, str):
            raise TypeError(f"{place}: a key must be a string, not {name!r}")
        if not is_missing(cell) and not _is_opaque(cell):
            plain = _plain(cell, f"{place}: {_plain(name, place)}")
            # pandas stores a column of whole numbers with a missing cell as floats.
            is_whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**63
            found[name] = int(plain) if is_whole else plain
    return found


def _is_opaque(value: Any) -> bool:
    """True for what no file of records could hold, such as a decoded picture beside a rating."""
    return not any(hasattr(value, name) for name in ("__iter__", "__float__", "isoformat", "tolist", "to_pylist", "to_list"))


def _plain(value: Any, place: str) -> Any:
    """The value as one of JSON's types; `place` names the record and the field."""
    for method in ("tolist", "to_pylist", "to_list"):  # numpy and pandas, pyarrow, polars
        if hasattr(value, method):
            value = getattr(value, method)()
            break
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{place}: {value!r} is not Unicode text; remove the lone surrogate") from None
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place}: {value} is not a finite number")
        return float(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__float__"):  # decimals and fractions
        return _plain(float(value), place)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, place) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, place) for inner in value]
    remedy = "; write a list, which has an order" if isinstance(value, (set, frozenset)) else ""
    raise TypeError(f"{place}: a record cannot contain a value of type {type(value).__name__}{remedy}")
