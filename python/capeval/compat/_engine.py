"""Calls of the engine and checks of the originals that all replacements share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _engine
from .._frequencies import DocumentFrequencies

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Scored(NamedTuple):
    """The scores of one metric."""

    corpus: list[float]
    """One value per measure of the metric."""
    segments: npt.NDArray[np.float64]
    """One row per measure."""
    statistics: npt.NDArray[np.float64]
    """One row per segment."""
    columns: list[str]
    """The names of the statistics."""

    def totals(self) -> dict[str, float]:
        """The summed statistics; sums of counts below 2^53 are exact."""
        return dict(zip(self.columns, self.statistics.sum(axis=0).tolist()))


def evaluate(
    references: Sequence[Sequence[str]],
    candidates: Sequence[str],
    metrics: Sequence[str],
    settings: Mapping[str, str] | None = None,
    df: DocumentFrequencies | None = None,
) -> list[Scored]:
    """Scores candidate k against references k by each metric."""
    import numpy as np

    found = _engine.evaluate(
        list(references),  # type: ignore[arg-type]
        list(candidates),
        list(metrics),
        list((settings or {}).items()),
        DocumentFrequencies._table(df),
    )
    scored = []
    for entry in found:
        segments = np.frombuffer(entry["segments"]).reshape(len(entry["keys"]), -1)
        statistics = np.frombuffer(entry["statistics"]).reshape(-1, len(entry["columns"]))
        scored.append(Scored(entry["corpus"], segments, statistics, entry["columns"]))
    return scored


def mean(segments: npt.NDArray[np.float64]) -> np.float64:
    """numpy's mean, as in the originals; it may differ from the exact mean in the last place."""
    import numpy as np

    average: np.float64 = np.float64(np.mean(segments))
    return average


def check(condition: bool, message: str) -> None:
    """Raises `AssertionError`, as the originals do, unless `condition` holds."""
    if not condition:
        raise AssertionError(message)


_LISTS = ("[", "(", "{", "array(")
"""How a list that is written as text begins."""


def spread(captions: Sequence[str]) -> list[str]:
    """`captions` with several in place of each that is a list written as text, as pandas writes lists into CSV."""
    # A loop takes half of the time of `any`, and this runs once for each image and metric.
    for caption in captions:
        if isinstance(caption, str) and caption.startswith(_LISTS):
            return _spread(captions)
    return list(captions)


def _spread(captions: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for caption in captions:
        strings = _engine.written_list(caption) if isinstance(caption, str) else None
        if strings is not None:
            warnings.warn(f"the caption {caption!r} is a list written as text; each string is read as a caption", stacklevel=4)
        texts.extend([caption] if strings is None else strings)
    return texts


def pairs(gts: Mapping[Any, Any], res: Mapping[Any, Any]) -> tuple[list[list[str]], list[str]]:
    """References and candidates of dictionaries ``{id: [caption, …]}``, in the order of `gts`."""
    check(gts.keys() == res.keys(), "gts and res must have the same ids")
    references: list[list[str]] = []
    candidates: list[str] = []
    for key, captions in gts.items():
        hypothesis = spread(res[key]) if type(res[key]) is list else res[key]
        check(type(hypothesis) is list and len(hypothesis) == 1, f"image {key!r}: res must contain a list of one caption")
        check(type(captions) is list and len(captions) > 0, f"image {key!r}: gts must contain a list of captions")
        references.append(spread(captions))
        candidates.append(hypothesis[0])
    return references, candidates
