"""What the stand-ins share: calls of the engine, and the checks that the originals make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _engine
from .._frequencies import DocumentFrequencies

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Scored(NamedTuple):
    """What one metric gave."""

    corpus: list[float]
    """One value per part."""
    segments: npt.NDArray[np.float64]
    """A row per part."""
    statistics: npt.NDArray[np.float64]
    """A row per segment."""
    columns: list[str]
    """What the statistics are called."""

    def totals(self) -> dict[str, float]:
        """The summed statistics; counts below 2^53 add up exactly."""
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
    """numpy's mean, as the originals take it: it may differ from the exact one in the last place."""
    import numpy as np

    average: np.float64 = np.float64(np.mean(segments))
    return average


def check(condition: bool, sentence: str) -> None:
    """Fails as the assertions of the originals do, and says why."""
    if not condition:
        raise AssertionError(sentence)


def pairs(gts: Mapping[Any, Any], res: Mapping[Any, Any]) -> tuple[list[list[str]], list[str]]:
    """References and candidates of dictionaries ``{id: [caption, …]}``, in the order of `gts`."""
    check(gts.keys() == res.keys(), "gts and res must have the same ids")
    references: list[list[str]] = []
    candidates: list[str] = []
    for key, captions in gts.items():
        hypothesis = res[key]
        check(type(hypothesis) is list and len(hypothesis) == 1, f"image {key!r}: res must hold a list of one caption")
        check(type(captions) is list and len(captions) > 0, f"image {key!r}: gts must hold a list of captions")
        references.append(captions)
        candidates.append(hypothesis[0])
    return references, candidates
