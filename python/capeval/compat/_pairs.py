"""The collection of hypotheses and references behind scorers that are extended with ``+=``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._engine import check, spread

if TYPE_CHECKING:
    from typing_extensions import Self


class Pairs:
    """Collects hypotheses and references; None marks a hypothesis that will be added later."""

    def __init__(self) -> None:
        self._tests: list[str | None] = []
        self._refs: list[list[str]] = []

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Adds a hypothesis with its references."""
        if refs is not None:
            self._refs.append(spread(refs))
            texts = [test] if test is None else spread([test])
            check(len(texts) == 1, f"a hypothesis is one caption, not {len(texts)}")
            self._tests.extend(texts)

    def size(self) -> int:
        """The number of hypotheses."""
        return len(self._refs)

    def __iadd__(self, other: Any) -> Self:
        if type(other) is tuple:
            self.cook_append(other[0], other[1])
        else:
            self._tests.extend(other._tests)
            self._refs.extend(other._refs)
        return self

    def _take(self, other: Pairs) -> None:
        """Copies the captions of another scorer."""
        self._tests, self._refs = list(other._tests), list(other._refs)

    def _given(self) -> list[str]:
        """The hypotheses, of which none may be missing."""
        tests = [test for test in self._tests if test is not None]
        check(len(tests) == len(self._refs), f"refs/test mismatch! {len(self._refs)}<>{len(tests)}")
        return tests
