"""SPICE 1.0 as in pycocoevalcap, without Java."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._engine import check, evaluate, mean

if TYPE_CHECKING:
    import numpy as np

    from ..._engine import Scored

_SUBSETS = ["All", "Object", "Attribute", "Relation", "Cardinality", "Color", "Size"]


def details(scored: Scored) -> list[dict[str, dict[str, float]]]:
    """The numbers of each image by subset, as the original has them; NaN where the references have no such tuples."""
    images = []
    for row in scored.statistics.tolist():
        numbers = dict(zip(scored.columns, row))
        image = {}
        for subset in _SUBSETS:
            of = subset.lower()
            matched = numbers[f"{of}-matched"]
            exists = numbers[f"{of}-images"] > 0
            image[subset] = {
                "pr": numbers[f"{of}-precision"] if exists else float("nan"),
                "re": numbers[f"{of}-recall"] if exists else float("nan"),
                "f": numbers[f"{of}-f"] if exists else float("nan"),
                "fn": numbers[f"{of}-references"] - matched,
                "numImages": 1.0,
                "fp": numbers[f"{of}-candidate"] - matched,
                "tp": matched,
            }
        images.append(image)
    return images


class Spice:
    """SPICE 1.0 with Stanford CoreNLP 3.6.0's grammar.

    Its data are installed once with ``capeval.install_data("spice")``.
    """

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Mapping[Any, list[str]]
    ) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """The mean of the images, and the numbers of the images in the order of sorted ids, as in the original.

        Raises:
            FileNotFoundError: SPICE's data are not installed.
        """
        ids = sorted(gts.keys())
        check(ids == sorted(res.keys()), "gts and res must have the same ids")
        for key in ids:
            check(type(res[key]) is list and len(res[key]) == 1, f"image {key!r}: res must contain a list of one caption")
            check(type(gts[key]) is list and len(gts[key]) > 0, f"image {key!r}: gts must contain a list of captions")
        scored = evaluate([gts[key] for key in ids], [res[key][0] for key in ids], ["spice:tok=none"])[0]
        return mean(scored.segments[0]), details(scored)

    def method(self) -> str:
        """``"SPICE"``."""
        return "SPICE"
