"""Calls with keywords that type checkers accept, and calls that they refuse, each where the line says so.

Both mypy and pyright complain of a line that says so and is accepted; see `test_options.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import capeval
import capeval.meta
from capeval.options import ScoreOptions
from capeval.reward import CiderD, Reward
from capeval.streaming import CaptionMetric

if TYPE_CHECKING:
    from typing_extensions import Unpack

REFERENCES = {1: ["a dog runs", "the dog ran"]}
CANDIDATES = {1: "a dog runs"}


def rightly() -> None:
    report: capeval.Report = capeval.score(REFERENCES, CANDIDATES, missing="skip", ids="text", tokenizer="13a", intervals=0.99)
    capeval.score(REFERENCES, systems={"a": CANDIDATES}, model=Path("clip"), score_cache="none", progress=True)
    capeval.compare(REFERENCES, {"a": CANDIDATES}, correction="none", several="first", level=0.99)
    capeval.correlate("ratings.csv", REFERENCES, unit="item", own_reference="skip", lm="model.arpa")
    capeval.prefer("pairs.json", references_per_pair=None, metric_ties="wrong")
    capeval.explain(REFERENCES, CANDIDATES, images=1, empty="keep")
    capeval.diversity(CANDIDATES, train=["a cat"], train_split="train")
    capeval.meta.run("composite", "folder", level=0.9, subset=True)
    evaluator = capeval.Evaluator(REFERENCES, "bleu", split=["val", "test"])
    evaluator.score(CANDIDATES, images=[1], seed=7)
    capeval.DocumentFrequencies.build(REFERENCES, n=3, ref_format="csv")
    capeval.submit("results.json", "https://captions.example.org", "coco/test", method="mine", id_column="key")
    CiderD(REFERENCES, dtype="float64", n=3, document_frequencies="table")
    CaptionMetric(["bleu"], threads=1)
    print(report["bleu-1"])


def passed_on(**options: Unpack[ScoreOptions]) -> capeval.Report:
    return capeval.score(REFERENCES, CANDIDATES, **options)


def wrongly() -> None:
    capeval.score(REFERENCES, CANDIDATES, missing="skipp")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    capeval.score(REFERENCES, CANDIDATES, tokeniser="ptb")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    capeval.score(REFERENCES, CANDIDATES, threads="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    capeval.compare(REFERENCES, {"a": CANDIDATES}, intervals=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    capeval.correlate("ratings.csv", missing="skip")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    capeval.explain(REFERENCES, CANDIDATES)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    capeval.Evaluator(REFERENCES, model="clip")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    capeval.Evaluator(REFERENCES).score(CANDIDATES, split="test")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    CiderD(REFERENCES, dtyp="float64")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Reward(REFERENCES, {"cider-d": 1.0}, dtype="float16")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    passed_on(empty="drop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
