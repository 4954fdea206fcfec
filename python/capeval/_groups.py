"""What groups images, in the form that the engine takes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._inputs import table_columns, table_records

Result = TypeVar("Result")


def wanted(
    options: Any, sources: list[Any], rows: str = "captions 1"
) -> tuple[list[str], list[tuple[str, str]], list[str], list[str]]:
    """What groups images: texts, groups as JSON by name, paths among the `sources` of captions, and columns of ids.

    The first of the sources is called `rows`, if it is a table.
    """
    groups = options["groups"]
    texts: list[str] = []
    data: list[tuple[str, str]] = []
    for one in groups if isinstance(groups, (list, tuple)) else [] if groups is None else [groups]:
        _add(one, texts, data)
    for k, source in enumerate(sources if texts else []):
        if (records := table_records(source)) is not None or (records := _dictionaries(source)) is not None:
            data.append((f"captions {k + 1}" if k else rows, _json(records)))
    paths = [os.fspath(source) for source in sources if isinstance(source, (str, os.PathLike))]
    ids = [options.get(key) for key in ("ref_id_column", "id_column")]
    return texts, data, [path for path in paths if isinstance(path, str)], [column for column in ids if column]


def by_group(whole: dict[str, Any], result: Callable[[dict[str, Any]], Result]) -> dict[str, dict[str, Result]]:
    """The results of groups by property and group, from the fields of the result of all images."""
    return {by["by"]: {group["group"]: result(group) for group in by["groups"]} for by in whole.get("groups", [])}


def formulas(derive: Mapping[str, str] | list[str] | None) -> list[str]:
    """Numbers made of measures, as the engine reads them; those of a kit are written so."""
    if isinstance(derive, list):
        return derive
    if derive is not None and not isinstance(derive, Mapping):
        raise TypeError(f"derive must be a dictionary of formulas by name, not {type(derive).__name__}")
    return [f"{name} = {formula}" for name, formula in (derive or {}).items()]


def _add(groups: Any, texts: list[str], data: list[tuple[str, str]], name: str = "groups") -> None:
    if isinstance(groups, (str, os.PathLike)):
        texts.append(os.fspath(groups))
    elif (records := table_records(groups)) is not None:
        texts.append(name)
        data.append((name, _json(records)))
    elif isinstance(groups, Mapping):
        if groups and all(isinstance(value, Mapping) or _is_series(value) or table_columns(value) is not None for value in groups.values()):
            for own, value in groups.items():
                _add(value, texts, data, str(own))
        else:
            texts.append(name)
            data.append((name, _json({str(key): value for key, value in groups.items()})))
    elif _is_series(groups):
        own = getattr(groups, "name", None)
        own = name if own is None or name != "groups" else str(own)
        texts.append(own)
        data.append((own, _json({str(key): value for key, value in groups.items()})))
    else:
        raise TypeError(
            "groups must be the name of a column, a path, a dictionary of groups by id, a Series or a table, "
            f"not {type(groups).__name__}"
        )


def _dictionaries(source: Any) -> list[Any] | None:
    """The dictionaries in a list; None if it is another thing."""
    return source if isinstance(source, list) and source and all(isinstance(one, Mapping) for one in source) else None


def _is_series(value: Any) -> bool:
    return hasattr(value, "items") and hasattr(value, "index") and not hasattr(value, "columns")


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return None if value != value else value
    return str(value)
