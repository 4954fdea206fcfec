"""Captions and settings in all forms that the package accepts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, Union

from . import _engine
from ._choices import Duplicate, Empty, Missing, Surplus
from ._engine import Captions, caption_columns
from ._keywords import only
from .options import DEFAULTS

if TYPE_CHECKING:
    from ._metric import Metric
    from .options import CandidateReading, MetricChoice, ReferenceReading, Resampling

Captionlike = Any
"""A path, a dictionary, a list, or a table of pandas, polars or pyarrow; see :func:`capeval.score`."""

Settings = Union[Mapping[str, object], None]
Metrics = Union[str, "os.PathLike[str]", "Metric", Iterable[Union[str, "os.PathLike[str]", "Metric"]], None]
Pictures = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], Mapping[Any, Any], None]


class ChosenMetrics(NamedTuple):
    """The metrics of a call."""

    options: dict[str, Any]
    """The engine's options: names, suite, tokenizer and settings."""
    functions: list[Metric]
    """Those that are functions."""

    def engine(self) -> list[_engine.Function]:
        """The functions, for the engine."""
        return [one._engine() for one in self.functions]


class Policy(NamedTuple):
    """What to do about missing, surplus and duplicate captions, and about captions without words."""

    missing: Missing
    surplus: Surplus
    several: Duplicate
    empty: Empty


def captions(
    source: Captionlike,
    name: str,
    *,
    references: bool,
    format: str | None = None,
    split: str | Sequence[str] | None = None,
    id_column: str | None = None,
    caption_columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
) -> Captions:
    """The captions of `source`, which errors call `name`."""
    splits = None if split is None else several(split)
    unwanted = [] if drop is None else several(drop)
    # Data frames may have numbers as names of columns.
    wanted = None if caption_columns is None else [str(column) for column in several(caption_columns)]
    id_column = None if id_column is None else str(id_column)
    if isinstance(source, Captions):
        if format is not None or splits or id_column or wanted or unwanted:
            raise ValueError(
                f"{name}: these captions are read already; pass their format, split, columns and drop to capeval.read()"
            )
        return source
    if isinstance(source, str) and source.lstrip()[:1] in ("[", "{") and not os.path.exists(source[:255]):
        raise ValueError(f"{name}: this is JSON as text, not the path of a file; pass json.loads(…) of it")
    if isinstance(source, (str, os.PathLike)):
        reading = {"format": format, "split": splits, "id_column": id_column, "caption_columns": wanted, "drop": unwanted}
        return Captions.read(os.fspath(source), references, reading)
    if format is not None:
        raise ValueError(f"format={format!r} is for files, but {name} is of type {type(source).__name__}")
    if isinstance(source, dict) and hasattr(source, "column_names"):  # datasets.DatasetDict
        if splits is None and len(source) == 1:
            splits = list(source)
        if splits is None or len(splits) != 1 or splits[0] not in source:
            some = ", ".join(map(repr, source))
            raise ValueError(f"{name}: there are several splits ({some}); pass one of them, as in {name}[{next(iter(source), '')!r}]")
        source, splits = source[splits[0]], None
    if hasattr(source, "iloc") and not hasattr(source, "columns"):  # pandas.Series
        if splits or id_column or wanted or unwanted:
            raise ValueError(f"{name}: a Series has no columns; leave out split, drop, id_column and caption columns")
        return _from_series(source, name, references)
    source = _plain_source(source, name)
    columns = table_columns(source)
    if unwanted:
        if splits:
            raise ValueError(f"{name}: pass split or drop for captions in memory, and select the other rows first")
        records = source if columns is None else table_records(source)
        read: dict[str, Any] = {"references": references, "id_column": id_column, "caption_columns": wanted, "drop": unwanted}
        kept = Captions.understood(None, records, name, is_table=False, **read)
        if kept is None:
            raise ValueError(f"{name}: there are no records with keys by which to leave any out; leave out drop")
        return kept
    if columns is not None:
        return _from_table(source, columns, name, references, splits, id_column, wanted)
    if isinstance(source, dict) and "annotations" not in source and _are_karpathys(source.get("images")):
        source = source["images"]
        id_column = id_column or ("cocoid" if "cocoid" in source[0] else "filename")
    if splits is not None:
        if not isinstance(source, list) or not all(isinstance(row, dict) and "split" in row for row in source):
            raise ValueError(f"{name}: only Karpathy's files and tables with a column 'split' have splits; leave out split")
        source = [source[k] for k in _of_splits([row["split"] for row in source], splits, name)]
    if isinstance(source, Mapping):
        source = source if isinstance(source, dict) else dict(source)
    elif not isinstance(source, list):
        source = list(source)
    return _from_values(source, name, references, id_column, wanted)


