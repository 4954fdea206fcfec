"""Caption evaluation, equal digit for digit to the reference programs.

Three calls do most of the work:

- :func:`score` holds captions against references and gives a :class:`Report`;
- :class:`Evaluator` keeps references prepared, for many calls;
- :mod:`capeval.reward` scores batches inside training loops.

Nothing but numpy is needed, and that only once arrays are asked for.

>>> import capeval
>>> references = {1: ["A dog runs along the beach.", "A brown dog is running on the sand."],
...               2: ["Two children fly a kite.", "A kite is flown by a boy and a girl."]}
>>> report = capeval.score(references, {1: "a dog runs along the beach", 2: "two children with a kite"},
...                        metrics=["bleu", "cider-d"])
>>> round(report["bleu-1"], 6)
0.909091
"""

from __future__ import annotations

from typing import Any

from ._engine import __version__, get_num_threads, set_num_threads
from ._evaluator import Evaluator
from ._frequencies import DocumentFrequencies
from ._listing import metrics, suites, tokenize, tokenizers
from ._report import Measure, Notice, Report, System
from ._score import score

__all__ = [
    "DocumentFrequencies",
    "Evaluator",
    "Measure",
    "Notice",
    "Report",
    "System",
    "__version__",
    "get_num_threads",
    "metrics",
    "score",
    "set_num_threads",
    "suites",
    "tokenize",
    "tokenizers",
]


def __getattr__(name: str) -> Any:
    # Heavier parts are imported when they are first used.
    if name in ("reward",):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'capeval' has no attribute {name!r}")
