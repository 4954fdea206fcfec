"""How often metrics prefer the captions that people prefer."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import _engine
from ._chair import Chair
from ._choices import HumanTies, Idf, Ids, MetricTies, OwnReference, Surplus
from ._data import Models, Vectors, data_of
from ._frequencies import DocumentFrequencies, Frequencies
from ._given import GivenScores, given, keys
from ._inputs import (
    Captionlike,
    Metrics,
    Pictures,
    Settings,
    digit_count,
    is_missing,
    metric_options,
    reference_captions,
    refuse_beside_scores,
    resampling,
    table_columns,
    thread_count,
    to_list,
    whole,
)
from ._judging import Judging
from ._progress import Listener, Progress
from ._rendered import Framed, Rendered

Interval = tuple[float, float]


class PairAccuracy(NamedTuple):
    """How often one measure prefers the caption that people prefer, 0 to 1; None if no pair counts."""

    by_category: dict[str, float | None]
    """Accuracy by category, such as HC, HI, HM and MM; empty if the pairs have no categories."""
    mean: float | None
    """The mean over the categories, as papers report it."""
    all: float | None
    """Accuracy over all pairs, regardless of category."""
    by_draw: list[float | None]
    """The mean over the categories in each draw of references."""
    tied: float
    """The share of pairs and draws in which the measure prefers neither caption."""
    intervals: dict[str, Interval]
    """Confidence intervals of ``mean`` and ``all``; empty unless requested."""
    category_intervals: dict[str, Interval]
    """Confidence intervals by category; empty unless requested."""


class Preference(Framed, Rendered):
    """How often each measure prefers the caption that people prefer. Prints as a table."""

    _found: _engine.Preference

    def __init__(self, found: _engine.Preference) -> None:
        self._found = found
        whole = self.to_dict()
        self.accuracies: dict[str, PairAccuracy] = {key: _accuracy(row) for key, row in whole["accuracies"].items()}
        """By measure."""
        self.pairs: dict[str, Any] = whole["pairs"]
        """The numbers of images, pairs, ties and votes, and of pairs by category."""
        self.protocol: dict[str, Any] = whole["protocol"]
        """The number of references and draws, the seed, and the rules for ties."""
        self.signatures: dict[str, str] = whole["signatures"]
        """Everything that can change a digit, by metric."""
        self.notices: list[tuple[str, str]] = found.notices()
        """Notices about the result: code and message."""

    def __getitem__(self, key: str) -> PairAccuracy:
        try:
            return self.accuracies[key]
        except KeyError:
            raise KeyError(f"no measure is called {key!r}; there are {', '.join(self.accuracies)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.accuracies)

    def __contains__(self, key: object) -> bool:
        return key in self.accuracies

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for measure, found in self.accuracies.items():
            row: dict[str, Any] = {"measure": measure, "mean": found.mean, "all": found.all, "tied": found.tied}
            for name, (low, high) in found.intervals.items():
                row[f"{name}_low"], row[f"{name}_high"] = low, high
            rows.append({**row, **found.by_category})
        return rows

    def to_html(self, *, title: str | None = None, digits: int = 3) -> str:
        """Renders a page with the accuracies as a table and as charts."""
        return self._found.html(title, digit_count(digits))

    def rows(self) -> list[dict[str, Any]]:
        """Lists the pairs, with captions, votes, scores (means over the draws) and the accuracy of each measure."""
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
    human_ties: HumanTies = "half",
    metric_ties: MetricTies = "half",
    scores: GivenScores = None,
    lower_is_better: str | Sequence[str] = (),
    own_reference: OwnReference = "keep",
    surplus: Surplus = "error",
    ids: Ids = "as-given",
    intervals: bool | float = False,
    resamples: int = 1_000,
    seed: int = 12_345,
    suite: str | None = None,
    tokenizer: str | None = None,
    settings: Settings = None,
    idf: Idf | None = None,
    document_frequencies: Frequencies = None,
    spice_cache: str | os.PathLike[str] | None = None,
    model: Models = None,
    vectors: Vectors = None,
    chair: Chair | None = None,
    judging: Judging | None = None,
    pictures: Pictures = None,
    score_cache: str | os.PathLike[str] | None = None,
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress = None,
    df: Frequencies = None,
) -> Preference:
    """Measures how often metrics prefer the caption of a pair that people prefer: the protocol of PASCAL-50S.

    Args:
        pairs: the path of a file (JSON, JSON Lines, CSV, TSV, Parquet); or dictionaries with ``image_id``,
            ``captions`` (two), ``votes`` (two numbers) or ``winner`` (``"a"``, ``"b"`` or ``"tie"``), and optionally
            ``category`` and ``references``; or a table of pandas, polars or pyarrow with such columns. None and NaN
            are missing cells.
        references: as for :func:`capeval.score`; not needed if the pairs contain them.
        metrics: as for :func:`capeval.score`.
        references_per_pair: the number of references to draw for each pair; None for all of them.
        draws: how many times references are drawn; accuracies are means over the draws.
        draw_seed: the seed of the draws; a draw depends only on the seed and the pair.
        human_ties: what to do about pairs in which people prefer neither caption:
            - ``"skip"``: leave the pair out
            - ``"half"``: count the pair as half right, the expected value of a random choice
        metric_ties: what to do about pairs whose captions have equal scores:
            - ``"half"``: count the pair as half right, the expected value of a random choice
            - ``"wrong"``: count the pair as wrong
            - ``"first"``: count the first caption as preferred, as some programs do
        scores: as for :func:`capeval.score`; with a column or key ``caption`` where an image has several captions. Metrics
            are computed beside them only if some are named, or references given.
        lower_is_better: which of these scores are error rates, by key; ``ter`` and other known ones need not be listed.
        own_reference: what to do about a caption that is also a reference of its image; for a pair, ``"hold-out"`` is
            the same as ``"remove"``:
            - ``"keep"``: score it against all references, itself included, with a notice
            - ``"remove"``: remove it from the references of its image
            - ``"remove-same-words"``: as remove, also references that differ only in case, punctuation and spaces
            - ``"hold-out"``: compare it with the other references, one caption at a time
            - ``"skip"``: leave it out, with its ratings or its pair
        surplus: what to do about pairs without references:
            - ``"error"``: stop, and name the images
            - ``"ignore"``: leave them out
        ids: as for :func:`capeval.score`.
        intervals: confidence intervals: ``True`` for 95 %, or a level.
        resamples: the number of resamples of the images for the intervals.
        seed: the seed of the resamples.
        suite: as for :func:`capeval.score`.
        tokenizer: as for :func:`capeval.score`.
        settings: as for :func:`capeval.score`.
        idf: as for :func:`capeval.score`.
        document_frequencies: as for :func:`capeval.score`; the default counts the references drawn for all pairs.
        spice_cache: as for :func:`capeval.score`.
        model: as for :func:`capeval.score`.
        vectors: as for :func:`capeval.score`.
        chair: as for :func:`capeval.score`.
        judging: as for :func:`capeval.score`.
        pictures: as for :func:`capeval.score`.
        score_cache: as for :func:`capeval.score`.
        split: as for :func:`capeval.score`.
        ref_format: as for :func:`capeval.score`.
        ref_id_column: as for :func:`capeval.score`.
        ref_caption_columns: as for :func:`capeval.score`.
        threads: the number of threads; see :func:`capeval.set_num_threads`.
        progress: as for :func:`capeval.score`.
        df: the former name of `document_frequencies`.

    Raises:
        ValueError: the pairs are invalid, contradict each other or have no references.
        TypeError: a pair or a number has the wrong type.
        FileNotFoundError: a file does not exist.
    """
    is_path = isinstance(pairs, (str, os.PathLike))
    frequencies = DocumentFrequencies._given(document_frequencies, df)
    of_scoring = {
        "tokenizer": tokenizer is not None,
        "settings": bool(settings),
        "idf": idf is not None,
        "document_frequencies": frequencies is not None,
        "spice_cache": spice_cache is not None,
        "model": model is not None,
        "vectors": vectors is not None,
        "chair": chair is not None,
        "judging": judging is not None,
        "pictures": pictures is not None,
        "score_cache": score_cache is not None,
        "references_per_pair": references_per_pair != 5,
        "draws": draws != 5,
        "draw_seed": draw_seed != 12_345,
        "own_reference": own_reference != "keep",
        "surplus": surplus != "error",
    }
    if references is None and metrics is None and suite is None:
        refuse_beside_scores(scores, of_scoring)
    if references_per_pair is not None:
        what = "a whole number (or None for all)"
        references_per_pair = whole("references_per_pair", references_per_pair, 1, 2**63 - 1, what=what)
    draws = whole("draws", draws, 1, 10_000)
    draw_seed = whole("draw_seed", draw_seed, 0, 2**64 - 1)
    chosen = metric_options(metrics, suite, tokenizer, settings, idf)
    options = {
        "metrics": chosen.options,
        "lower_is_better": keys(lower_is_better),
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
    ground = None
    if references is not None:
        ground = reference_captions(references, split, ref_format, ref_id_column, ref_caption_columns)
    data = data_of(
        DocumentFrequencies._table(frequencies),
        chosen,
        spice_cache=spice_cache,
        model=model,
        vectors=vectors,
        chair=chair,
        judging=judging,
        pictures=pictures,
        score_cache=score_cache,
    )
    judged = os.fspath(pairs) if is_path else _rows(pairs).encode()
    with Listener(progress) as listener:
        return Preference(_engine.prefer(judged, ground, given(scores), options, data, thread_count(threads), listener))


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
            # pandas stores a column of whole numbers with a missing cell as floats.
            is_whole = isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**63
            found[name] = int(plain) if is_whole else plain
    return found


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
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, place) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, place) for inner in value]
    remedy = "; write a list, which has an order" if isinstance(value, (set, frozenset)) else ""
    raise TypeError(f"{place}: a pair cannot contain a value of type {type(value).__name__}{remedy}")