def _from_values(
    source: dict[Any, Any] | list[Any], name: str, references: bool, id_column: str | None, wanted: list[str] | None
) -> Captions:
    """The captions of a dictionary or a list: by the names of keys, or else as structure and values tell."""
    options: dict[str, Any] = {"references": references, "id_column": id_column, "caption_columns": wanted}
    if isinstance(source, dict) and (id_column or wanted) and "annotations" not in source:
        understood = Captions.understood(None, source, name, is_table=False, **options)
        if understood is None:
            raise ValueError(f"{name}: a dictionary has no columns; leave out id_column and caption columns")
        return understood
    try:
        by_name = Captions.of(source, name, **options)
    except (TypeError, ValueError):
        understood = Captions.understood(None, source, name, is_table=False, **options)
        if understood is None:
            raise
        return understood
    if (wanted is None or id_column is None) and by_name.has_other_columns:
        return Captions.understood(by_name, source, name, is_table=False, **options) or by_name
    return by_name


def reference_captions(source: Captionlike, options: ReferenceReading) -> Captions:
    """The captions of references."""
    return captions(
        source,
        "references",
        references=True,
        format=options["ref_format"],
        split=options["split"],
        id_column=options["ref_id_column"],
        caption_columns=options["ref_caption_columns"],
        drop=options["ref_drop"],
    )


def dropped(options: Any) -> dict[str, list[str]]:
    """What was left out when captions were read, for signatures."""
    return {key: several(options.get(key) or []) for key in ("ref_drop", "drop")}


def candidate_captions(source: Captionlike, name: str, options: CandidateReading) -> Captions:
    """The captions of a system, which errors call `name`."""
    return captions(
        source,
        name,
        references=False,
        format=options["input_format"],
        id_column=options["id_column"],
        caption_columns=options["caption_column"],
        drop=options["drop"],
    )


def system_captions(systems: Mapping[str, Captionlike], options: CandidateReading) -> list[tuple[str, Captions]]:
    """The captions of systems by name."""
    return [(name, candidate_captions(source, name, options)) for name, source in systems.items()]


def may_have_both(source: object) -> bool:
    """True if a source could have columns of references and of candidates: a file, a table, or a list of objects."""
    is_list = isinstance(source, list) and bool(source) and isinstance(source[0], dict)
    return isinstance(source, (str, os.PathLike)) or is_list or is_table(source)


def _plain_source(source: Any, name: str) -> Any:
    """`source` as a dictionary, a list, another iterable, or a table with random access."""
    kind = type(source).__name__
    if hasattr(source, "read") and hasattr(source, "close") and not hasattr(source, "read_all"):
        raise TypeError(f"{name}: pass the path of the file, not an open file ({kind})")
    if isinstance(source, (set, frozenset)):
        raise TypeError(f"{name}: a set has no order; pass a list, or a dictionary of captions by id")
    if isinstance(getattr(source, "dataset", None), dict) and hasattr(source, "imgToAnns"):  # COCO of pycocotools
        return source.dataset
    if isinstance(source, (dict, list)) or table_columns(source) is not None and hasattr(source, "__getitem__"):
        return source
    if hasattr(source, "collect_schema"):  # polars.LazyFrame
        return source
    for method in ("to_pylist", "to_list", "tolist"):  # a column of pyarrow or polars, an array of numpy
        if hasattr(source, method):
            return getattr(source, method)()
    if hasattr(source, "__arrow_c_stream__"):  # pyarrow.RecordBatchReader
        import pyarrow

        return pyarrow.table(source)
    if not hasattr(source, "__iter__") or isinstance(source, (bytes, bytearray)):
        raise TypeError(
            f"{name}: captions must be a path, a dictionary, a list or a table of pandas, polars or pyarrow, not {kind}"
        )
    return source


