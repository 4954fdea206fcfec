"""Caption metrics among those of torchmetrics: a class to copy where only one number is wanted.

`capeval.streaming.CaptionMetric` is a `torchmetrics.Metric` already, and gives all measures.
"""

import torch

from capeval.streaming import CaptionMetric


class CiderD(CaptionMetric):
    """CIDEr-D, for a checkpoint callback or an early stop that monitors one number."""

    higher_is_better = True

    def __init__(self, **options):
        super().__init__(["cider-d"], **options)

    def compute(self):
        return torch.tensor(float(super().compute()["cider-d"]))
