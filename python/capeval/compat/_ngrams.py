"""Counts of n-grams in the shapes of the original scorers, for code that uses their helper functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Union

Counts = dict[tuple[str, ...], int]
Lengths = Union[list[int], int, float]


def precook(s: str, n: int = 4, out: bool = False) -> Counts:
    """Counts the n-grams of 1 to `n` words of a text, in order of first appearance."""
    words = s.split()
    counts: Counts = defaultdict(int)
    for size in range(1, n + 1):
        for start in range(len(words) - size + 1):
            counts[tuple(words[start : start + size])] += 1
    return counts


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Counts]:
    """Counts the n-grams of each reference of an image."""
    return [precook(reference, n) for reference in refs]


def cook_test(test: str, n: int = 4) -> Counts:
    """Counts the n-grams of a hypothesis."""
    return precook(test, n, True)


def bleu_precook(s: str, n: int = 4, out: bool = False) -> tuple[int, Counts]:
    """The number of words of a text, and the counts of its n-grams."""
    return len(s.split()), precook(s, n)


def bleu_cook_refs(refs: Sequence[str], eff: str | None = None, n: int = 4) -> tuple[Lengths, Counts]:
    """The lengths of references (or their least or mean length), and the highest count of each n-gram among them."""
    lengths: list[int] = []
    highest: Counts = {}
    for reference in refs:
        length, counts = bleu_precook(reference, n)
        lengths.append(length)
        for ngram, count in counts.items():
            highest[ngram] = max(highest.get(ngram, 0), count)
    if eff == "shortest":
        return min(lengths), highest
    if eff == "average":
        return float(sum(lengths)) / len(lengths), highest
    return lengths, highest


def bleu_cook_test(test: str, refs: tuple[Any, Counts], eff: str | None = None, n: int = 4) -> dict[str, Any]:
    """The length of a hypothesis, that of its references, and its numbers of n-grams and of matches by n."""
    lengths, highest = refs
    length, counts = bleu_precook(test, n)
    found: dict[str, Any] = {"reflen": lengths, "testlen": length}
    if eff == "closest":
        found["reflen"] = min((abs(reference - length), reference) for reference in lengths)[1]
    found["guess"] = [max(0, length - size + 1) for size in range(1, n + 1)]
    found["correct"] = [0] * n
    for ngram, count in counts.items():
        found["correct"][len(ngram) - 1] += min(highest.get(ngram, 0), count)
    return found