def _from_series(series: Any, name: str, references: bool) -> Captions:
    """The captions of a series of pandas, whose index has the ids if it has a name, and otherwise may have them."""
    values = [None if is_missing(value) else value for value in series]
    labels, index = series.index.tolist(), series.index.name
    if index is None:
        unnamed = {"id_column": None, "is_named": False, "keys": [(None, labels)]}
        return Captions.of_columns(None, values, name, references, unnamed)
    named = {"id_column": str(index), "is_named": True, "keys": []}
    return Captions.of_columns(labels, values, name, references, named)


def table_columns(source: object) -> list[str] | None:
    """The names of a table's columns; None if `source` is not a table."""
    if isinstance(source, (dict, list)):
        return None
    if getattr(source, "column_names", None) is not None:  # pyarrow.Table; a datasets.Dataset
        return list(source.column_names)  # type: ignore[attr-defined]
    if hasattr(source, "collect_schema"):  # polars
        return list(source.collect_schema().names())
    if hasattr(source, "columns") and hasattr(source, "dtypes") and hasattr(source, "iloc"):  # pandas
        return [str(column) for column in source.columns]
    schema = getattr(source, "schema", None)
    if hasattr(source, "num_rows") and hasattr(schema, "names"):  # pyarrow.RecordBatch
        return list(schema.names)  # type: ignore[union-attr]
    return None


def is_table(source: object) -> bool:
    """True if `source` is a table in memory."""
    return table_columns(source) is not None or hasattr(source, "__arrow_c_stream__") and not hasattr(source, "to_list")


def _from_table(
    source: Any,
    columns: Sequence[str],
    name: str,
    references: bool,
    splits: list[str] | None,
    id_column: str | None,
    wanted: list[str] | None,
) -> Captions:
    """The captions of a table with a row per caption, several columns of captions, or a column of lists."""
    index = named_index(source)
    names = [*columns, *(level for level in index if level not in columns)]
    names = [column for column in names if column == id_column or not _holds_pictures(source, column)]
    read: dict[str, Any] = {"references": references, "id_column": id_column, "caption_columns": wanted}
    while True:
        found = caption_columns(names, name, **read)
        if found is None:
            understood = _understood(None, source, names, index, splits, name, read)
            if understood is not None:
                return understood
            found = caption_columns(names, name, **read, is_last=True)
        key, places, in_doubt = found
        chosen = [names[place] for place in places]
        id_name = None if key is None else names[key]
        for column in chosen:
            if columns.count(column) > 1:
                raise ValueError(f"{name}: the column {column!r} is given twice; leave out or rename one of them")
        if id_name is None and len(index) == 1:
            (id_name,) = index
            in_doubt = False
        if splits and "split" not in names:
            raise ValueError(f"{name}: there is no column 'split'; leave out split, or select the rows first")
        needed = dict.fromkeys([*chosen, *([id_name] if id_name else []), *(["split"] if splits else [])])
        values = _values(source, needed, index)
        if id_name is None or id_column is not None or _may_be_ids(values[id_name]):
            break
        # A column of pictures, or of anything else that is not an id.
        names.remove(id_name)
        index.pop(id_name, None)
    others = []
    if in_doubt:
        others = [column for column in names if column not in needed and names.count(column) == 1]
        values.update(_values(source, others, index))
    labels = _unnamed_index(source)
    if splits:
        kept = _of_splits(values["split"], splits, name)
        values = {column: [cells[k] for k in kept] for column, cells in values.items()}
        labels = labels and [labels[k] for k in kept]
    # Pandas makes the other ids of the column floats, which must not be blamed.
    missing = next((k for k, key in enumerate(values[id_name]) if key is None), None) if id_name is not None else None
    if missing is not None:
        raise TypeError(f"{name}: row {missing} (from 0) has no id in the column {id_name!r}; leave it out")
    texts = values[chosen[0]]
    if len(chosen) > 1:
        rows = zip(*(values[column] for column in chosen))
        texts = [[text for cell in row for text in several(cell)] for row in rows]
    keys: list[tuple[str | None, list[Any]]] = [(column, values[column]) for column in others]
    if labels is not None:
        keys.append((None, labels))
    is_named = id_column is not None or id_name in index
    identity = {"id_column": id_name, "is_named": is_named, "keys": keys}
    by_name = Captions.of_columns(None if id_name is None else values[id_name], texts, name, references, identity)
    if (wanted is None or id_column is None) and any(column not in needed for column in names):
        return _understood(by_name, source, names, index, splits, name, read) or by_name
    return by_name


