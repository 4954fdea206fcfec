"""Explanations of single scores, from counts to scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._data import calling
from ._inputs import Captionlike, Metrics
from ._keywords import only, takes
from ._report import Id
from ._score import by_name, prepare
from .options import ExplainOptions, IdMatching, Policies

if TYPE_CHECKING:
    from typing_extensions import Unpack

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


@takes(ExplainOptions)
def explain(
    references: Captionlike | Evaluator,
    candidates: Captionlike = None,
    metrics: Metrics = None,
    *,
    images: Id | Iterable[Id],
    **options: Unpack[ExplainOptions],
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
        references: As for :func:`capeval.score`.
        candidates: As for :func:`capeval.score`.
        metrics: As for :func:`capeval.score`.
        images: The id of an image, or several.

    Returns:
        One entry for each image and each system that describes it, in this order.

    Raises:
        ValueError: no system was scored on an image; otherwise as for :func:`capeval.score`.
    """
    ground, read, chosen = prepare(references, by_name(candidates, options["systems"]), metrics, options)
    settings = {
        **only(options, Policies, IdMatching),
        "metrics": chosen.options,
        "explain": [images] if isinstance(images, (int, str)) or not hasattr(images, "__iter__") else list(images),
    }
    with calling(chosen, options) as call:
        found = _engine.score(ground, read, [], settings, call)
    return [Explained(row) for row in found.explained()]
