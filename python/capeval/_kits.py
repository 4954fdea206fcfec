"""Kits: how fields evaluate captions, as keywords that are set together."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _engine

_PRINTED = ("percent", "digits")
"""What a kit says about printed numbers, which no keyword is about."""


def kits() -> list[dict[str, Any]]:
    """Lists the kits for the keyword ``kit`` of :func:`score` and :func:`compare`.

    Each has ``name``, ``summary``, ``program`` (the published program whose numbers it gives, with repository, version, file
    and what was compared), ``options`` (what it sets, under the names of flags: ``group-by`` is the keyword ``groups``; ``percent``
    and ``digits`` say how the field prints), and ``notes``.

    >>> import capeval
    >>> vizwiz = next(kit for kit in capeval.kits() if kit["name"] == "vizwiz")
    >>> vizwiz["options"]["missing"]
    'skip'
    """
    return [read(name) for name in _engine.kit_names()]


def read(kit: str | os.PathLike[str]) -> dict[str, Any]:
    """The kit of a name, or that in a file of TOML."""
    found: dict[str, Any] = json.loads(_engine.kit(os.fspath(kit)))
    return found


def keywords(kit: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The keywords that a kit sets and that are not given; a suite stands for metrics, and numbers of a kit are made of its own."""
    chosen = given.get("suite") if given.get("metrics") is None else given["metrics"]
    given = {"metrics": chosen, "derive": chosen, **{key: value for key, value in given.items() if value is not None}}
    options = {key: value for key, value in kit["options"].items() if key not in _PRINTED}
    by_keyword = {"groups" if key == "group-by" else key.replace("-", "_"): value for key, value in options.items()}
    return {key: value for key, value in by_keyword.items() if given.get(key) is None}
