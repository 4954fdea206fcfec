"""Scores Arrow record batches, for Spark, Ray, Dask and Polars.

Batches and tables of pyarrow, polars, DuckDB and any other library with Arrow's PyCapsule interface are read without
copying. The result is a ``pyarrow.RecordBatch`` or ``Table``; without pyarrow, an object with the same interface.

Statistics are rows of numbers that can be added. Collected from any number of machines, in any order, they give
the same corpus scores as one machine does; see :meth:`RowScorer.corpus`.

>>> import pyarrow
>>> from capeval.arrow import RowScorer
>>> batch = pyarrow.RecordBatch.from_pydict(
...     {"image_id": [1, 2], "candidate": ["a dog", "two cats"], "references": [["a dog"], ["two cats sit"]]})
>>> scorer = RowScorer(["bleu", "rouge-l"])
>>> scorer.scores(batch, keep=["image_id"]).column_names
['image_id', 'bleu-1', 'bleu-2', 'bleu-3', 'bleu-4', 'rouge-l']
>>> parts = [scorer.statistics(batch.slice(k, 1)) for k in range(2)]
>>> round(scorer.corpus(*parts)["bleu-1"], 6)
0.778801
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _engine
from ._frequencies import DocumentFrequencies, Frequencies
from ._inputs import Metrics, Settings, listed, metric_names, settings, thread_count

if TYPE_CHECKING:
    from .reward import Reward

__all__ = ["RowScorer", "judge"]

_settings = settings


class RowScorer:
    """Scores rows that contain a candidate and its references.

    Works for metrics whose score of a row depends on that row only; CIDEr needs `document_frequencies`, a
    saved table. The tokenizer ``"ptb"`` reads the captions of each row on their own, as ``"ptb-each"``. It can be
    pickled and sent to workers.
    """

    def __init__(
        self,
        metrics: Metrics = None,
        *,
        tokenizer: str | None = None,
        settings: Settings = None,
        document_frequencies: Frequencies = None,
        threads: int | None = None,
        df: Frequencies = None,
    ) -> None:
        """Takes metrics as :func:`capeval.score` does.

        Raises:
            ValueError: a metric needs all references, such as CIDEr without `document_frequencies`.
        """
        frequencies = DocumentFrequencies._given(document_frequencies, df)
        settings = {**(settings or {}), **({"tok": tokenizer} if tokenizer is not None else {})}
        self._arguments = (metric_names(metrics), settings, frequencies, threads)
        table = DocumentFrequencies._table(frequencies)
        self._engine = _engine.RowScorer(self._arguments[0], _settings(settings), table, thread_count(threads))

    def scores(
        self, batch: Any, *, candidate: str = "candidate", references: str = "references", keep: Sequence[str] = ()
    ) -> Any:
        """Returns the columns `keep` of a batch or table, and a float64 column for each measure.

        Args:
            batch: a record batch or table with a column of strings and a column of lists of strings.
            candidate: the name of the column of candidates.
            references: the name of the column of references.
            keep: the names of columns to copy to the result, such as an id.

        Raises:
            ValueError: a column is missing, or contains a null.
            TypeError: a column has another type, or `batch` lacks Arrow's interface.
        """
        return _result(batch, self._engine.rows(batch, candidate, references, listed("keep", keep), False))

    def statistics(
        self, batch: Any, *, candidate: str = "candidate", references: str = "references", keep: Sequence[str] = ()
    ) -> Any:
        """As :meth:`scores`, but returns statistics: int64 or float64 columns named ``metric/statistic``."""
        return _result(batch, self._engine.rows(batch, candidate, references, listed("keep", keep), True))

    def corpus(self, *statistics: Any) -> dict[str, float]:
        """Computes corpus scores from the statistics of any number of batches."""
        if len(statistics) == 1:
            return dict(zip(self._engine.keys(), self._engine.corpus(statistics[0])))
        import pyarrow

        parts = []
        for part in statistics:
            is_batch = hasattr(part, "__arrow_c_array__")
            parts.append(pyarrow.Table.from_batches([pyarrow.record_batch(part)]) if is_batch else pyarrow.table(part))
        return dict(zip(self._engine.keys(), self._engine.corpus(pyarrow.concat_tables(parts))))

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, self._arguments


def _make(metrics: list[str], settings: dict[str, Any], frequencies: Any, threads: int | None) -> RowScorer:
    return RowScorer(metrics, settings=settings, document_frequencies=frequencies, threads=threads)


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
    return _result(batch, _engine.judge_rows(reward._judge, batch, image_id, candidate, kept, statistics))


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
