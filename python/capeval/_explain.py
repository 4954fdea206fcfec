"""Explanations of single scores, from counts to scores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._chair import Chair
from ._choices import Duplicate, Empty, Idf, Ids, Missing, Surplus
from ._data import Models, Vectors, data_of
from ._frequencies import Frequencies
from ._inputs import (
    Captionlike,
    Metrics,
    Pictures,
    Settings,
    metric_options,
    thread_count,
)
from ._judging import Judging
from ._report import Id
from ._score import by_name, prepare

if TYPE_CHECKING:
    from ._evaluator import Evaluator


class Match(NamedTuple):
    """Words of the candidate that match words of references."""

    matcher: str
    """The kind of match, such as ``2-gram`` or ``stem``."""
    candidate: list[int]
    """Positions in the candidate's words."""
    references: dict[int, list[int]]
    """By the index of a reference: positions in its words."""


class Step(NamedTuple):
    """A number, and the numbers that it is computed from."""

    title: str
    """The name of the number, such as ``precision of 2-grams``."""
    value: float | None
    """The number; None for a heading."""
    formula: str | None
    """How the number is computed from the values of `parts`; None for counts and values of the model."""
    note: str | None
    """A remark."""
    facts: dict[str, float]
    """Related numbers by name, such as the document frequency of an n-gram."""
    matches: list[Match]
    """The matching words that the number counts."""
    parts: list[Step]
    """The steps that the number is computed from."""


class Explanation(NamedTuple):
    """How one metric computes the scores of a caption."""

    candidate: list[str]
    """The words of the candidate as the metric reads them."""
    references: list[list[str]]
    """The words of each reference, likewise."""
    scores: list[Step]
    """One tree for each measure of the metric."""


class Explained:
    """One system's caption of one image, and how its scores were computed. Prints as trees of text."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.system: str = found["system"]
        """The name of the system."""
        self.id: Id = found["id"]
        """The id of the image."""
        self.caption: str = found["caption"]
        """The candidate, as it was written."""
        self.references: list[str] = found["references"]
        """The references, as they were written."""
        self.metrics: dict[str, Explanation] = {
            key: Explanation(candidate, references, _steps(scores))
            for key, (candidate, references, scores) in found["metrics"].items()
        }
        """The explanations by metric."""
        self._text: str = found["text"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Explained({self.system!r}, {self.id!r}, {self.caption!r}, metrics={list(self.metrics)})"


def _steps(rows: list[tuple[Any, ...]]) -> list[Step]:
    return [
        Step(title, value, formula, note, facts, [Match(*match) for match in matches], _steps(parts))
        for title, value, formula, note, facts, matches, parts in rows
    ]


def explain(
    references: Captionlike | Evaluator,
    candidates: Captionlike = None,
    metrics: Metrics = None,
    *,
    images: Id | Iterable[Id],
    systems: Mapping[str, Captionlike] | None = None,
    suite: str | None = None,
    tokenizer: str | None = None,
    settings: Settings = None,
    idf: Idf | None = None,
    document_frequencies: Frequencies = None,
    lm: str | os.PathLike[str] | None = None,
    spice_cache: str | os.PathLike[str] | None = None,
    model: Models = None,
    vectors: Vectors = None,
    chair: Chair | None = None,
    judging: Judging | None = None,
    pictures: Pictures = None,
    score_cache: str | os.PathLike[str] | None = None,
    missing: Missing = "error",
    surplus: Surplus = "error",
    duplicate: Duplicate = "error",
    empty: Empty = "error",
    ids: Ids = "as-given",
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
    input_format: str | None = None,
    id_column: str | None = None,
    caption_column: str | None = None,
    threads: int | None = None,
) -> list[Explained]:
    """Explains how the scores of single images were computed, as ``capeval score --explain`` does.

    All images are scored, since document frequencies depend on all of them.

    >>> import capeval
    >>> [found] = capeval.explain({1: ["a dog runs"]}, {1: "a dog ran"}, "rouge-l", images=1)
    >>> print(found)  # doctest: +ELLIPSIS
    image 1 · candidates
      candidate    a dog ran
      reference 1  a dog runs
    ...
    >>> found.metrics["rouge-l"].scores[0].parts[0].title
    'precision P, the best'

    Args:
        references: as for :func:`capeval.score`.
        candidates: as for :func:`capeval.score`.
        metrics: as for :func:`capeval.score`.
        images: the id of an image, or several.
        systems: as for :func:`capeval.score`.
        suite: as for :func:`capeval.score`.
        tokenizer: as for :func:`capeval.score`.
        settings: as for :func:`capeval.score`.
        idf: as for :func:`capeval.score`.
        document_frequencies: as for :func:`capeval.score`.
        lm: as for :func:`capeval.score`.
        spice_cache: as for :func:`capeval.score`.
        model: as for :func:`capeval.score`.
        vectors: as for :func:`capeval.score`.
        chair: as for :func:`capeval.score`.
        judging: as for :func:`capeval.score`.
        pictures: as for :func:`capeval.score`.
        score_cache: as for :func:`capeval.score`.
        missing: as for :func:`capeval.score`.
        surplus: as for :func:`capeval.score`.
        duplicate: as for :func:`capeval.score`.
        empty: as for :func:`capeval.score`.
        ids: as for :func:`capeval.score`.
        split: as for :func:`capeval.score`.
        ref_format: as for :func:`capeval.score`.
        ref_id_column: as for :func:`capeval.score`.
        ref_caption_columns: as for :func:`capeval.score`.
        input_format: as for :func:`capeval.score`.
        id_column: as for :func:`capeval.score`.
        caption_column: as for :func:`capeval.score`.
        threads: as for :func:`capeval.score`.

    Returns:
        One entry for each image and each system that describes it, in this order.

    Raises:
        ValueError: no system was scored on an image; otherwise as for :func:`capeval.score`.
    """
    ground, read, chosen, table = prepare(
        references,
        by_name(candidates, systems),
        metric_options(metrics, suite, tokenizer, settings, idf),
        document_frequencies,
        {"split": split, "format": ref_format, "id_column": ref_id_column, "caption_columns": ref_caption_columns},
        {"format": input_format, "id_column": id_column, "caption_columns": caption_column},
    )
    options = {
        "metrics": chosen.options,
        "missing": missing,
        "surplus": surplus,
        "duplicate": duplicate,
        "empty": empty,
        "ids": ids,
        "explain": [images] if isinstance(images, (int, str)) or not hasattr(images, "__iter__") else list(images),
    }
    data = data_of(
        table,
        chosen,
        lm=lm,
        spice_cache=spice_cache,
        model=model,
        vectors=vectors,
        chair=chair,
        judging=judging,
        pictures=pictures,
        score_cache=score_cache,
    )
    found = _engine.score(ground, read, [], options, data, thread_count(threads), None)
    return [Explained(row) for row in found.explained()]
