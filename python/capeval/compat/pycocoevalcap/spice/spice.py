"""SPICE's place, for programs that import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn


class Spice:
    """Not there yet: ``compute_score`` raises ``NotImplementedError``."""

    def compute_score(self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]]) -> NoReturn:
        """Raises ``NotImplementedError``."""
        raise NotImplementedError(
            "capeval has no SPICE yet; leave it out of the scorers, or take it from the real pycocoevalcap, which "
            "needs Java"
        )

    def method(self) -> str:
        """``"SPICE"``."""
        return "SPICE"
