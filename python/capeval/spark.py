"""Scores captions on Spark, with the digits of one machine.

Three functions take a DataFrame with a row per caption:

- :func:`evaluate` returns the :class:`capeval.Report` of all rows: corpus scores, intervals, signatures, notices;
- :func:`score` returns a DataFrame with the scores of every row;
- :func:`document_frequencies` counts the table that CIDEr needs.

They use ``mapInArrow``, joins and groups of DataFrames, no RDDs and no code of the JVM. Corpus scores are equal to the
last bit whatever the partitions, their order, and the tasks that are run again: see docs/guides/spark.md, which says on which
versions of Spark and Sail they have been run, and how to size a cluster.

``pip install capeval[spark]`` installs what they need but for Spark itself; the package must be on all executors::

    from capeval import spark
    report = spark.evaluate(df, ["bleu", "cider-d"], id="image_id", candidate="caption", references="references")
    scores = spark.score(df, ["bleu"], id="image_id", candidate="caption", references="references")
    scores.write.parquet("scores")
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ._engine import set_num_threads
from ._choices import Duplicate
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, Metrics, Policy, is_program, listed, metric_list, own_names, with_tokenizer
from ._keywords import only, takes
from ._report import Id, Report
from .arrow import FrequencyCounter, References, RowScorer, gathered, grouping, needed_frequencies
from .options import RowDuplicates, RowPolicies, TableOptions, TableScoreOptions, VectorSources

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from .options import RowColumns

__all__ = ["document_frequencies", "evaluate", "ngram_counts", "score"]

Batches = Iterable["pyarrow.RecordBatch"]
Ground = Union[str, "os.PathLike[str]", "DataFrame", Captionlike]

_CLOSURE = 64 << 20
"""The size in bytes up to which tables and references are sent with the tasks; larger ones must be files."""

_BLOCKS = 1024
"""The number of blocks for intervals: enough for their ends, and small next to the data."""

_EXAMPLES = 5


@takes(TableOptions, missing="skip", surplus="ignore", several="first", empty="keep", groups=())
def evaluate(
    df: DataFrame, metrics: Metrics = None, *, name: str = "candidates", **options: Unpack[TableOptions]
) -> Report:
    """Scores all rows, and returns the report that :func:`capeval.score` returns for the same captions.

    Each row's captions are read on their own, so the report is that of the tokenizer ``"ptb-each"`` where it would be
    ``"ptb"``. Metrics that need document frequencies, such as CIDEr, get those of the rows that are scored, which are
    counted first; their fingerprint is in the signature.

    No row stops the job unless a policy is ``"error"``: flawed rows are left out or kept, and reported with their
    number and examples in ``report.notices``.

    Models, tables of document frequencies and files of vectors are where the driver and all executors can read them, or
    were shipped with ``addFile``; vectors in memory are sent with the tasks. Each process of a worker opens a model once.
    Vectors of images are found by the column `id`.

    For intervals, images are dealt into 1,024 blocks by the seed and their ids, and resamples draw blocks, so that
    intervals do not depend on partitions either. They are not those of :func:`capeval.score`, which draws images.

    Scores of groups are in ``report.groups``, without tests of their differences, which need the scores of all rows. Rows in
    groups are scored twice, and once more for each further column in `groups`.

    Args:
        df: A row per image, with a caption of one system. It is read up to three times (ids, document frequencies,
            scores), and more often where ids have several rows, so cache or store it if it is costly to compute.
        metrics: As for :func:`capeval.score`. Functions are pickled and sent with the tasks. The file of a program is one
            that the driver and all executors can read, with all that it needs beside it, or that ``addArchive`` or
            ``addFile`` has shipped: see docs/guides/spark.md.
        name: The name of the system.
    """
    job = _Job.of(df, options, Policy(**only(options, RowPolicies, RowDuplicates)))
    intervals, seed, parts = options["intervals"], options["seed"], options["parts"]
    if intervals and options["id"] is None:
        raise ValueError("intervals need ids; pass id, the name of their column")
    groups = grouping(options["groups"])
    rows, repeated = job.single(options["several"], groups)
    scorer = job.scorer(lambda: rows, metrics, options, groups if options["group_df"] == "own" else None)
    columns = job.columns()
    blocks = _BLOCKS if intervals else 1
    schema = scorer().schema("sums", groups=groups)
    # Spark takes a dot in the name of a column for a field of a struct.
    names = schema.names
    wire = [f"c{k}" for k in range(len(names))]
    types = _fields(schema, wire)

    def add(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
        yield scorer().sums(batches, blocks=blocks, seed=seed, groups=groups, **columns()).rename_columns(wire)

    def merge(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
        parts = [batch.rename_columns(names) for batch in batches]
        if parts:
            yield scorer().merge(*parts).rename_columns(wire)

    sums = rows.mapInArrow(add, types)
    if blocks > 1 or groups:
        # By block, and by column and group.
        sums = sums.repartition(parts, *wire[: names.index("block") + 1]).mapInArrow(merge, types)
    made: RowScorer = scorer()
    return made.report(
        _collected(sums).rename_columns(names),
        name=name,
        references=job.reference_name,
        repeated=repeated.number,
        repeated_ids=repeated.ids,
        intervals=intervals,
        resamples=options["resamples"],
        seed=seed,
    )


@takes(TableScoreOptions, missing="skip", surplus="ignore", empty="keep")
def score(
    df: DataFrame, metrics: Metrics = None, *, keep: Iterable[str] | None = None, **options: Unpack[TableScoreOptions]
) -> DataFrame:
    """Scores every row; returns a DataFrame with the columns `keep` and a column of doubles per measure.

    It is lazy, but for the document frequencies if they must be counted, and works on streams if they need not. Rows
    that the policies leave out have no row in the result; :func:`evaluate` reports them. Several rows may have one id here;
    each is scored, and one of them is counted for document frequencies, as with ``evaluate(…, several="last")``.

    Args:
        df: As for :func:`evaluate`.
        metrics: As for :func:`evaluate`.
        keep: The names of the columns to keep; the default is the column of ids.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    id = options["id"]
    kept = [id] if keep is None and id is not None else listed("keep", keep or ())
    job = _Job.of(df, options, Policy(**only(options, RowPolicies), several="error"))
    rows = job.joined()
    _check_columns(rows, kept)
    scorer = job.scorer(lambda: job.single("last")[0], metrics, options)
    columns = job.columns()
    fields = {field.name: field for field in rows.schema.fields}
    scores = [StructField(key, DoubleType()) for key in scorer().schema().names]
    types = StructType([fields[name] for name in kept] + scores)

    def measure(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
        # Together, so that a metric that is a program is started less often.
        for part in gathered(batches):
            yield scorer().scores(part, keep=kept, **columns())

    return rows.mapInArrow(measure, types)


def document_frequencies(
    df: DataFrame,
    *,
    references: Ground = "references",
    id: str | None = None,
    tokenizer: str = "ptb",
    stem: str | None = None,
    n: int = 4,
    parts: int = 8,
) -> DocumentFrequencies:
    """Counts in how many rows each n-gram occurs, for CIDEr; save the table to score with it.

    Partitions are counted in place. Spark's shuffle then brings the counts of each part together, and the driver puts
    the merged parts into one table, as every executor that scores with it will hold it. Its fingerprint is that of
    ``DocumentFrequencies.build(…, tokenizer="ptb-each")`` on one machine.

    Args:
        df: a row per image.
        references: as for :func:`evaluate`.
        id: the name of the column of ids, if references are looked up by it.
        tokenizer: as for :meth:`DocumentFrequencies.build`.
        stem: as for :meth:`DocumentFrequencies.build`.
        n: as for :meth:`DocumentFrequencies.build`.
        parts: the number of parts in which counts are merged: one per 20 million n-grams keeps tasks small.
    """
    counts, counter = _counted(df, references, id, tokenizer, stem, n, parts)
    return counter.table(_collected(counts))


def ngram_counts(
    df: DataFrame,
    *,
    references: Ground = "references",
    id: str | None = None,
    tokenizer: str = "ptb",
    stem: str | None = None,
    n: int = 4,
    parts: int = 64,
) -> DataFrame:
    """As :func:`document_frequencies`, but a DataFrame that is never gathered: ``ngram``, ``images``, to be stored.

    ``ngram`` is a list of words. The empty list gives the number of all images, once per part.
    """
    counts, counter = _counted(df, references, id, tokenizer, stem, n, parts)

    def rows(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
        yield from counter.rows(batches)

    return counts.mapInArrow(rows, "ngram array<string>, images bigint")


def _counted(
    df: DataFrame, references: Ground, id: str | None, tokenizer: str, stem: str | None, n: int, parts: int
) -> tuple[DataFrame, FrequencyCounter]:
    """The merged counts of all references, and what counted them."""
    counter = FrequencyCounter(tokenizer=tokenizer, stem=stem, n=n, parts=parts)
    job = _Job(df, references, None, id, Policy("skip", "ignore", "error", "keep"))
    return job.counted(job.joined(), counter, parts), counter


class _Repeated(NamedTuple):
    """The ids that several rows have."""

    number: int
    ids: list[Id]


class _Job:
    """The rows of one call, and where their references are."""

    def __init__(
        self,
        df: DataFrame,
        references: Ground,
        candidate: str | None,
        id: str | None,
        policy: Policy,
    ) -> None:
        self._df = df
        self._candidate = candidate
        self._id = id
        self._policy = policy
        self._joins: DataFrame | None = None
        self._column: str | None = None
        self._shipped: _Once | None = None
        self.reference_name = "references"
        if isinstance(references, str) and references in df.columns:
            self._column = self.reference_name = references
        elif hasattr(references, "mapInArrow"):
            joined: Any = references
            self._joins, self._column = joined, "references"
        elif isinstance(references, str) and not ("/" in references or "." in references or os.path.exists(references)):
            columns = ", ".join(df.columns)
            raise ValueError(f"there is no column or file {references!r} of references; the columns are {columns}")
        elif isinstance(references, (str, os.PathLike)):
            self._shipped = _Once(_references_of, _version(references))
            self.reference_name = os.fspath(references)
        else:
            self._shipped = _Once(_itself, References(references))
        if id is None and self._column is None or id is None and self._joins is not None:
            raise ValueError("references are found by id; pass id, the name of its column")
        _check_columns(df, [name for name in (candidate, id) if name is not None])
        if self._joins is not None and id is not None:
            _check_columns(self._joins, [id, "references"])

    @classmethod
    def of(cls, df: DataFrame, columns: RowColumns, policy: Policy) -> _Job:
        """The job on named columns."""
        return cls(df, columns["references"], columns["candidate"], columns["id"], policy)

    def joined(self) -> DataFrame:
        """All rows, with their references if these are in a table."""
        if self._joins is None:
            return self._df
        assert self._id is not None
        from pyspark.sql import functions as f

        # Sorted, since a shuffle changes the order of rows, and several metrics see the order of references.
        of_id = f.sort_array(f.collect_list("references"))
        if dict(self._joins.dtypes)["references"].startswith("array"):
            of_id = f.flatten(of_id)
        table = self._joins.groupBy(self._id).agg(of_id.alias("references"))
        return self._df.drop("references").join(table, self._id, "left")

    def single(self, which: Duplicate, groups: list[str] | None = None) -> tuple[DataFrame, _Repeated]:
        """The rows with the columns that are needed, one row per id, and the ids that had several."""
        df, id, candidate = self.joined(), self._id, self._candidate
        assert candidate is not None
        _check_columns(df, groups or [])
        needed = [name for name in dict.fromkeys((id, candidate, self._column, *(groups or []))) if name is not None]
        df = df.select(*needed)
        if id is None:
            return df, _Repeated(0, [])
        from pyspark.sql import functions as f

        n_rows = f.count("*").alias("capeval_rows")
        several = self._df.where(f.col(id).isNotNull()).groupBy(id).agg(n_rows).where("capeval_rows > 1").select(id)
        first = [row[0] for row in several.orderBy(id).limit(_EXAMPLES).collect()]
        if not first:
            return df, _Repeated(0, [])
        number = several.count()
        if which == "error":
            shown = ", ".join(map(repr, first))
            raise ValueError(
                f"{number} ids have several rows, such as {shown}; pass several='first' or several='last' to take one"
            )
        others = [name for name in needed if name != id]
        # A caption comes before null in either order.
        is_last = f.col(candidate).isNull() if which == "first" else f.col(candidate).isNotNull()
        key = f.struct(is_last.alias("capeval_null"), *map(f.col, others))
        best = (f.min if which == "first" else f.max)(key).alias("capeval_row")
        single = df.join(several, id, "left_semi").groupBy(id).agg(best)
        single = single.select(id, *(f.col("capeval_row")[name].alias(name) for name in others))
        return df.join(several, id, "left_anti").select(*needed).unionByName(single), _Repeated(number, first)

    def scorer(
        self,
        counted: Callable[[], DataFrame],
        metrics: Metrics,
        options: TableScoreOptions,
        groups: list[str] | None = None,
    ) -> _Once:
        """The scorer for all tasks; counts the document frequencies of the rows `counted()` if the metrics need them, and
        those of each group by the columns `groups`, unless they are None.
        """
        settings = with_tokenizer(options["settings"], options["tokenizer"])
        frequencies = options["document_frequencies"]
        chosen = metric_list(metrics)
        shipped = [_version(os.path.abspath(os.path.expanduser(one))) if is_program(one) else one for one in chosen]
        table: _Once | None = None
        own: dict[tuple[str, str], DocumentFrequencies] | None = None if groups is None else {}
        needed = needed_frequencies(chosen, settings=settings) if frequencies is None else None
        if isinstance(frequencies, (str, os.PathLike)):
            table = _Once(_table_of, _version(frequencies))
        elif frequencies is not None:
            table = _Once(_itself, frequencies)
        elif needed is not None:
            parts, policy = options["parts"], only(options, RowPolicies)
            counter = FrequencyCounter(**needed, parts=parts, scorer_metrics=own_names(chosen), settings=settings, **policy)
            counts = _collected(self.counted(counted(), counter, parts, groups or []))
            table, own = _Once(_itself, counter.table(counts)), counter.group_tables(counts) if groups else own
        others = {**only(options, VectorSources), **self._policy._asdict(), "settings": settings, "group_frequencies": own}
        return _Once(_scorer, shipped, table, others)

    def counted(
        self, df: DataFrame, counter: FrequencyCounter, parts: int, groups: Sequence[str] = ()
    ) -> DataFrame:
        """The merged counts of the references of `df`, and of each group."""
        columns = self.columns()
        once = _Once(_itself, counter)

        def count(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
            yield from once().counts(batches, groups=groups, **columns())

        def merge(batches: Batches) -> Iterator[pyarrow.RecordBatch]:
            yield from once().merge(batches)

        types = ("`by` string, `group` string, " if groups else "") + "part int, counts binary"
        names = [name for name in dict.fromkeys((self._column, self._candidate, self._id, *groups)) if name is not None]
        return df.select(*names).mapInArrow(count, types).repartition(parts, "part").mapInArrow(merge, types)

    def columns(self) -> Callable[[], dict[str, Any]]:
        """Gives the arguments that name columns, in a task."""
        named = {"candidate": self._candidate, "id": self._id}
        column, shipped = self._column, self._shipped
        return lambda: {**named, "references": column if shipped is None else shipped()}


class _Once:
    """A value that every process of a worker makes once; called in tasks, it gives the value."""

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        from pyspark import cloudpickle

        try:
            self._data: bytes = cloudpickle.dumps((make, arguments))  # type: ignore[no-untyped-call]
        except (TypeError, pickle.PicklingError) as error:
            raise TypeError(
                f"a metric cannot be sent to the executors: {error}; let its function load what cannot be sent when it is called"
            ) from error
        self._key = hashlib.sha256(self._data).digest()
        if len(self._data) > _CLOSURE:
            raise ValueError(
                f"document frequencies, references or functions of {len(self._data) >> 20} MB are too large to send with the "
                f"tasks; save them to a file that all executors can read, and pass its path, or let the function load it"
            )

    def __call__(self) -> Any:
        # Sail calls it in several threads; what is made may call it again.
        with _MAKING:
            if self._key in _KNOWN:
                return _KNOWN[self._key]
            _leave_cores_to_spark()
            make, arguments = pickle.loads(self._data)
            value = make(*(argument() if isinstance(argument, _Once) else argument for argument in arguments))
            while len(_KNOWN) >= _MOST_KNOWN:
                del _KNOWN[next(iter(_KNOWN))]
            _KNOWN[self._key] = value
            return value


_KNOWN: dict[bytes, Any] = {}
"""What this process has made."""

_MOST_KNOWN = 8

_MAKING = threading.RLock()
"""Held while `_KNOWN` is read or changed."""


def _leave_cores_to_spark() -> None:
    """Spark runs a task per core, each in a process of its own; Sail runs all tasks in one process."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is not None:
        set_num_threads(task.cpus())


def _version(path: str | os.PathLike[str]) -> tuple[str, int, int]:
    """The path of a file, and what tells its versions apart as far as the driver knows."""
    path = os.fspath(path)
    known = os.stat(path) if os.path.exists(path) else None
    return path, known.st_size if known else 0, known.st_mtime_ns if known else 0


def _local(path: str) -> str:
    """The path of a file on this machine: as given, or where ``addFile`` or ``addArchive`` put it."""
    if os.path.exists(path):
        return path
    try:
        from pyspark import SparkFiles
    except ImportError:  # pyspark-client, which has no files of its own
        pass
    else:
        folder, name = os.path.split(path)
        for shipped in (os.path.join(os.path.basename(folder), name), name):
            place: str = SparkFiles.get(shipped)
            if os.path.exists(place):
                return place
    raise FileNotFoundError(
        f"{path} is not on this machine; use a path that the driver and all executors can read, or ship it with addFile or addArchive"
    )


def _references_of(version: tuple[str, int, int]) -> References:
    return References(_local(version[0]))


def _table_of(version: tuple[str, int, int]) -> DocumentFrequencies:
    return DocumentFrequencies.load(_local(version[0]))


def _itself(value: Any) -> Any:
    return value


def _scorer(metrics: list[Any], table: DocumentFrequencies | None, options: dict[str, Any]) -> RowScorer:
    # Of a program, the path and the version were sent.
    metrics = [_local(one[0]) if isinstance(one, tuple) else one for one in metrics]
    return RowScorer(metrics, document_frequencies=table, **options)


def _check_columns(df: DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in df.columns:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(df.columns)}")


def _fields(schema: pyarrow.Schema, columns: list[str]) -> str:
    """The types of Arrow as Spark writes them, with these names."""
    import pyarrow as pa

    types = {
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float64(): "double",
        pa.string(): "string",
        pa.list_(pa.string()): "array<string>",
        pa.list_(pa.float64()): "array<double>",
    }
    return ", ".join(f"{name} {types[field.type]}" for name, field in zip(columns, schema))


def _collected(df: DataFrame) -> pyarrow.Table:
    """The rows of a small DataFrame."""
    import pyarrow as pa

    if hasattr(df, "toArrow"):
        return df.toArrow()
    # Spark 3.5 gives rows, whose types follow from those of the columns.
    types = {"int": pa.int32(), "bigint": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    types |= {"array<string>": pa.list_(pa.string()), "array<double>": pa.list_(pa.float64())}
    rows = df.collect()
    columns = [pa.array([row[k] for row in rows], types[kind]) for k, (_, kind) in enumerate(df.dtypes)]
    return pa.table(columns, names=df.columns)
