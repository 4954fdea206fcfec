"""A module for Hugging Face's evaluate: `evaluate.load("capeval_metric.py").compute(predictions=…, references=…)`.

Copy it beside your program, or into a Space. `predictions` has a caption per image, `references` a list of captions per image.
"""

import datasets
import evaluate

import capeval


class Captions(evaluate.Metric):
    """BLEU, ROUGE-L and CIDEr-D, or the metrics that `compute(metrics=…)` names."""

    def _info(self):
        return evaluate.MetricInfo(
            description="Caption evaluation with the digits of the reference programs.",
            citation="",
            features=datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Sequence(datasets.Value("string"))}),
            inputs_description="predictions: a caption per image; references: a list of captions per image",
        )

    def _compute(self, predictions, references, metrics="bleu,rouge-l,cider-d"):
        report = capeval.score(list(references), list(predictions), metrics)
        return {**report.scores, "signatures": report.signatures}
