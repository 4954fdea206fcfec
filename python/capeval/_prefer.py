"""How often metrics prefer the captions that people prefer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._groups import by_group
from ._inputs import Captionlike, Metrics, whole
from ._keywords import only, takes
from ._people import People, compared
from ._result import Interval, Keyed, ends
from .options import PreferOptions, RatedCaptions, ReferenceDraws, Ties

if TYPE_CHECKING:
    from typing_extensions import Unpack


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


class Preference(Keyed[PairAccuracy]):
    """How often each measure prefers the caption of a pair that people prefer."""

    _kind = "preference"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        whole = self.to_dict()
        self.accuracies: dict[str, PairAccuracy] = {key: _accuracy(row) for key, row in whole["accuracies"].items()}
        """By measure."""
        self.pairs: dict[str, Any] = whole["pairs"]
        """The numbers of images, pairs, ties and votes, and of pairs by category."""
        self.protocol: dict[str, Any] = whole["protocol"]
        """The number of references and draws, the seed, and the rules for ties."""
        self.signatures: dict[str, str] = whole["signatures"]
        """Everything that can change a digit, by metric."""

    @property
    def groups(self) -> dict[str, dict[str, dict[str, PairAccuracy]]]:
        """By property, group and measure: the accuracy in the group."""
        return by_group(self.to_dict(), lambda group: {key: _accuracy(row) for key, row in group["accuracies"].items()})

    @property
    def _by_name(self) -> dict[str, PairAccuracy]:
        return self.accuracies

    def _frame(self) -> list[dict[str, Any]]:
        rows = []
        for measure, found in self.accuracies.items():
            row: dict[str, Any] = {"measure": measure, "mean": found.mean, "all": found.all, "tied": found.tied}
            for name, (low, high) in found.intervals.items():
                row[f"{name}_low"], row[f"{name}_high"] = low, high
            rows.append({**row, **found.by_category})
        return rows


def _accuracy(row: dict[str, Any]) -> PairAccuracy:
    found = row.get("intervals", {})
    intervals = {name: ends(found[name]) for name in ("mean", "all") if found.get(name) is not None}
    by_category = {name: ends(pair) for name, pair in found.get("accuracy", {}).items() if pair is not None}
    return PairAccuracy(row["accuracy"], row["mean"], row["all"], row["by_draw"], row["tied"], intervals, by_category)


@takes(PreferOptions)
def prefer(
    pairs: Any, references: Captionlike | None = None, metrics: Metrics = None, **options: Unpack[PreferOptions]
) -> Preference:
    """Measures how often metrics prefer the caption of a pair that people prefer: the protocol of PASCAL-50S.

    >>> import capeval
    >>> pairs = [{"image_id": 1, "captions": ["a dog runs", "a cat"], "winner": "a", "references": ["a dog runs", "the dog ran"]}]
    >>> capeval.prefer(pairs, metrics="rouge-l")["rouge-l"].all
    1.0

    Args:
        pairs: The path of a file (JSON, JSON Lines, CSV, TSV, Parquet); or dictionaries with ``image_id``,
            ``captions`` (two), ``votes`` (two numbers) or ``winner`` (``"a"``, ``"b"`` or ``"tie"``), and optionally
            ``category`` and ``references``; or a table of pandas, polars or pyarrow with such columns. None and NaN
            are missing cells.
        references: As for :func:`capeval.score`; not needed if the pairs contain them.
        metrics: As for :func:`capeval.score`. Metrics are computed beside `scores` only if some are named, or references
            given. Scores need a column or key ``caption`` where an image has several captions.

    Raises:
        ValueError: the pairs are invalid, contradict each other or have no references.
        TypeError: a pair or a number has the wrong type.
        FileNotFoundError: a file does not exist.
    """
    people = People("pairs", pairs, "'image_id', 'captions' and 'votes'")
    own = {**only(options, Ties, RatedCaptions), **_draws(options)}
    return Preference(compared(_engine.prefer, people, references, metrics, options, own, ReferenceDraws))


def _draws(options: ReferenceDraws) -> dict[str, int | None]:
    """The engine's options for the draws of references."""
    number = options["references_per_pair"]
    if number is not None:
        number = whole("references_per_pair", number, 1, 2**63 - 1, what="a whole number (or None for all)")
    return {
        "references_per_pair": number,
        "draws": whole("draws", options["draws"], 1, 10_000),
        "draw_seed": whole("draw_seed", options["draw_seed"], 0, 2**64 - 1),
    }
