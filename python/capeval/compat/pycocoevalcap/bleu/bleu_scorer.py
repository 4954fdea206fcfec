"""BLEU over hypotheses that are added with ``+=``, as in pycocoevalcap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..._engine import Scored, check, evaluate
from ..._ngrams import bleu_cook_refs as cook_refs
from ..._ngrams import bleu_cook_test as cook_test
from ..._ngrams import bleu_precook as precook
from ..._pairs import Pairs

__all__ = ["BleuScorer", "cook_refs", "cook_test", "precook"]

_OPTIONS = ("closest", "shortest", "average")


class BleuScorer(Pairs):
    """Collects hypotheses and references, then scores them.

    A quirk of the original is kept: if nothing changes, a second ``compute_score`` returns only the corpus scores of
    the first, whatever its option, and the lengths stay as well; asking for a length also computes the scores.
    """

    def __init__(
        self,
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        special_reflen: float | None = None,
    ) -> None:
        if special_reflen is not None:
            raise NotImplementedError("capeval's BleuScorer does not support special_reflen; choose an option instead")
        super().__init__()
        self.n = n
        self.special_reflen = special_reflen
        self._score: list[float] | None = None
        self._scored: Scored | None = None
        self._option: str | None = None
        self.cook_append(test, refs)

    def copy(self) -> BleuScorer:
        """A scorer of the same captions."""
        new = BleuScorer(n=self.n)
        new._take(self)
        return new

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Adds a hypothesis with its references."""
        super().cook_append(test, refs)
        self._score = None

    def __iadd__(self, other: Any) -> BleuScorer:
        check(type(other) is tuple or self.compatible(other), "incompatible BLEUs.")
        self._score = None
        return super().__iadd__(other)

    def compatible(self, other: object) -> bool:
        """Whether `other` may be added."""
        return isinstance(other, BleuScorer) and self.n == other.n

    def ratio(self, option: str | None = None) -> float:
        """Length of the hypotheses over that of the references."""
        self.compute_score(option)
        return self._lengths()[2]

    def reflen(self, option: str | None = None) -> float:
        """The effective length of the references."""
        self.compute_score(option)
        return self._lengths()[1]

    def testlen(self, option: str | None = None) -> int:
        """The length of the hypotheses."""
        self.compute_score(option)
        return self._lengths()[0]

    def retest(self, new_test: str | Sequence[str]) -> BleuScorer:
        """Takes other hypotheses for the same references."""
        tests = [new_test] if isinstance(new_test, str) else list(new_test)
        check(len(tests) == len(self._refs), f"{len(tests)} hypotheses for {len(self._refs)} references")
        self._tests = list(tests)
        self._score = None
        return self

    def rescore(self, new_test: str | Sequence[str]) -> Any:
        """:meth:`retest`, then :meth:`compute_score`."""
        return self.retest(new_test).compute_score()

    def recompute_score(self, option: str | None = None, verbose: int = 0) -> Any:
        """Computes the scores again."""
        self._score = None
        return self.compute_score(option, verbose)

    def compute_score(self, option: str | None = None, verbose: int = 0) -> Any:
        """Corpus scores ``[n]`` and scores by hypothesis ``[n][size]``.

        Args:
            option: the reference length: ``"closest"``, ``"shortest"`` or ``"average"``; the default is the average
                for a single hypothesis, and the closest for several.
            verbose: 1 prints the counts, 2 also those of each hypothesis.
        """
        if self._score is not None:
            return self._score
        scored = self._compute(option)
        if verbose > 1:
            for k, row in enumerate(scored.statistics.tolist()):
                lengths = [len(reference.split()) for reference in self._refs[k]]
                print({"reflen": lengths, "testlen": int(row[0]), **self._counts(row)}, self._whole(row[1]))
        if verbose > 0:
            total = [scored.totals()[column] for column in scored.columns]
            testlen, reflen, ratio = self._lengths()
            print({"testlen": testlen, "reflen": reflen, **self._counts(total)})
            print("ratio:", ratio)
        self._score = scored.corpus
        if option == "average" or (option is None and len(self._refs) == 1):
            self._score = self._with_length(scored, self._lengths()[1])
        return self._score, [row.tolist() for row in scored.segments]

    def _with_length(self, scored: Scored, reflen: float) -> list[float]:
        """The corpus scores for another length of the references."""
        totals = scored.totals()
        ratio = (totals["candidate-length"] + 1e-15) / (reflen + 1e-9)
        product, scores = 1.0, []
        for n in range(1, self.n + 1):
            product *= (totals[f"matches-{n}"] + 1e-15) / (totals[f"totals-{n}"] + 1e-9)
            scores.append(product ** (1.0 / n))
        return [score * math.exp(1 - 1 / ratio) for score in scores] if ratio < 1 else scores

    def _counts(self, row: list[float]) -> dict[str, list[int]]:
        matches, totals = row[2 : 2 + self.n], row[2 + self.n : 2 + 2 * self.n]
        return {"guess": [int(count) for count in totals], "correct": [int(count) for count in matches]}

    def _whole(self, length: float) -> float:
        return length if self._option == "average" else int(length)

    def _lengths(self) -> tuple[int, float, float]:
        assert self._scored is not None
        totals = self._scored.totals()
        testlen, reflen = int(totals["candidate-length"]), self._whole(totals["reference-length"])
        if self._option == "average":
            # The original adds averages one by one, which affects the last place.
            reflen = sum(self._scored.statistics[:, 1].tolist())
        return testlen, reflen, (testlen + 1e-15) / (reflen + 1e-9)

    def _compute(self, option: str | None) -> Scored:
        if option is None:
            option = "average" if len(self._refs) == 1 else "closest"
        check(option in _OPTIONS, f"unsupported reflen option {option}")
        tests = self._given()
        self._option = option
        metric = f"bleu:n={self.n}:reflen={option}:tok=none"
        self._scored = evaluate(self._refs, tests, [metric])[0]
        return self._scored
