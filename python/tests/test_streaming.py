"""Metrics that take captions batch by batch."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import capeval
from capeval.streaming import CaptionMetric

METRICS = ["bleu", "cider-d"]


def test_batches_score_as_the_whole(references, candidates):
    expected = dict(capeval.score(references, candidates, METRICS))
    metric = CaptionMetric(METRICS)
    for key, caption in candidates.items():
        metric.update([caption], [references[key]])
    assert metric.compute() == expected
    metric.reset()
    metric.update(list(candidates.values()), list(references.values()), image_ids=list(candidates))
    assert metric.compute() == expected and metric.report().systems["candidates"].n_images == 3
    metric.reset()
    with pytest.raises(ValueError, match="no captions yet; call update first"):
        metric.compute()


def test_processes_merge_and_images_count_once(references, candidates):
    expected = dict(capeval.score(references, candidates, METRICS))
    parts = [CaptionMetric(METRICS) for _ in range(2)]
    for part, keys in zip(parts, ([1, 2], [3, 1])):  # the second process repeats an image to fill its batch
        part.update([candidates[key] for key in keys], [references[key] for key in keys], keys)
    first, second = (pickle.loads(pickle.dumps(part)) for part in parts)
    first.merge_state(second)
    assert first.compute() == expected
    first.update(["another caption"], [references[1]], [1])
    with pytest.raises(ValueError, match="image 1 came with two captions"):
        first.compute()


def test_a_call_scores_its_batch_and_keeps_it(references, candidates):
    metric = CaptionMetric("rouge-l")
    metric.update(candidates[1], references[1])
    batch = metric([candidates[2]], [references[2]])
    assert batch == dict(capeval.score([references[2]], [candidates[2]], "rouge-l"))
    assert metric.report().systems["candidates"].n_images == 2


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((["a"], [["b"], ["c"]]), ValueError, "1 captions, but references of 2"),
        ((["a"], "b"), TypeError, "target must be a list"),
        ((["a"], ["b"]), TypeError, r"target\[0\] must be a list of references, not a string: 'b'; pass \['b'\]"),
        (("a", "b"), TypeError, "target.* must be a list"),
        (([5], [["b"]]), TypeError, "caption 0 of the batch and its references must be strings"),
        ((["a"], [[]]), ValueError, "caption 0 of the batch has no references; leave it out"),
    ],
)
def test_wrong_batches_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        CaptionMetric("bleu").update(*arguments)


TORCH = """
import numpy
uint8, float64 = numpy.uint8, numpy.float64
class Tensor:
    def __init__(self, values): self.values = numpy.asarray(values)
    def to(self, device): return self
    def cpu(self): return self
    def numpy(self): return self.values
    def __float__(self): return float(self.values)
def frombuffer(data, dtype): return Tensor(numpy.frombuffer(data, dtype))
def tensor(value, dtype): return Tensor(value)
def empty(n, dtype, device): return Tensor(numpy.empty(n, dtype))
"""
TORCHMETRICS = """
class Metric:
    device = "cpu"
    def __init__(self): self.states = {}
    def add_state(self, name, default, dist_reduce_fx): setattr(self, name, default); assert dist_reduce_fx == "cat"
    def sync(self, dist_sync_fn): self.rows = dist_sync_fn(self.rows)
"""
PROGRAM = """
import numpy, torch, torchmetrics
from capeval.streaming import CaptionMetric
metric = CaptionMetric("bleu")
assert isinstance(metric, torchmetrics.Metric)
metric.update(["a dog"], [["a dog runs"]]); metric.update(["two cats"], [["two cats"]])
before = {key: float(score) for key, score in metric.compute().items()}
metric.rows = torch.Tensor(numpy.concatenate([part.numpy() for part in metric.rows]))  # as after a synchronisation
assert before == {key: float(score) for key, score in metric.compute().items()} and before["bleu-1"] > 0.7
none = CaptionMetric("bleu")
none.sync(lambda parts: [*parts, metric.rows])  # a process without captions sends bytes, too
assert before == {key: float(score) for key, score in none.compute().items()}
assert {part.numpy().dtype.name for part in none.rows} == {"uint8"}
"""


def test_with_torchmetrics_the_state_is_a_tensor_of_bytes(tmp_path):
    """By stand-ins for the few calls that are used, since torch is too large for this suite."""
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "torchmetrics.py").write_text(TORCHMETRICS)
    here = str(Path(capeval.__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), here])},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("key", [1.5, b"1", (1,), True])
def test_ids_that_are_neither_integers_nor_strings_are_refused(key):
    with pytest.raises(TypeError, match=r"image_ids\[1\] must be an integer or a string, not "):
        CaptionMetric(METRICS).update(["a", "b"], [["a"], ["b"]], [1, key])
