"""How often metrics prefer what people prefer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, Metrics, Settings, captions, metric_names, table_columns, to_list
from ._inputs import settings as _pairs
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
        return self.accuracies[key]

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
            ``references``, or a table of pandas, polars or pyarrow with such columns.
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
        ValueError: pairs that are none, or have no references.
        FileNotFoundError: a file that is not there.
    """
    is_path = isinstance(pairs, (str, os.PathLike))
    rules = {
        "metrics": metric_names(metrics),
        "settings": _pairs(settings),
        "references_per_pair": references_per_pair,
        "draws": draws,
        "draw_seed": draw_seed,
        "human_ties": human_ties,
        "metric_ties": metric_ties,
        "own_reference": own_reference,
        "surplus": surplus,
        "ids": ids,
        "intervals": (0.95 if intervals is True else float(intervals), resamples, seed) if intervals else None,
        "threads": threads,
        "scores": None if scores is None else os.fspath(scores),
        "lower_is_better": [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better),
    }
    ground = None if references is None else captions(references, "references", references=True)
    table = DocumentFrequencies._table(df)
    with Listener(progress) as listener:
        return Preference(
            _engine.prefer(
                os.fspath(pairs) if is_path else None,
                "" if is_path else _rows(pairs),
                ground,
                rules,
                table,
                listener,
            )
        )


def _rows(pairs: Any) -> str:
    columns = table_columns(pairs)
    if columns is not None:
        values = {name: to_list(pairs, name) for name in columns}
        pairs = [dict(zip(values, row)) for row in zip(*values.values())]
    rows = list(pairs)
    for k, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"pair {k} must be a dictionary with 'image_id', 'captions' and 'votes', not {row!r}")
    return json.dumps([dict(row) for row in rows], default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot stand in a pair")
