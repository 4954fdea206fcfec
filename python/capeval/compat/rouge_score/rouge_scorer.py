"""ROUGE-N, ROUGE-L and ROUGE-Lsum as in rouge_score."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
        scored = evaluate(targets, predictions, [self._metric()])[0]
        places = {column: k for k, column in enumerate(scored.columns)}
        rows = scored.statistics.tolist()

        def of(row: list[float], name: str) -> Score:
            key = self._key(name)
            return Score(row[places[f"p-{key}"]], row[places[f"r-{key}"]], row[places[f"f-{key}"]])

        return [{name: of(row, name) for name in self.rouge_types} for row in rows]

    def score(self, target: str, prediction: str) -> dict[str, Score]:
        """The scores of a prediction against one target."""
        return self.score_many([[target]], [prediction])[0]

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, Score]:
        """The best score over several targets, for each type."""
        return self.score_many([list(targets)], [prediction])[0]
