"""Which metrics, suites and tokenizers there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from . import _engine


def metrics() -> list[dict[str, Any]]:
    """All metrics, each with name, summary, paper, reference program, keys, range, settings and a signature.

    ``settings`` maps a setting's name to its default and meaning.
    """
    return _engine.metrics()


def suites() -> dict[str, list[str]]:
    """The suites and their metrics."""
    return {name: metrics for name, _, metrics in _engine.suites()}


def tokenizers() -> dict[str, str]:
    """The tokenizers and what they are."""
    return dict(_engine.tokenizer_names())


@overload
def tokenize(text: str, tokenizer: str = "ptb") -> list[str]: ...  # type: ignore[overload-overlap]
@overload
def tokenize(text: Iterable[str], tokenizer: str = "ptb") -> list[list[str]]: ...
def tokenize(text: str | Iterable[str], tokenizer: str = "ptb") -> list[str] | list[list[str]]:
    """The tokens of a text, or of each of several.

    >>> tokenize("It's 5 p.m.")
    ['it', "'s", '5', 'p.m.']

    Raises:
        ValueError: no tokenizer of that name; :func:`tokenizers` lists them.
    """
    if isinstance(text, str):
        return _engine.tokenize(_engine.Captions.of([text], "text"), tokenizer, False)[0]
    return _engine.tokenize(_engine.Captions.of(list(text), "texts"), tokenizer, False)
