"""A placeholder for SPICE, for programs that import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn


class Spice:
    """Not available yet: ``compute_score`` raises ``NotImplementedError``."""

    def compute_score(self, gts: Mapping[object, list[str]], res: Mapping[object, list[str]]) -> NoReturn:
        """Raises ``NotImplementedError``."""
        raise NotImplementedError(
            "capeval does not have SPICE yet; leave it out of the scorers, or use the original pycocoevalcap, which "
            "needs Java"
        )

    def method(self) -> str:
        """``"SPICE"``."""
        return "SPICE"
