"""How often metrics prefer what people prefer."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import (
    Captionlike,
    Metrics,
    Settings,
    captions,
    is_missing,
    metric_options,
    refuse_beside_scores,
    resampling,
    table_columns,
    to_list,
    whole,
)
from ._progress import Listener, Progress
from ._rendered import Rendered

Interval = tuple[float, float]


class PairAccuracy(NamedTuple):
    """How often one measure prefers the caption that people prefer, 0 to 1; None where no pair counts."""

    by_category: dict[str, float | None]
    """By category, such as HC, HI, HM and MM; empty if the pairs have none."""
    mean: float | None
    """The mean over the categories, as papers print it."""
    all: float | None
    """Over all pairs, whatever their category."""
    by_draw: list[float | None]
    """The mean over the categories in each draw of references."""
    tied: float
    """The share of pairs and draws in which the measure prefers neither caption."""
    intervals: dict[str, Interval]
    """Of ``mean`` and ``all``, if they were asked for."""
    category_intervals: dict[str, Interval]
    """By category, likewise."""


class Preference(Rendered):
    """How often each measure prefers what people prefer. Prints as a table."""

    def __init__(self, found: _engine.Preference) -> None:
        self._found = found
        whole = self.to_dict()
        self.accuracies: dict[str, PairAccuracy] = {key: _accuracy(row) for key, row in whole["accuracies"].items()}
        """By measure."""
        self.pairs: dict[str, Any] = whole["pairs"]
        """What people chose between: numbers of images, pairs, ties and votes, and pairs by category."""
        self.protocol: dict[str, Any] = whole["protocol"]
        """How many references were drawn how often, from which seed, and what ties count."""
        self.signatures: dict[str, str] = whole["signatures"]
        """Everything that can change a digit, by metric."""
        self.notices: list[tuple[str, str]] = found.notices()
        """What a reader should know: code and sentence."""

    def __getitem__(self, key: str) -> PairAccuracy:
        try:
            return self.accuracies[key]
        except KeyError:
            raise KeyError(f"no measure is called {key!r}; there are {', '.join(self.accuracies)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.accuracies)

    def __contains__(self, key: object) -> bool:
        return key in self.accuracies

    def rows(self) -> list[dict[str, Any]]:
        """Every pair with its captions, votes, scores (means over the draws) and how often each measure was right."""
        return [json.loads(line) for line in self._found.render("rows", 3).splitlines()]


def _accuracy(row: dict[str, Any]) -> PairAccuracy:
    found = row.get("intervals", {})
    ends = {name: tuple(found[name]) for name in ("mean", "all") if found.get(name) is not None}
    by_category = {name: tuple(pair) for name, pair in found.get("accuracy", {}).items() if pair is not None}
    return PairAccuracy(row["accuracy"], row["mean"], row["all"], row["by_draw"], row["tied"], ends, by_category)


def prefer(
    pairs: Any,
    references: Captionlike | None = None,
    metrics: Metrics = None,
    *,
    references_per_pair: int | None = 5,
    draws: int = 5,
    draw_seed: int = 12_345,
    human_ties: str = "half",
    metric_ties: str = "half",
    scores: str | os.PathLike[str] | None = None,
    lower_is_better: str | Sequence[str] = (),
    own_reference: str = "keep",
    surplus: str = "error",
    ids: str = "as-given",
    intervals: bool | float = False,
    resamples: int = 1_000,
    seed: int = 12_345,
    settings: Settings = None,
    df: DocumentFrequencies | str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Preference:
    """Tells how often metrics prefer the caption of a pair that people prefer: the protocol of PASCAL-50S.

    Args:
        pairs: the path of a file (JSON, JSON Lines, CSV, TSV), or dictionaries with ``image_id``, ``captions`` (two of
            them), ``votes`` (two numbers) or ``winner`` (``"a"``, ``"b"`` or ``"tie"``), perhaps ``category`` and
            ``references``, or a table of pandas, polars or pyarrow with such columns; None and NaN are missing cells.
        references: as for :func:`capeval.score`, to draw from by image, unless they stand beside the pairs.
        metrics: as for :func:`capeval.score`.
        references_per_pair: how many references are drawn from those of a pair; None for all.
        draws: how many times they are drawn; accuracies are means over the draws.
        draw_seed: what the drawing starts from; a draw is a function of it and of the pair.
        human_ties: pairs of which people prefer neither: ``"skip"`` them, or count them ``"half"`` right.
        metric_ties: pairs to whose captions a metric gives the same score: ``"half"`` right, ``"wrong"``, or as if it
            preferred the ``"first"``.
        scores: the path of scores by image and caption that were computed before, in place of metrics.
        lower_is_better: the keys of these scores that are error rates; ``ter`` and the like are known.
        own_reference: a caption of a pair that is itself a reference: ``"keep"``, ``"remove"`` the reference, or
            ``"skip"`` the pair.
        surplus: pairs without references: ``"error"`` or ``"ignore"``.
        ids: ``"text"`` if the id 1 and the id "1" are the same.
        intervals: confidence intervals: ``True`` for 95 %, or a level.
        resamples: how many resamples of the images the intervals stand on.
        seed: what the random numbers of the resamples start from.
        settings: as for :func:`capeval.score`.
        df: as for :func:`capeval.score`; otherwise document frequencies count the references drawn for every pair.
        threads: how many threads work.
        progress: as for :func:`capeval.score`.

    Raises:
        ValueError: pairs that are none, contradict themselves or have no references.
        TypeError: pairs or numbers of another type.
        FileNotFoundError: a file that is not there.
    """
    is_path = isinstance(pairs, (str, os.PathLike))
    of_scoring = {
        "references": references is not None,
        "metrics": metrics is not None,
        "settings": bool(settings),
        "df": df is not None,
        "references_per_pair": references_per_pair != 5,
        "draws": draws != 5,
        "draw_seed": draw_seed != 12_345,
        "own_reference": own_reference != "keep",
        "surplus": surplus != "error",
    }
    refuse_beside_scores(scores, of_scoring)
    if references_per_pair is not None:
        what = "a whole number (or None for all)"
        references_per_pair = whole("references_per_pair", references_per_pair, 1, 2**63 - 1, what=what)
    draws = whole("draws", draws, 1, 10_000)
    draw_seed = whole("draw_seed", draw_seed, 0, 2**64 - 1)
    options = {
        "metrics": metric_options(metrics, settings),
        "lower_is_better": [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better),
        "references_per_pair": references_per_pair,
        "draws": draws,
        "draw_seed": draw_seed,
        "human_ties": human_ties,
        "metric_ties": metric_ties,
        "own_reference": own_reference,
        "surplus": surplus,
        "ids": ids,
        "intervals": resampling(intervals, resamples, seed),
    }
    ground = None if references is None else captions(references, "references", references=True)
    table = DocumentFrequencies._table(df)
    with Listener(progress) as listener:
        return Preference(
            _engine.prefer(
                os.fspath(pairs) if is_path else None,
                "" if is_path else _rows(pairs),
                ground,
                options,
                table,
                None if scores is None else os.fspath(scores),
                threads,
                listener,
            )
        )


def _rows(pairs: Any) -> str:
    columns = table_columns(pairs)
    if columns is not None:
        twice = next((name for k, name in enumerate(columns) if name in columns[:k]), None)
        if twice is not None:
            raise ValueError(f"pairs: the column {twice!r} is given twice; leave out or rename one of them")
        if hasattr(pairs, "collect_schema") and hasattr(pairs, "collect"):  # polars.LazyFrame
            pairs = pairs.collect()
        values = {name: to_list(pairs, name) for name in columns}
        pairs = [dict(zip(values, row)) for row in zip(*values.values())]
    if isinstance(pairs, (Mapping, bytes)) or not hasattr(pairs, "__iter__"):
        kind = type(pairs).__name__
        raise TypeError(f"pairs must be a path, dictionaries in a list, or a table, not of type {kind}")
    return json.dumps([_row(row, f"pairs (record {k})") for k, row in enumerate(pairs, 1)])


def _row(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise TypeError(f"{place}: expected a dictionary with 'image_id', 'captions' and 'votes', not {row!r}")
    found = {}
    for name, cell in row.items():
        if not isinstance(name, str):
            raise TypeError(f"{place}: a key must be a string, not {name!r}")
        if not is_missing(cell):
            plain = _plain(cell, f"{place}: {_plain(name, place)}")
            # A column of whole numbers with a missing cell is one of floats.
            is_whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**63
            found[name] = int(plain) if is_whole else plain
    return found


def _plain(value: Any, place: str) -> Any:
    """The value as JSON knows it; `place` is the record and the field."""
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
            raise ValueError(f"{place}: {value!r} is no Unicode text; remove the lone surrogate") from None
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place}: {value} is no finite number")
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, place) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, place) for inner in value]
    remedy = "; write a list, whose order is told" if isinstance(value, (set, frozenset)) else ""
    raise TypeError(f"{place}: a value of type {type(value).__name__} cannot stand in a pair{remedy}")
