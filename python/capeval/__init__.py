"""Caption evaluation, equal digit for digit to the reference programs.

>>> import capeval
>>> references = {1: ["A dog runs along the beach.", "A brown dog is running on the sand."],
...               2: ["Two children fly a kite.", "A kite is flown by a boy and a girl."]}
>>> report = capeval.score(references, {1: "a dog runs along the beach", 2: "two children with a kite"},
...                        metrics=["bleu", "cider-d"])
>>> round(report["bleu-1"], 6)
0.909091

These do most of the work:

- :func:`score` compares captions with references and returns a :class:`Report`;
- :func:`compare` tests whether systems differ;
- :func:`install_data` installs what METEOR and SPICE need, once;
- :class:`Evaluator` prepares references once, for many calls;
- :mod:`capeval.reward` scores batches inside training loops, and :mod:`capeval.streaming` validates in them;
- :func:`metric` makes a function a metric, and :mod:`capeval.adapters` metrics of other packages;
- :mod:`capeval.dense` scores dense video captions, by the form of any program;
- :mod:`capeval.meta` evaluates metrics on benchmarks of human ratings, by name;
- :mod:`capeval.spark` scores tables of any size on Spark, and :mod:`capeval.arrow` on other engines.

:mod:`capeval.compat` replaces pycocoevalcap, pyciderevalcap, rouge_score, sacrebleu, nlg-eval and Hugging Face's
evaluate. The only dependency is numpy, which is imported when an array is first requested.
"""

from __future__ import annotations

import os
from importlib import import_module

from ._mecab import find_dictionaries as _find_dictionaries

_find_dictionaries()


def _listed() -> dict[str, str]:
    """The module of each public name, as the stub of this package lists them for type checkers."""
    stub = __spec__.loader.get_data(os.path.join(__path__[0], "__init__.pyi")).decode()
    imports = [line.removeprefix("from ").split(" import ") for line in stub.splitlines() if line.startswith("from ")]
    return {name.split(" as ")[0]: module for module, names in imports for name in names.split(", ")}


_MODULES = _listed()
__all__ = sorted(name for name, module in _MODULES.items() if module != ".")


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'capeval' has no attribute {name!r}")
    if module == ".":
        return import_module(f".{name}", __name__)
    value = globals()[name] = getattr(import_module(module, __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
