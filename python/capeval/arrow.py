"""Scores Arrow record batches, for Spark, Ray, Dask, Daft, DataFusion, DuckDB and Polars.

Batches and tables of pyarrow, polars, DuckDB and any other library with Arrow's PyCapsule interface are read in place.
The result is a ``pyarrow.RecordBatch`` or ``Table``; without pyarrow, an object with the same interface.

:mod:`capeval.spark` runs all of this on Spark. On another engine that maps record batches, three steps do the same, each
in any number of parts, in any order, with the digits of one machine:

- :class:`FrequencyCounter` counts document frequencies in parts, and merges them;
- :meth:`RowScorer.scores` scores rows;
- :meth:`RowScorer.sums` adds up the statistics of a part, :meth:`RowScorer.merge` merges such sums, and
  :meth:`RowScorer.report` turns them into the report that :func:`capeval.score` returns.

>>> import pyarrow
>>> from capeval.arrow import RowScorer
>>> batch = pyarrow.RecordBatch.from_pydict(
...     {"image_id": [1, 2], "candidate": ["a dog", "two cats"], "references": [["a dog"], ["two cats sit"]]})
>>> scorer = RowScorer(["bleu", "rouge-l"])
>>> scorer.scores(batch, keep=["image_id"]).column_names
['image_id', 'bleu-1', 'bleu-2', 'bleu-3', 'bleu-4', 'rouge-l']
>>> parts = [scorer.sums(batch.slice(k, 1)) for k in range(2)]
>>> round(scorer.report(*parts)["bleu-1"], 6)
0.778801
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _engine
from ._choices import Empty, Missing, Surplus
from ._data import models_of, vectors_of
from ._frequencies import DocumentFrequencies
from ._inputs import (
    Captionlike,
    Metrics,
    Policy,
    Settings,
    listed,
    metric_list,
    name_of,
    own_names,
    resampling,
    settings,
    thread_count,
    whole,
    with_tokenizer,
)
from ._keywords import only, takes
from ._report import Id, Report
from .options import RowDuplicates, RowOptions, RowPolicies

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Unpack

    from .reward import Reward

__all__ = ["FrequencyCounter", "References", "RowScorer", "judge", "needed_frequencies"]

_settings = settings

_Key = tuple[str, "str | None"]
"""The column that groups rows, and a group; None is that of rows in no group."""

_ALL: _Key = ("", None)
"""The key of all rows."""

_LABELS = ("by", "group")
"""The columns that sums and counts of groups begin with."""

_MOST_BLOCKS = 1 << 20

_MOST_PARTS = 1 << 20

_BYTES = 32 << 20
"""The size of the texts that are counted together: n-grams are counted much faster together than batch by batch."""

_MOST_NGRAMS = 1 << 22
"""The number of n-grams that are counted together, which take about 100 MB; then their counts are handed on. Nor does a batch have
more rows of them."""

_ROWS = 20_000
"""The number of rows that are measured together, since the words of all of them are looked up together."""


class References:
    """References that do not come with the rows: a row's id says which ones are its own.

    Every worker reads them once. They can be pickled: of a path, only the path is, which all workers must be able to
    read; otherwise the captions are.
    """

    def __init__(self, source: Captionlike) -> None:
        """Takes references as :func:`capeval.score` does, or the path of prepared references."""
        is_path = isinstance(source, (str, os.PathLike))
        self._source: Any = os.fspath(source) if is_path else source
        self._loaded: _engine.References | None = None

    @property
    def _engine(self) -> _engine.References:
        if self._loaded is None:
            from .reward import _evaluator_in, _ground

            self._loaded = _engine.References(_ground(_evaluator_in(self._source), None))
        return self._loaded

    def __reduce__(self) -> tuple[Any, ...]:
        return References, (self._source,)

    @property
    def name(self) -> str:
        """The path, or ``references``."""
        return self._source if isinstance(self._source, str) else "references"


class RowScorer:
    """Scores rows that contain a candidate and its references.

    Works for metrics whose score of a row depends on that row only; CIDEr needs `document_frequencies`, a
    saved table. The tokenizer ``"ptb"`` reads the captions of each row on their own, as ``"ptb-each"``. It can be
    pickled and sent to workers.
    """

    @takes(RowOptions, empty="keep")
    def __init__(self, metrics: Metrics = None, **options: Unpack[RowOptions]) -> None:
        """Takes metrics as :func:`capeval.score` does.

        Each worker opens models and files of vectors, so that they must be where all can read them. Vectors of images are
        found by the column `id`.

        Raises:
            ValueError: a metric needs all references, such as CIDEr without `document_frequencies`.
        """
        chosen = metric_list(metrics)
        self._arguments = (chosen, options.copy())
        table = DocumentFrequencies._table(options["document_frequencies"])
        functions = [one._engine() for one in chosen if not isinstance(one, str)]
        row_options = {
            "metrics": [name_of(one) for one in chosen],
            "settings": settings(with_tokenizer(options["settings"], options["tokenizer"])),
            "models": models_of(options["model"]),
            "threads": thread_count(options["threads"]),
        }
        policy = Policy(**only(options, RowPolicies, RowDuplicates))
        vectors, own = vectors_of(options["vectors"]), options["group_frequencies"]

        def engine(table: _engine.DocumentFrequencies | None) -> _engine.RowScorer:
            return _engine.RowScorer(table, functions, vectors, policy, row_options)

        self._engine = engine(table)
        self._group_engines: dict[_Key, Callable[[], _engine.RowScorer]] = {
            key: functools.cache(functools.partial(lambda own: engine(DocumentFrequencies._table(own)), of_key))
            for key, of_key in (own or {}).items()
        }
        self._group_df = "all" if own is None else "own"

    def scores(
        self,
        batch: Any,
        *,
        candidate: str = "candidate",
        references: str | References = "references",
        id: str | None = None,
        keep: Sequence[str] = (),
    ) -> Any:
        """Returns the columns `keep` of a batch or table, and a float64 column for each measure.

        Args:
            batch: a record batch or table with a column of strings and a column of lists of strings.
            candidate: the name of the column of candidates.
            references: the name of the column of references, or references to look up by `id`.
            id: the name of the column of ids, which errors then name.
            keep: the names of columns to copy to the result, such as an id.

        Raises:
            ValueError: a column is missing, or a row has a flaw that ``missing``, ``surplus`` and ``empty`` refuse.
            TypeError: a column has another type, or `batch` lacks Arrow's interface.
        """
        return self._rows(batch, candidate, references, id, keep, False)

    def statistics(
        self,
        batch: Any,
        *,
        candidate: str = "candidate",
        references: str | References = "references",
        id: str | None = None,
        keep: Sequence[str] = (),
    ) -> Any:
        """As :meth:`scores`, but returns statistics: int64 or float64 columns named ``metric/statistic``."""
        return self._rows(batch, candidate, references, id, keep, True)

    def _rows(
        self,
        batch: Any,
        candidate: str,
        references: str | References,
        id: str | None,
        keep: Sequence[str],
        statistics: bool,
    ) -> Any:
        columns = _columns(candidate, references, id)
        return _result(batch, self._engine.rows(batch, columns, listed("keep", keep), statistics))

    def corpus(self, *statistics: Any) -> dict[str, float]:
        """Computes corpus scores from the statistics of all rows, in any number of batches."""
        if len(statistics) == 1:
            return dict(zip(self._engine.keys(), self._engine.corpus(statistics[0])))
        import pyarrow

        parts = []
        for part in statistics:
            is_batch = hasattr(part, "__arrow_c_array__")
            parts.append(pyarrow.Table.from_batches([pyarrow.record_batch(part)]) if is_batch else pyarrow.table(part))
        return dict(zip(self._engine.keys(), self._engine.corpus(pyarrow.concat_tables(parts))))

    def sums(
        self,
        batches: Any,
        *,
        candidate: str = "candidate",
        references: str | References = "references",
        id: str | None = None,
        blocks: int = 1,
        seed: int = 12_345,
        groups: str | Sequence[str] = (),
    ) -> Any:
        """Adds up the statistics of the rows of a part, exactly.

        The result is a small batch. A whole number is an int64; a sum of real numbers is a list of float64 that add up
        to it without rounding. So sums of parts merge to the same bits, whatever the parts and their order.

        Args:
            batches: a batch, a table, or an iterable of batches.
            candidate: as for :meth:`scores`.
            references: as for :meth:`scores`.
            id: the name of the column of ids: examples of flawed rows are given by it.
            blocks: the number of blocks into which rows are dealt by `seed` and their id, for intervals: about a
                thousand, such as ``blocks=1024``. The result has a row for each block that occurs.
            seed: the seed of the blocks, which must be that of the intervals.
            groups: the names of columns whose values group rows; the rows of each group are added up, too. A row with a
                list is in several groups, and one with null in none.

        Raises:
            ValueError: a corpus score is not a function of sums, as that of ``rouge155:average=resampled``; or as for
                :meth:`scores`.
        """
        blocks, seed = whole("blocks", blocks, 1, _MOST_BLOCKS), whole("seed", seed, 0, 2**64 - 1)
        if blocks > 1 and id is None:
            raise ValueError("rows without an id cannot be dealt into blocks; pass id, the name of its column")
        columns, names = _columns(candidate, references, id), grouping(groups)
        sums = {_ALL: self._engine.sums()}
        for part in _gathered(batches, _ROWS, None):
            for key, rows in _by_group(part, names):
                if key not in sums:
                    sums[key] = self._engine_of(key).sums()
                self._engine_of(key).add(sums[key], rows, columns, (blocks, seed))
        return _labelled({key: one.batch() for key, one in sums.items()}, bool(names))

    def merge(self, *sums: Any) -> Any:
        """Merges the sums of any number of parts.

        Raises:
            ValueError: a part was added up with other metrics, settings, policies, document frequencies or blocks.
        """
        merged = self._merged(sums)
        return _labelled({key: one.batch() for key, one in merged.items()}, any(map(_is_labelled, sums)))

    def _merged(self, sums: Iterable[Any]) -> dict[_Key, _engine.Sums]:
        merged = {_ALL: self._engine.sums()}
        for part in sums:
            for key, rows in _by_label(part):
                if key not in merged:
                    merged[key] = self._engine_of(key).sums()
                merged[key].merge(rows)
        return merged

    def _engine_of(self, key: _Key) -> _engine.RowScorer:
        return self._group_engines.get(key, lambda: self._engine)()

    def report(
        self,
        *sums: Any,
        name: str = "candidates",
        source: str = "candidates",
        references: str = "references",
        repeated: int = 0,
        repeated_ids: Sequence[Id] = (),
        intervals: bool | float = False,
        resamples: int = 10_000,
        seed: int = 12_345,
    ) -> Report:
        """The report on the sums of all parts, as :func:`capeval.score` returns it, with the scores of groups.

        Args:
            sums: the sums of all parts.
            name: the name of the system.
            source: what the report calls the source of the candidates.
            references: what the report calls the source of the references.
            repeated: the number of ids that several rows had, of which all but one were left out.
            repeated_ids: examples of these ids.
            intervals: as for :func:`capeval.score`; blocks are resampled, so pass :meth:`sums` ``blocks=1024``.
            resamples: as for :func:`capeval.score`.
            seed: as for :func:`capeval.score`.

        Raises:
            ValueError: there are no rows, or no blocks for intervals; or as for :meth:`merge`.
        """
        merged = self._merged(sums)
        drawn = resampling(intervals, {"resamples": resamples, "seed": seed})
        about = {
            "name": name,
            "source": source,
            "reference_source": references,
            "repeated": whole("repeated", repeated, 0, 2**63 - 1),
            "repeated_ids": list(repeated_ids),
            "intervals": None if drawn is None else (drawn["resamples"], drawn["seed"], drawn["level"]),
        }
        of_all = self._engine.report(merged[_ALL], about)
        groups: dict[str, tuple[str, str, int, list[tuple[str, _engine.Study]]]] = {}
        for (by, group), of_group in merged.items():
            images = sum(_one(of_group.batch()).column("images").to_pylist()) if by else 0
            if images == 0:
                continue
            _, _, without, reports = groups.get(by, (by, self._group_df, 0, []))
            if group is None:
                without = images
            else:
                reports.append((group, self._engine_of((by, group)).report(of_group, about)))
            groups[by] = (by, self._group_df, without, reports)
        return Report(_engine.grouped(of_all, list(groups.values())) if groups else of_all)

    def schema(
        self, kind: str = "scores", keep: Iterable[pyarrow.Field] = (), *, groups: str | Sequence[str] = ()
    ) -> pyarrow.Schema:
        """The names and Arrow types of a result, for engines that need them before they run.

        Args:
            kind: ``"scores"``, ``"statistics"`` or ``"sums"``.
            keep: the fields of the columns that are kept.
            groups: as for :meth:`sums`.
        """
        import pyarrow as pa

        if kind == "scores":
            return pa.schema([*keep, *(pa.field(key, pa.float64(), False) for key in self._engine.keys())])
        if kind == "statistics":
            types = {True: pa.int64(), False: pa.float64()}
            named = self._engine.columns()
            return pa.schema([*keep, *(pa.field(name, types[counts], False) for name, counts in named)])
        if kind == "sums":
            return _labelled({_ALL: self._engine.sums().batch()}, bool(groups)).schema
        raise ValueError(f"kind must be 'scores', 'statistics' or 'sums', not {kind!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, self._arguments


def _make(metrics: list[Any], options: RowOptions) -> RowScorer:
    return RowScorer(metrics, **options)


class FrequencyCounter:
    """Counts document frequencies in parts, for CIDEr.

    :meth:`counts` counts the n-grams of some rows, and deals them into `parts` by a hash. Counts of one part are merged
    with :meth:`merge` on any machine; :meth:`table` puts the parts together, and :meth:`rows` makes a table of them that
    an engine can store. The table does not depend on how the rows were cut: it has the fingerprint of
    ``DocumentFrequencies.build(…, tokenizer="ptb-each")``. It can be pickled.

    >>> import pyarrow
    >>> from capeval.arrow import FrequencyCounter
    >>> batch = pyarrow.RecordBatch.from_pydict({"references": [["a dog", "the dog"], ["a cat"]]})
    >>> counter = FrequencyCounter(parts=2)
    >>> counts = [count for k in range(2) for count in counter.counts(batch.slice(k, 1))]
    >>> counter.table(counts)["dog"], counter.table(counts).n_images
    (1, 2)
    """

    def __init__(
        self,
        *,
        tokenizer: str = "ptb",
        stem: str | None = None,
        n: int = 4,
        parts: int = 1,
        scorer_metrics: Metrics = (),
        settings: Settings = None,
        missing: Missing = "skip",
        surplus: Surplus = "ignore",
        empty: Empty = "keep",
        threads: int | None = None,
    ) -> None:
        """Takes the tokenizer, the stemmer and the length of n-grams as :meth:`DocumentFrequencies.build` does.

        Args:
            tokenizer: the tokenizer; ``"ptb"`` reads the captions of each row on their own, as ``"ptb-each"``.
            stem: as for :meth:`DocumentFrequencies.build`.
            n: as for :meth:`DocumentFrequencies.build`.
            parts: the number of parts.
            scorer_metrics: the metrics that decide which candidates are empty, if ``empty="skip"``.
            settings: the settings of these metrics.
            missing: as for :class:`RowScorer`: rows that are not scored are not counted.
            surplus: as for :class:`RowScorer`.
            empty: as for :class:`RowScorer`.
            threads: the number of threads; the default is one per processor.
        """
        # Functions and programs have no tokenizer, and so no say in what is empty.
        names = own_names(metric_list(scorer_metrics)) if scorer_metrics else []
        self._arguments = (tokenizer, stem, n, parts, names, dict(settings or {}), missing, surplus, empty, threads)
        self._sieve = _engine.Sieve(names, _settings(settings), Policy(missing, surplus, "error", empty))
        self._reading = (tokenizer, stem, thread_count(threads))
        self._shape = (whole("n", n, 1, 9), whole("parts", parts, 1, _MOST_PARTS))

    def counts(
        self,
        batches: Any,
        *,
        references: str | References = "references",
        candidate: str | None = None,
        id: str | None = None,
        groups: str | Sequence[str] = (),
    ) -> Iterator[pyarrow.RecordBatch]:
        """Counts the n-grams of a batch, a table or an iterable of batches.

        The batches of the result have a row per part: ``part``, and ``counts``, which are bytes. There is one batch
        for millions of n-grams.

        Args:
            batches: rows with a column of references.
            references: as for :meth:`RowScorer.scores`.
            candidate: the name of the column of candidates; pass it if rows whose candidate is null are not scored, so
                that they are not counted either.
            id: the name of the column of ids, if `references` are looked up.
            groups: the names of columns whose values group rows, as for :meth:`RowScorer.sums`; the n-grams of each group
                are counted, too.
        """
        columns, names = _columns(candidate, references, id), grouping(groups)
        tallies: dict[_Key, _engine.Tally] = {}
        for batch in _gathered(batches, None, _BYTES):
            for key, rows in _by_group(batch, names):
                if key == _ALL or key[1] is not None:
                    self._tally(tallies, key).add(rows, columns, self._sieve, self._reading)
            if sum(map(len, tallies.values())) >= _MOST_NGRAMS:
                yield from self._batches(tallies, bool(names))
                tallies = {}
        yield from self._batches(tallies, bool(names))

    def merge(self, batches: Any) -> Iterator[pyarrow.RecordBatch]:
        """Merges the counts of each part; gives a batch with a row for each part that occurs."""
        tallies, is_labelled = self._merged(batches)
        yield from self._batches(tallies, is_labelled)

    def table(self, batches: Any) -> DocumentFrequencies:
        """The table of all counts, merged or not."""
        tallies, _ = self._merged(batches)
        tally = self._tally(tallies, _ALL)
        if tally.is_empty:
            raise ValueError("no row has references, so there is nothing to count")
        return DocumentFrequencies(tally.table())

    def group_tables(self, batches: Any) -> dict[tuple[str, str], DocumentFrequencies]:
        """The tables of groups by column and group, from counts, merged or not: for ``RowScorer(group_frequencies=…)``."""
        tallies, _ = self._merged(batches)
        return {
            (by, group): DocumentFrequencies(tally.table())
            for (by, group), tally in tallies.items()
            if group is not None and not tally.is_empty
        }

    def rows(self, batches: Any) -> Iterator[pyarrow.RecordBatch]:
        """Merged counts as rows: ``ngram``, a list of words, and ``images``, the number of images.

        The rows with an empty list, one per part, give the number of all images.
        """
        import pyarrow as pa

        for rows in self._tally(self._merged(batches)[0], _ALL).rows(_MOST_NGRAMS):
            yield pa.record_batch(rows).cast(self.schema("rows"))

    def schema(self, kind: str = "counts") -> pyarrow.Schema:
        """The names and Arrow types of a result: ``"counts"`` or ``"rows"``."""
        import pyarrow as pa

        if kind == "counts":
            return pa.schema([pa.field("part", pa.int32()), pa.field("counts", pa.binary())])
        if kind == "rows":
            return pa.schema([pa.field("ngram", pa.list_(pa.string())), pa.field("images", pa.int64())])
        raise ValueError(f"kind must be 'counts' or 'rows', not {kind!r}")

    def _merged(self, batches: Any) -> tuple[dict[_Key, _engine.Tally], bool]:
        """The counts of all rows and of groups, and whether groups were counted."""
        tallies: dict[_Key, _engine.Tally] = {}
        is_labelled = False
        for batch in _iterated(batches):
            is_labelled |= _is_labelled(batch)
            for key, rows in _by_label(batch):
                for data in rows.column("counts"):
                    self._tally(tallies, key).merge(data.as_py())
        return tallies, is_labelled

    def _tally(self, tallies: dict[_Key, _engine.Tally], key: _Key) -> _engine.Tally:
        if key not in tallies:
            tallies[key] = _engine.Tally(*self._shape)
        return tallies[key]

    def _batches(self, tallies: dict[_Key, _engine.Tally], is_labelled: bool) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow as pa

        counted = {key: zip(*tally.parts()) for key, tally in tallies.items() if not tally.is_empty}
        arrays = {key: [pa.array(parts, pa.int32()), pa.array(data, pa.binary())] for key, (parts, data) in counted.items()}
        batches = {key: pa.RecordBatch.from_arrays(of_key, schema=self.schema()) for key, of_key in arrays.items()}
        if batches:
            yield _labelled(batches, is_labelled)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_counter, self._arguments


def _make_counter(*arguments: Any) -> FrequencyCounter:
    names = ("tokenizer", "stem", "n", "parts", "scorer_metrics", "settings", "missing", "surplus", "empty", "threads")
    return FrequencyCounter(**dict(zip(names, arguments)))


def needed_frequencies(
    metrics: Metrics = None, *, tokenizer: str | None = None, settings: Settings = None
) -> dict[str, Any] | None:
    """How to count the document frequencies that `metrics` need: the arguments of a :class:`FrequencyCounter`.

    None if they need no table.

    >>> from capeval.arrow import needed_frequencies
    >>> needed_frequencies(["bleu", "cider-d"])
    {'tokenizer': 'ptb-each', 'stem': None, 'n': 4}
    """
    names = own_names(metric_list(metrics))
    needed = _engine.needed_frequencies(names, _settings(with_tokenizer(settings, tokenizer))) if names else None
    return None if needed is None else dict(zip(("tokenizer", "stem", "n"), needed))


def judge(
    reward: Reward,
    batch: Any,
    *,
    image_id: str = "image_id",
    candidate: str = "candidate",
    keep: Sequence[str] | None = None,
    statistics: bool = False,
) -> Any:
    """Scores rows of image ids and captions against the references of a :class:`capeval.reward.Reward`.

    Args:
        reward: a reward for texts; its weights are not used.
        batch: a record batch or table.
        image_id: the name of the column of ids.
        candidate: the name of the column of captions.
        keep: the names of columns to copy to the result; the default is the column of ids.
        statistics: return rows of statistics instead of scores.

    Raises:
        KeyError: an image has no references.
        ValueError: a column is missing, or contains a null.
    """
    kept = [image_id] if keep is None else listed("keep", keep)
    return _result(batch, _engine.judge_rows(reward._judge, batch, (image_id, candidate), kept, statistics))


def _columns(candidate: str | None, references: str | References, id: str | None) -> dict[str, Any]:
    by_id = isinstance(references, References)
    if by_id and id is None:
        raise ValueError("references are looked up by id; pass id, the name of its column")
    return {
        "candidate": candidate,
        "references": None if by_id else references,
        "id": id,
        "lookup": references._engine if isinstance(references, References) else None,
    }


def _iterated(batches: Any) -> Iterator[Any]:
    """The batches of a batch, a table, a reader or an iterable of any of them."""
    import pyarrow as pa

    if hasattr(batches, "__arrow_c_array__"):
        yield pa.record_batch(batches)
    elif hasattr(batches, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(batches)
    else:
        for part in batches:
            yield from _iterated(part)


def _gathered(batches: Any, most_rows: int | None, most_bytes: int | None) -> Iterator[Any]:
    """Tables of consecutive batches, so large that one more would exceed a bound."""
    import pyarrow as pa

    held: list[Any] = []
    rows = size = 0
    for batch in _iterated(batches):
        if batch.num_rows == 0:
            continue
        n, n_bytes = batch.num_rows, batch.nbytes
        too_many = most_rows is not None and rows + n > most_rows
        if held and (too_many or (most_bytes is not None and size + n_bytes > most_bytes)):
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
        held.append(batch)
        rows, size = rows + n, size + n_bytes
    if held:
        yield pa.Table.from_batches(held)


def gathered(batches: Any) -> Iterator[Any]:
    """Batches with as many rows as are measured together, unless these are large."""
    for part in _gathered(batches, _ROWS, _BYTES):
        yield from part.combine_chunks().to_batches()


def grouping(groups: str | Sequence[str]) -> list[str]:
    """The names of the columns that group rows."""
    return [groups] if isinstance(groups, str) else listed("groups", groups)


def _by_group(table: pyarrow.Table, columns: Sequence[str]) -> Iterator[tuple[_Key, pyarrow.Table]]:
    """The rows of a table: all of them, and those of each group by each column."""
    import pyarrow as pa

    yield _ALL, table
    for name in columns:
        if table.column_names.count(name) != 1:
            raise ValueError(f"there is no column '{name}' that groups rows; the columns are {', '.join(table.column_names)}")
        column = table.column(name)
        is_list = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
        try:
            labels = column.cast(pa.list_(pa.string()) if is_list else pa.string()).to_pylist()
        except pa.ArrowException as error:
            raise TypeError(f"column '{name}' cannot group rows: {error}") from error
        rows: dict[str | None, list[int]] = {}
        for row, label in enumerate(labels):
            of_row = [one for one in (label if is_list else [label]) or [] if one is not None]
            for group in dict.fromkeys(of_row) or [None]:
                rows.setdefault(group, []).append(row)
        for group, of_group in rows.items():
            yield (name, group), table.take(of_group)


def _labelled(batches: dict[_Key, Any], has_groups: bool) -> Any:
    """Batches of sums or counts as one, in which two columns name the groups."""
    if not has_groups:
        return _one(batches[_ALL])
    import pyarrow as pa

    labelled = []
    for key, data in batches.items():
        batch = pa.record_batch(data)
        labels = [pa.array([label] * batch.num_rows, pa.string()) for label in key]
        labelled.append(pa.RecordBatch.from_arrays([*labels, *batch.columns], names=[*_LABELS, *batch.schema.names]))
    whole = pa.Table.from_batches(labelled).combine_chunks().to_batches()
    return whole[0] if whole else labelled[0]


def _is_labelled(part: Any) -> bool:
    return isinstance(_names(part), list) and _LABELS[0] in _names(part)


def _names(part: Any) -> Any:
    return getattr(getattr(part, "schema", None), "names", None)


def _by_label(part: Any) -> Iterator[tuple[_Key, Any]]:
    """The rows of sums or counts by the groups that they are of."""
    if not _is_labelled(part):
        yield _ALL, part
        return
    rows: dict[_Key, list[int]] = {}
    for row, key in enumerate(zip(*(part.column(name).to_pylist() for name in _LABELS))):
        rows.setdefault(key, []).append(row)
    for key, of_key in rows.items():
        yield key, part.take(of_key).select([name for name in part.schema.names if name not in _LABELS])


def _one(batch: _engine.ArrowBatch) -> Any:
    try:
        import pyarrow
    except ImportError:
        return batch
    return pyarrow.record_batch(batch)


def _result(source: Any, parts: list[_engine.ArrowBatch]) -> Any:
    """The result of a call: a batch if `source` is a batch, else a table."""
    is_batch = hasattr(source, "__arrow_c_array__")
    try:
        import pyarrow
    except ImportError:
        return parts[0] if is_batch else parts
    batches = [pyarrow.record_batch(part) for part in parts]
    if is_batch:
        return batches[0]
    return pyarrow.Table.from_batches(batches) if batches else pyarrow.table({})
