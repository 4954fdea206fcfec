"""nlg-eval: BLEU, METEOR, ROUGE-L, CIDEr and SPICE of line-aligned files or lists, without its embeddings.

Lines are split on white space and not changed otherwise, as in nlg-eval. METEOR and SPICE are left out with a warning if
their data are not installed. Skip-thoughts and GloVe scores are not computed; a warning says so unless
``no_skipthoughts`` and ``no_glove`` are set.

>>> from capeval.compat.nlgeval import NLGEval
>>> evaluator = NLGEval(no_skipthoughts=True, no_glove=True, metrics_to_omit=["METEOR", "SPICE"])
>>> scores = evaluator.compute_individual_metrics(["a cat on a mat"], "a cat on a rug")
>>> sorted(scores)
['Bleu_1', 'Bleu_2', 'Bleu_3', 'Bleu_4', 'CIDEr', 'ROUGE_L']
>>> round(scores["Bleu_1"], 6)
0.8
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from ._engine import evaluate, mean

__all__ = ["NLGEval", "compute_individual_metrics", "compute_metrics"]

_KEYS = {"METEOR": "meteor", "ROUGE_L": "rouge-l", "CIDEr": "cider-d", "SPICE": "spice"}

_SKIP_THOUGHTS = ("SkipThoughtCS",)
_GLOVE = ("EmbeddingAverageCosineSimilarity", "VectorExtremaCosineSimilarity", "GreedyMatchingScore")


def _warn(no_skipthoughts: bool, no_glove: bool, omit: Iterable[str] = ()) -> None:
    """Says what the original would compute and this does not."""
    omitted = set(omit)
    asked = [*(() if no_skipthoughts else _SKIP_THOUGHTS), *(() if no_glove else _GLOVE)]
    absent = [key for key in asked if key not in omitted]
    if absent:
        message = f"{', '.join(absent)}: not computed, since capeval has no embeddings"
        warnings.warn(f"{message}; pass no_skipthoughts=True and no_glove=True", stacklevel=3)


def _scores(references: Sequence[Sequence[str]], hypotheses: Sequence[str], omit: Iterable[str]) -> dict[str, Any]:
    from .. import _engine

    omitted = set(omit)
    wanted = {key: metric for key, metric in _KEYS.items() if key not in omitted}
    for key in ("METEOR", "SPICE"):
        if key not in wanted:
            continue
        try:
            _engine.evaluate([], [], [f"{wanted[key]}:tok=none"], [], None)
        except FileNotFoundError as missing:
            warnings.warn(f"{key} is left out: {missing}", stacklevel=3)
            del wanted[key]
    bleu = [f"Bleu_{n}" for n in range(1, 5) if f"Bleu_{n}" not in omitted]
    metrics = [*(["bleu"] if bleu else []), *wanted.values()]
    stripped = [[reference.strip() for reference in texts] for texts in references]
    scored = dict(zip(metrics, evaluate(stripped, [text.strip() for text in hypotheses], metrics, {"tok": "none"})))
    found: dict[str, Any] = {}
    for n in range(1, 5):
        if f"Bleu_{n}" in bleu:
            found[f"Bleu_{n}"] = scored["bleu"].corpus[n - 1]
    for key, metric in wanted.items():
        found[key] = scored[metric].corpus[0] if key == "METEOR" else mean(scored[metric].segments[0])
    return found


def compute_metrics(
    hypothesis: str | os.PathLike[str],
    references: Sequence[str | os.PathLike[str]],
    no_overlap: bool = False,
    no_skipthoughts: bool = False,
    no_glove: bool = False,
) -> dict[str, Any]:
    """Scores a file of hypotheses against files of references, line by line, and prints the scores."""
    _warn(no_skipthoughts, no_glove)
    with open(hypothesis, encoding="utf-8") as file:
        hypotheses = file.readlines()
    streams = []
    for path in references:
        with open(path, encoding="utf-8") as file:
            streams.append(file.readlines())
    for path, stream in zip(references, streams):
        if len(stream) != len(hypotheses):
            raise AssertionError(f"{path} has {len(stream)} lines, {hypothesis} {len(hypotheses)}")
    if no_overlap:
        return {}
    found = _scores(list(zip(*streams)), hypotheses, ())
    for key, score in found.items():
        print(f"{key}: {score:0.6f}")
    return found


def compute_individual_metrics(
    ref: str | Sequence[str],
    hyp: str,
    no_overlap: bool = False,
    no_skipthoughts: bool = False,
    no_glove: bool = False,
) -> dict[str, Any]:
    """Scores one hypothesis; ``||<|>||`` separates several references in one string."""
    _warn(no_skipthoughts, no_glove)
    references = ref.split("||<|>||") if isinstance(ref, str) else list(ref)
    return {} if no_overlap else _scores([references], [hyp], ())


class NLGEval:
    """The same for lists."""

    def __init__(
        self,
        no_overlap: bool = False,
        no_skipthoughts: bool = False,
        no_glove: bool = False,
        metrics_to_omit: Iterable[str] | None = None,
    ) -> None:
        _warn(no_skipthoughts, no_glove, metrics_to_omit or ())
        self.no_overlap = no_overlap
        self.metrics_to_omit = set(metrics_to_omit or ())

    def compute_individual_metrics(self, ref: Sequence[str], hyp: str) -> dict[str, Any]:
        """Scores one hypothesis against a list of references."""
        return {} if self.no_overlap else _scores([list(ref)], [hyp], self.metrics_to_omit)

    def compute_metrics(self, ref_list: Sequence[Sequence[str]], hyp_list: Sequence[str]) -> dict[str, Any]:
        """Scores hypotheses against streams of references, each as long as `hyp_list`."""
        for stream in ref_list:
            if len(stream) != len(hyp_list):
                raise AssertionError(f"there are {len(hyp_list)} hypotheses, but {len(stream)} references")
        return {} if self.no_overlap else _scores(list(zip(*ref_list)), hyp_list, self.metrics_to_omit)
