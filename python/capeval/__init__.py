"""Caption evaluation, equal digit for digit to the reference programs.

These do most of the work:

- :func:`score` compares captions with references and returns a :class:`Report`;
- :class:`Evaluator` prepares references once, for many calls;
- :mod:`capeval.reward` scores batches inside training loops, and :mod:`capeval.streaming` validates in them;
- :func:`metric` makes a function a metric, and :mod:`capeval.adapters` metrics of other packages;
- :mod:`capeval.meta` evaluates metrics on benchmarks of human ratings, by name;
- :mod:`capeval.spark` scores tables of any size on Spark, and :mod:`capeval.arrow` on other engines.

:mod:`capeval.compat` replaces pycocoevalcap, pyciderevalcap, rouge_score, sacrebleu, nlg-eval and Hugging Face's
evaluate. The only dependency is numpy, which is imported when an array is first requested.

>>> import capeval
>>> references = {1: ["A dog runs along the beach.", "A brown dog is running on the sand."],
...               2: ["Two children fly a kite.", "A kite is flown by a boy and a girl."]}
>>> report = capeval.score(references, {1: "a dog runs along the beach", 2: "two children with a kite"},
...                        metrics=["bleu", "cider-d"])
>>> round(report["bleu-1"], 6)
0.909091
"""

from __future__ import annotations

from ._mecab import find_dictionaries as _find_dictionaries

TYPE_CHECKING = False
"""What type checkers take to be true; `typing` has the same, and takes longer to import than all that is below."""

if TYPE_CHECKING:
    from typing import Any

    from ._chair import Chair
    from ._compare import Comparison, compare
    from ._correlate import Correlation, correlate
    from ._engine import __version__, get_num_threads, set_num_threads
    from ._diversity import diversity
    from ._embed import Embedded, embed
    from ._evaluator import Evaluator
    from ._explain import Explained, Explanation, Match, Step, explain
    from ._frequencies import DocumentFrequencies
    from ._given import Scores
    from ._install import install_data, install_meteor, install_spice
    from ._judging import Judging
    from ._listing import metrics, suites, tokenize, tokenizers
    from ._metric import Metric, metric
    from ._prefer import Preference, prefer
    from ._report import Measure, Notice, Report, System
    from ._score import score
    from ._submit import Submission, submit

__all__ = [
    "Chair",
    "Comparison",
    "Correlation",
    "DocumentFrequencies",
    "Embedded",
    "Evaluator",
    "Explained",
    "Explanation",
    "Judging",
    "Match",
    "Measure",
    "Metric",
    "Notice",
    "Preference",
    "Report",
    "Scores",
    "Step",
    "Submission",
    "System",
    "__version__",
    "compare",
    "correlate",
    "diversity",
    "embed",
    "explain",
    "get_num_threads",
    "install_as_pycocoevalcap",
    "install_data",
    "install_meteor",
    "install_spice",
    "metric",
    "metrics",
    "prefer",
    "score",
    "set_num_threads",
    "submit",
    "suites",
    "tokenize",
    "tokenizers",
]

_PARTS = {
    "_chair": ("Chair",),
    "_compare": ("Comparison", "compare"),
    "_correlate": ("Correlation", "correlate"),
    "_engine": ("__version__", "get_num_threads", "set_num_threads"),
    "_diversity": ("diversity",),
    "_embed": ("Embedded", "embed"),
    "_evaluator": ("Evaluator",),
    "_explain": ("Explained", "Explanation", "Match", "Step", "explain"),
    "_frequencies": ("DocumentFrequencies",),
    "_given": ("Scores",),
    "_install": ("install_data", "install_meteor", "install_spice"),
    "_judging": ("Judging",),
    "_listing": ("metrics", "suites", "tokenize", "tokenizers"),
    "_metric": ("Metric", "metric"),
    "_prefer": ("Preference", "prefer"),
    "_report": ("Measure", "Notice", "Report", "System"),
    "_score": ("score",),
    "_submit": ("Submission", "submit"),
}
"""What each module of the package gives it, when it is first used."""

_MODULES = ("adapters", "arrow", "compat", "meta", "reward", "spark", "streaming")

_find_dictionaries()


def install_as_pycocoevalcap() -> None:
    """Makes ``import pycocoevalcap`` and ``import pyciderevalcap`` import capeval's replacements.

    Call it before the code that imports them. See :mod:`capeval.compat.pycocoevalcap`.

    Raises:
        RuntimeError: if the real package has been imported already.
    """
    from .compat import install_as_pycocoevalcap as install

    install()


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    for part, names in _PARTS.items():
        if name in names:
            module = importlib.import_module(f".{part}", __name__)
            globals().update((name, getattr(module, name)) for name in names)
            return globals()[name]
    raise AttributeError(f"module 'capeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
