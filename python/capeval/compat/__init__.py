"""Drop-in replacements for packages that evaluate captions: same names, shapes, keys and digits, without Java.

=========================================  ===================================================
instead of                                 import
=========================================  ===================================================
``pycocoevalcap``                          :mod:`capeval.compat.pycocoevalcap`
``pyciderevalcap`` (self-critical code)    :mod:`capeval.compat.pyciderevalcap`
``pycocotools.coco`` (captions only)       :mod:`capeval.compat.coco`
``rouge_score``                            :mod:`capeval.compat.rouge_score`
``sacrebleu``                              :mod:`capeval.compat.sacrebleu`
``evaluate`` (Hugging Face)                :mod:`capeval.compat.evaluate`
``nlgeval``                                :mod:`capeval.compat.nlgeval`
=========================================  ===================================================

``capeval.install_as_pycocoevalcap()`` lets third-party code import the first two unchanged.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

__all__ = ["install_as_pycocoevalcap"]


def install_as_pycocoevalcap() -> None:
    """Makes ``import pycocoevalcap`` and ``import pyciderevalcap`` import capeval's replacements in this process.

    Raises:
        RuntimeError: if one of the real packages has been imported already.
    """
    for name in ("pycocoevalcap", "pyciderevalcap"):
        ours = f"{__name__}.{name}"
        present = sys.modules.get(name)
        if present is not None and present.__name__ != ours:
            raise RuntimeError(
                f"{name} has been imported already from {present.__file__}; call "
                "capeval.install_as_pycocoevalcap() before that"
            )
        package = importlib.import_module(ours)
        sys.modules[name] = package
        for module in pkgutil.walk_packages(package.__path__, f"{ours}."):
            sys.modules[name + module.name[len(ours) :]] = importlib.import_module(module.name)
