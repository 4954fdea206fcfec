"""Drop-in replacements for packages that evaluate captions: same names, shapes, keys and digits, without Java.

- instead of ``pycocoevalcap``: :mod:`capeval.compat.pycocoevalcap`
- instead of ``pyciderevalcap`` (self-critical code): :mod:`capeval.compat.pyciderevalcap`
- instead of ``pycocotools.coco`` (captions only): :mod:`capeval.compat.coco`
- instead of ``rouge_score``: :mod:`capeval.compat.rouge_score`
- instead of ``sacrebleu``: :mod:`capeval.compat.sacrebleu`
- instead of ``evaluate`` (Hugging Face): :mod:`capeval.compat.evaluate`
- instead of ``nlgeval``: :mod:`capeval.compat.nlgeval`

``capeval.install_as_pycocoevalcap()`` lets third-party code import the first two unchanged.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable
from types import ModuleType

__all__ = ["install_as_pycocoevalcap"]


def install_as_pycocoevalcap() -> None:
    """Makes ``import pycocoevalcap`` and ``import pyciderevalcap`` import capeval's replacements.

    Programs that ask for the installed versions of pycocoevalcap and pycocotools, as mmpretrain does, are told 1.2 and
    2.0.11, those that are replaced, or that of pycocotools that is installed.

    This also holds for processes that this one starts by multiprocessing, and for ``import pycocotools.coco`` where
    pycocotools is not installed.

    Raises:
        RuntimeError: if one of the real packages has been imported already.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    places = {os.path.join(here, "standins"): 0, os.path.join(here, "standins_if_missing"): len(sys.path) + 1}
    for name in ("pycocoevalcap", "pyciderevalcap"):
        ours = f"{__name__}.{name}"
        present = sys.modules.get(name)
        if present is not None and present.__name__ != ours and not _is_standin(present, places):
            raise RuntimeError(
                f"{name} has been imported already from {present.__file__}; call "
                "capeval.install_as_pycocoevalcap() before that"
            )
        package = importlib.import_module(ours)
        sys.modules[name] = package
        for module in pkgutil.walk_packages(package.__path__, f"{ours}."):
            sys.modules[name + module.name[len(ours) :]] = importlib.import_module(module.name)
    # Spawned processes take over the path, but not the modules.
    for folder, place in places.items():
        if folder not in sys.path:
            sys.path.insert(place, folder)


def _is_standin(module: ModuleType, folders: Iterable[str]) -> bool:
    return any((module.__file__ or "").startswith(folder) for folder in folders)
