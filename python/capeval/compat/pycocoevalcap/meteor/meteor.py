"""METEOR 1.5 as in pycocoevalcap, without Java."""

from __future__ import annotations

from collections.abc import Mapping

from ..._engine import check, evaluate


class Meteor:
    """METEOR 1.5, English, ``-norm``.

    Raises:
        FileNotFoundError: METEOR's data are not installed; call ``capeval.install_data("meteor")`` once.
    """

    def __init__(self) -> None:
        # Report missing data here, where the original starts Java.
        evaluate([["a"]], ["a"], ["meteor:tok=none"])

    def compute_score(
        self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]]
    ) -> tuple[float, list[float]]:
        """The score of the summed statistics, and the scores of the images as a list."""
        check(gts.keys() == res.keys(), "gts and res must have the same ids")
        for key in gts:
            check(len(res[key]) == 1, f"image {key!r}: res must contain a list of one caption")
        candidates = [res[key][0] for key in gts]
        scored = evaluate(list(gts.values()), candidates, ["meteor:tok=none"])[0]
        return scored.corpus[0], scored.segments[0].tolist()

    def method(self) -> str:
        """``"METEOR"``."""
        return "METEOR"
