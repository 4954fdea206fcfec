"""ROUGE-N, ROUGE-L and ROUGE-Lsum as in rouge_score."""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import repeat
from typing import Any

from .._engine import evaluate
from .scoring import Score

__all__ = ["RougeScorer", "Score"]


class RougeScorer:
    """Scores a prediction against a target by ``rouge1`` … ``rouge9``, ``rougeL`` and ``rougeLsum``."""

    def __init__(
        self,
        rouge_types: Sequence[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Any = None,
    ) -> None:
        if split_summaries or tokenizer is not None:
            raise NotImplementedError(
                "capeval's RougeScorer supports neither split_summaries nor a tokenizer; put each sentence on its own "
                "line"
            )
        self.rouge_types = list(rouge_types)
        self._use_stemmer = use_stemmer

    @cached_property
    def _metric(self) -> str:
        longest = 1
        for name in self.rouge_types:
            if name in ("rougeL", "rougeLsum"):
                continue
            match = re.fullmatch(r"rouge([1-9])", name)
            if match is None:
                raise ValueError(f"Invalid rouge type: {name}")
            longest = max(longest, int(match[1]))
        return f"rouge-score:n={longest}" + (":stem=porter-nltk" if self._use_stemmer else "")

    def _key(self, name: str) -> str:
        return name.removeprefix("rouge").lower()

    def score_many(self, targets: Sequence[Sequence[str]], predictions: Sequence[str]) -> list[dict[str, Score]]:
        """The scores of each prediction, with the best of its targets by each type."""
        scored = evaluate(targets, predictions, [self._metric])[0]
        columns = dict(zip(scored.columns, scored.statistics.T.tolist()))
        # Calls from C, and no search for garbage among what is built, take a third of the time of a loop with both.
        make = partial(tuple.__new__, Score)
        searches = gc.isenabled()
        gc.disable()
        try:
            by_type = [map(make, zip(*(columns[f"{part}-{self._key(name)}"] for part in "prf"))) for name in self.rouge_types]
            names = repeat(self.rouge_types)
            return list(map(dict, map(zip, names, zip(*by_type)))) if by_type else [{} for _ in predictions]
        finally:
            if searches:
                gc.enable()

    def score(self, target: str, prediction: str) -> dict[str, Score]:
        """The scores of a prediction against one target."""
        return self.score_many([[target]], [prediction])[0]

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, Score]:
        """The best score over several targets, for each type."""
        return self.score_many([list(targets)], [prediction])[0]
