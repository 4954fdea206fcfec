"""Hugging Face's evaluate: ``load(name).compute(predictions=…, references=…)``.

The metrics are ``bleu``, ``rouge``, ``sacrebleu``, ``chrf`` and ``ter``. evaluate's METEOR is NLTK's variant, which
needs WordNet; capeval has the original METEOR: ``capeval.score(…, metrics="meteor")``.

>>> from capeval.compat import evaluate
>>> bleu = evaluate.load("bleu")
>>> bleu.compute(predictions=["the cat sat on the mat"], references=[["the cat sat on a mat"]])["precisions"]
[0.8333333333333334, 0.6, 0.5, 0.3333333333333333]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import sacrebleu
from ._engine import evaluate as _evaluate
from .rouge_score.rouge_scorer import RougeScorer

__all__ = ["CombinedEvaluations", "Module", "combine", "load"]

References = Sequence[Union[str, Sequence[str]]]


def load(path: str, *_: object, **__: object) -> Module:
    """Returns the metric called `path`.

    Raises:
        ValueError: there is no such metric.
    """
    kinds: dict[str, type[Module]] = {
        "bleu": Bleu,
        "rouge": Rouge,
        "sacrebleu": SacreBleu,
        "chrf": Chrf,
        "ter": Ter,
    }
    if path == "meteor":
        raise ValueError(
            "evaluate's METEOR is NLTK's variant, which capeval does not have; for the original METEOR 1.5 call "
            "capeval.score(references, predictions, 'meteor')"
        )
    if path not in kinds:
        raise ValueError(f"capeval has no replacement for evaluate's {path!r}; it has {', '.join(kinds)}")
    return kinds[path]()


def combine(
    evaluations: Sequence[str | Module] | Mapping[str, str | Module], force_prefix: bool = False
) -> CombinedEvaluations:
    """Joins metrics, given as names or modules in a list or by name, into one.

    Args:
        evaluations: the metrics.
        force_prefix: put the name of the metric before every key, and not only where two metrics share a key.
    """
    return CombinedEvaluations(evaluations, force_prefix)


class CombinedEvaluations:
    """Several metrics over the same predictions."""

    def __init__(
        self, evaluations: Sequence[str | Module] | Mapping[str, str | Module], force_prefix: bool = False
    ) -> None:
        given = list(evaluations.values()) if isinstance(evaluations, Mapping) else list(evaluations)
        self.evaluation_modules = [load(module) if isinstance(module, str) else module for module in given]
        self.evaluation_module_names = (
            list(evaluations) if isinstance(evaluations, Mapping) else [module.name for module in self.evaluation_modules]
        )
        self.force_prefix = force_prefix

    def add(self, prediction: str, reference: str | Sequence[str]) -> None:
        """Adds a prediction with its reference or references to all metrics."""
        for module in self.evaluation_modules:
            module.add(prediction=prediction, reference=reference)

    def add_batch(self, predictions: Sequence[str], references: References) -> None:
        """Adds predictions with their references to all metrics."""
        for module in self.evaluation_modules:
            module.add_batch(predictions=predictions, references=references)

    def compute(
        self, predictions: Sequence[str] | None = None, references: References | None = None, **_: Any
    ) -> dict[str, Any]:
        """The results of all metrics in one dictionary; options of single metrics are ignored, as in the original."""
        results = [module.compute(predictions=predictions, references=references) for module in self.evaluation_modules]
        keys = Counter(key for result in results for key in result)
        names = Counter(self.evaluation_module_names)
        seen: Counter[str] = Counter()
        merged: dict[str, Any] = {}
        for name, result in zip(self.evaluation_module_names, results):
            prefix = f"{name}_{seen[name]}" if names[name] > 1 else name
            for key, value in result.items():
                merged[f"{prefix}_{key}" if self.force_prefix or keys[key] > 1 else key] = value
            seen[name] += 1
        return merged


class Module:
    """A metric that collects predictions and references before it computes scores."""

    name = ""

    def __init__(self) -> None:
        self._predictions: list[str] = []
        self._references: list[list[str]] = []

    def add(self, *, prediction: str, reference: str | Sequence[str]) -> None:
        """Adds a prediction with its reference or references."""
        self._predictions.append(prediction)
        self._references.append([reference] if isinstance(reference, str) else list(reference))

    def add_batch(self, *, predictions: Sequence[str], references: References) -> None:
        """Adds predictions with their references."""
        if len(predictions) != len(references):
            raise ValueError(f"there are {len(predictions)} predictions, but {len(references)} references")
        for prediction, reference in zip(predictions, references):
            self.add(prediction=prediction, reference=reference)

    def compute(
        self, *, predictions: Sequence[str] | None = None, references: References | None = None, **options: Any
    ) -> dict[str, Any]:
        """Scores everything that was added or is passed here, and clears the collection."""
        if predictions is not None and references is not None:
            self.add_batch(predictions=predictions, references=references)
        given, self._predictions = self._predictions, []
        beside, self._references = self._references, []
        if not given:
            raise ValueError("there is nothing to compute; pass predictions and references")
        return self._compute(given, beside, **options)

    def _compute(self, predictions: list[str], references: list[list[str]], **options: Any) -> dict[str, Any]:
        raise NotImplementedError


class Bleu(Module):
    """BLEU with the shortest reference length and no smoothing, as in evaluate."""

    name = "bleu"

    def _compute(
        self,
        predictions: list[str],
        references: list[list[str]],
        tokenizer: Any = None,
        max_order: int = 4,
        smooth: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        _refuse(tokenizer, "13a's", others)
        metric = f"bleu:n={max_order}:reflen=shortest:tok=13a"
        totals = _evaluate(references, predictions, [metric])[0].totals()
        precisions = []
        for n in range(1, max_order + 1):
            matches, possible = totals[f"matches-{n}"], totals[f"totals-{n}"]
            if smooth:
                precisions.append((matches + 1.0) / (possible + 1.0))
            else:
                precisions.append(matches / possible if possible > 0 else 0.0)
        score = 0.0
        if min(precisions) > 0:
            score = math.exp(sum((1.0 / max_order) * math.log(precision) for precision in precisions))
        length, reference_length = int(totals["candidate-length"]), int(totals["reference-length"])
        ratio = float(length) / reference_length
        penalty = 1.0 if ratio > 1.0 else math.exp(1 - 1.0 / ratio) if ratio > 0 else 0.0
        return {
            "bleu": score * penalty,
            "precisions": precisions,
            "brevity_penalty": penalty,
            "length_ratio": ratio,
            "translation_length": length,
            "reference_length": reference_length,
        }


class Rouge(Module):
    """F1 of ROUGE; the aggregate is the mean, whereas evaluate takes the median of random resamples of it."""

    name = "rouge"

    def _compute(
        self,
        predictions: list[str],
        references: list[list[str]],
        rouge_types: Sequence[str] | None = None,
        use_aggregator: bool = True,
        use_stemmer: bool = False,
        tokenizer: Any = None,
        **others: Any,
    ) -> dict[str, Any]:
        import numpy as np

        _refuse(tokenizer, "rouge_score's own", others)

        types = list(rouge_types or ["rouge1", "rouge2", "rougeL", "rougeLsum"])
        scores = RougeScorer(types, use_stemmer).score_many(references, predictions)
        columns = {name: [score[name].fmeasure for score in scores] for name in types}
        if not use_aggregator:
            return dict(columns)
        return {name: np.mean(column) for name, column in columns.items()}


def _refuse(tokenizer: Any, instead: str, others: dict[str, Any]) -> None:
    if others:
        raise TypeError(f"compute() got an unexpected keyword argument {next(iter(others))!r}")
    if tokenizer is not None:
        raise NotImplementedError(f"capeval uses {instead} tokenizer here; leave out tokenizer=")


def _streams(references: list[list[str]]) -> list[list[str]]:
    if any(len(texts) != len(references[0]) for texts in references):
        raise ValueError("Sacrebleu requires the same number of references for each prediction")
    return [list(stream) for stream in zip(*references)]


class SacreBleu(Module):
    """sacreBLEU's BLEU."""

    name = "sacrebleu"

    def _compute(self, predictions: list[str], references: list[list[str]], **options: Any) -> dict[str, Any]:
        found = sacrebleu.corpus_bleu(predictions, _streams(references), **options)
        return {
            "score": found.score,
            "counts": found.counts,
            "totals": found.totals,
            "precisions": found.precisions,
            "bp": found.bp,
            "sys_len": found.sys_len,
            "ref_len": found.ref_len,
        }


class Chrf(Module):
    """sacreBLEU's chrF."""

    name = "chrf"

    def _compute(
        self,
        predictions: list[str],
        references: list[list[str]],
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        _refuse(None, "", others)
        _streams(references)
        found = sacrebleu._chrf(
            predictions, references, char_order, word_order, beta, not whitespace, eps_smoothing, lowercase
        )
        return {
            "score": found.score,
            "char_order": found.char_order,
            "word_order": found.word_order,
            "beta": found.beta,
        }


class Ter(Module):
    """sacreBLEU's TER."""

    name = "ter"

    def _compute(self, predictions: list[str], references: list[list[str]], **options: Any) -> dict[str, Any]:
        options = {{"support_zh_ja_chars": "asian_support", "ignore_punct": "no_punct"}.get(key, key): value
                   for key, value in options.items()}
        found = sacrebleu.corpus_ter(predictions, _streams(references), **options)
        return {"score": found.score, "num_edits": found.num_edits, "ref_length": found.ref_length}