def _understood(
    by_name: Captions | None,
    source: Any,
    names: list[str],
    index: Mapping[str, list[Any]],
    splits: list[str] | None,
    name: str,
    read: dict[str, Any],
) -> Captions | None:
    """The captions of a table as its values tell; None if there are none, or if only one column has texts."""
    values = _values(source, [column for column in names if names.count(column) == 1], index)
    if by_name is not None and sum(map(_has_texts, values.values())) < 2:
        return None
    labels = _unnamed_index(source)
    # Labels that count the rows are no ids that someone gave; others are, under the name that the engine knows.
    if by_name is None and labels is not None and labels != list(range(len(labels))):
        values["(index)"] = labels
    if splits:
        kept = _of_splits(values["split"], splits, name)
        values = {column: [cells[k] for k in kept] for column, cells in values.items()}
    return Captions.understood(by_name, values, name, is_table=True, **read)


def _has_texts(values: Sequence[Any]) -> bool:
    """True if the first value of a column is a text, or something that may have texts."""
    first = next((value for value in values if not is_missing(value)), None)
    return hasattr(first, "__len__") and not isinstance(first, (bytes, bytearray))


def _values(source: Any, columns: Iterable[str], index: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The values of columns of a table and of levels of its index."""
    columns = list(columns)
    if columns and hasattr(source, "collect_schema") and hasattr(source, "collect"):  # polars.LazyFrame
        source = source.select(columns).collect()
    return {column: index[column] if column in index else to_list(source, column) for column in columns}


def table_records(source: Any) -> list[dict[str, Any]] | None:
    """The rows of a table, with the levels of a named index and without pictures; None if `source` is not a table."""
    columns = table_columns(source)
    if columns is None:
        return None
    index = named_index(source)
    names = [name for name in columns if columns.count(name) == 1 and not _holds_pictures(source, name)]
    values = _values(source, dict.fromkeys([*names, *index]), index)
    return [dict(zip(values, row)) for row in zip(*values.values())]


def _are_karpathys(images: object) -> bool:
    """True if these are the images of Karpathy's `dataset_*.json`."""
    return isinstance(images, list) and bool(images) and isinstance(images[0], dict) and "sentences" in images[0]


def _of_splits(values: list[Any], splits: list[str], name: str) -> list[int]:
    """The places of the rows whose value in the column `split` is one of `splits`."""
    kept = [k for k, value in enumerate(values) if value in splits]
    if not kept:
        there = ", ".join(map(repr, dict.fromkeys(values)))
        raise ValueError(f"{name}: no row is of the split {', '.join(splits)}; there are {there}")
    return kept


def named_index(source: Any) -> dict[str, list[Any]]:
    """The levels of a pandas index that have names, unless a column is called the same."""
    index = getattr(source, "index", None)
    if index is None or not hasattr(index, "get_level_values"):
        return {}
    levels = enumerate(index.names)
    named = {str(level): index.get_level_values(k).tolist() for k, level in levels if level is not None}
    columns = table_columns(source) or []
    return {level: values for level, values in named.items() if level not in columns}


def _unnamed_index(source: Any) -> list[Any] | None:
    """The labels of a pandas index without a name."""
    index: Any = getattr(source, "index", None)
    is_unnamed = hasattr(index, "get_level_values") and index.nlevels == 1 and index.name is None
    return list(index.tolist()) if is_unnamed else None


def index_labels(series: Any) -> list[Any] | None:
    """The labels of a series of pandas, unless they only count its rows; None for other objects."""
    index: Any = getattr(series, "index", None)
    if not hasattr(series, "iloc") or hasattr(series, "columns") or index is None or index.nlevels != 1:
        return None
    labels = list(index.tolist())
    return labels if index.name is not None or labels != list(range(len(labels))) else None


def _holds_pictures(source: Any, column: str) -> bool:
    """True if a column of a `datasets.Dataset` holds pictures, which reading it would decode."""
    features = getattr(source, "features", None)
    kind = features.get(column) if isinstance(features, Mapping) else None
    return type(kind).__name__ in ("Image", "Audio", "Video", "Pdf", "Array2D", "Array3D")


def _may_be_ids(values: Sequence[Any]) -> bool:
    first = plain(next((value for value in values if not is_missing(value)), None))
    if first is None or isinstance(first, (str, float)):
        return True
    return hasattr(first, "__index__") and not hasattr(first, "__len__")  # arrays of numpy have both


def several(cell: Any) -> list[Any]:
    """The captions of one cell, as a list; empty if the cell is missing."""
    if is_missing(cell):
        return []
    return [cell] if isinstance(cell, (str, bytes)) or not hasattr(cell, "__iter__") else list(cell)


def plain(value: Any) -> Any:
    """The value of an array without axes, such as an item of a tensor; any other value as it is."""
    return value.tolist() if hasattr(value, "tolist") and getattr(value, "shape", None) == () else value


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
    if hasattr(source, "iloc"):  # pandas, in which any object may be the name of a column
        values = source.iloc[:, [str(name) for name in source.columns].index(column)]
    else:
        values = source[column]
    if hasattr(values, "isna") and not hasattr(values, "to_pylist"):  # a column of pandas
        return [None if is_missing(value) else value for value in values.tolist()]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def settings(given: Settings) -> list[tuple[str, str]]:
    """Settings of metrics in the form that the engine takes."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"settings must be a dictionary, such as {{'sigma': 4}}, not {given!r}")
    return [(name, setting(value)) for name, value in (given or {}).items()]


def setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def with_tokenizer(given: Settings, tokenizer: str | None) -> dict[str, object]:
    """Settings of metrics with the tokenizer, if it is given, as their setting ``tok``."""
    return {**(given or {}), **({} if tokenizer is None else {"tok": tokenizer})}


def metric_options(metrics: Metrics, options: MetricChoice) -> ChosenMetrics:
    """Metrics and settings as the engine's options, and the functions among the metrics."""
    common = dict(settings(options["settings"]))
    if options["idf"] is not None:
        if "idf" in common:
            raise ValueError("idf is given twice; leave it out of settings")
        common["idf"] = options["idf"]
    chosen = [] if metrics is None else metric_list(metrics)
    names = [name_of(one) for one in chosen]
    whole = {"names": names, "suite": options["suite"], "tokenizer": options["tokenizer"], "settings": common}
    return ChosenMetrics(whole, [one for one in chosen if not isinstance(one, str)])


def ids_of(images: Iterable[Any] | None) -> list[Any] | None:
    """The ids of images as a list."""
    ids = None if images is None else [plain(image) for image in listed("images", images)]
    if ids and all(isinstance(image, bool) for image in ids):
        raise TypeError("images: this is a mask of True and False; pass the ids of the images, such as numpy.array(ids)[mask]")
    return ids


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """The argument `name` as a list."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a list, not the string {values!r}; write [{values!r}]")
    if not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list, not {type(values).__name__}")
    return list(values)


def resampling(level: bool | float, options: Resampling) -> dict[str, Any] | None:
    """The engine's options for confidence intervals; None for no intervals."""
    if not level:
        return None
    if isinstance(level, str) or not hasattr(level, "__float__"):
        raise TypeError(f"intervals must be True, False or a level such as 0.99, not {level!r}")
    return {
        "level": 0.95 if level is True else float(level),
        "resamples": whole("resamples", options["resamples"], 1, 10_000_000),
        "seed": whole("seed", options["seed"], 0, 2**64 - 1),
    }


def digit_count(digits: int) -> int:
    """The number of digits after the decimal point."""
    return whole("digits", digits, 0, 17)


def path_of(path: str | os.PathLike[str] | None) -> str | None:
    """A path as text, if it is given."""
    return None if path is None else os.fspath(path)


def pictures_of(pictures: Pictures) -> list[str] | list[tuple[Any, Any]] | None:
    """The places of pictures, or pictures with the ids of their images."""
    if pictures is None:
        return None
    if isinstance(pictures, Mapping):
        return list(pictures.items())
    places = [pictures] if isinstance(pictures, (str, os.PathLike)) else listed("pictures", pictures)
    for place in places:
        if not isinstance(place, (str, os.PathLike)):
            raise TypeError(f"pictures: a place of pictures is a path, not {type(place).__name__}; give a dictionary by id")
    return [os.fspath(place) for place in places]


def thread_count(threads: int | None) -> int | None:
    """The number of threads, if it is given."""
    return None if threads is None else whole("threads", threads, 1, 2**16)


def metric_list(metrics: Metrics) -> list[str | Metric]:
    """Metrics as a list of names, paths of programs, and functions; None selects the suite ``coco``."""
    if metrics is None:
        return ["coco"]
    if isinstance(metrics, str):
        return [name.strip() for name in metrics.split(",")]
    from ._metric import Metric

    if isinstance(metrics, (Metric, os.PathLike)):
        metrics = [metrics]
    if isinstance(metrics, Mapping) or not hasattr(metrics, "__iter__"):
        raise TypeError(f"metrics must be names in a list, or in a string with commas, not {type(metrics).__name__}")
    chosen: list[str | Metric] = []
    for one in metrics:
        name = os.fspath(one) if isinstance(one, os.PathLike) else one
        if not isinstance(name, (str, Metric)):
            raise TypeError(f"a metric is named by a string such as 'cider-d:sigma=4', not {name!r}")
        if isinstance(name, Metric) and any(isinstance(two, Metric) and two is not name and two.name == name.name for two in chosen):
            raise ValueError(f"two functions are called {name.name}; give one of them another name")
        chosen.append(name)
    if not chosen:
        raise ValueError("the list of metrics is empty; leave it out for the metrics of COCO")
    return chosen


def name_of(metric: str | Metric) -> str:
    """The engine's name for one of a :func:`metric_list`."""
    return metric if isinstance(metric, str) else metric.name


def is_program(metric: str | Metric) -> TypeGuard[str]:
    """True if one of a :func:`metric_list` is the path of a file that describes a program."""
    return isinstance(metric, str) and os.path.splitext(metric)[1].lower() == ".toml"


def own_names(metrics: Iterable[str | Metric]) -> list[str]:
    """The names of those that the engine computes itself."""
    from . import _engine

    return _engine.engine_names([one for one in metrics if isinstance(one, str) and not is_program(one)])


def whole(name: str, value: object, least: int, most: int, *, what: str = "a whole number") -> int:
    """The argument `name` as a whole number from `least` to `most`."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be {what}, not {value!r}")
    number = index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be {what} from {least} to {most}, not {number}")
    return number


def refuse_beside_scores(scores: object, options: Mapping[str, Any], *themes: Any) -> None:
    """Raises an error if scores are given together with keywords of `themes`, which would have no effect."""
    given = only(options, *themes)
    names = [name for name, value in given.items() if (value or None) != DEFAULTS.get(name)]
    if scores is not None and names:
        them = ", ".join(names)
        raise ValueError(f"{them}: no effect when scores are given; leave out {them}, or scores")
