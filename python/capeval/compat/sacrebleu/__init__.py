"""sacreBLEU 2.6: BLEU, chrF and TER over a corpus or a sentence.

>>> from capeval.compat import sacrebleu
>>> print(sacrebleu.corpus_bleu(["the dog bit the man"], [["the dog had bitten the man"]]))
BLEU = 24.74 80.0/50.0/16.7/12.5 (BP = 0.819 ratio = 0.833 hyp_len = 5 ref_len = 6)
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ... import tokenize
from .._engine import Scored, evaluate

__version__ = "2.6.0"
"""The version of sacreBLEU that this module replaces."""

__all__ = [
    "BLEU",
    "BLEUScore",
    "CHRF",
    "CHRFScore",
    "TER",
    "TERScore",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
]


class Score:
    """A score with a name."""

    name: str
    score: float
    _verbose = ""

    def format(
        self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False
    ) -> str:
        """The score as text, or as JSON with `is_json`.

        Args:
            width: the number of digits after the decimal point.
            score_only: return the number alone.
            signature: a signature to show.
            is_json: return JSON.
        """
        number = f"{self.score:.{width}f}"
        if score_only:
            return number
        if is_json:
            fields: dict[str, Any] = {"name": self.name, "score": float(number), "signature": signature}
            if self._verbose:
                fields["verbose_score"] = self._verbose
            fields.update(dict(part.split(":", 1) for part in signature.split("|") if part))
            return json.dumps(fields, indent=1, ensure_ascii=False)
        name = f"{self.name}|{signature}" if signature else self.name
        return f"{name} = {number}" + (f" {self._verbose}" if self._verbose else "")

    def __str__(self) -> str:
        return self.format()

    __repr__ = __str__


class BLEUScore(Score):
    """A BLEU score with its counts."""

    name = "BLEU"

    def __init__(self, scored: Scored, smoothed: list[float], added: float = 0) -> None:
        totals = scored.totals()
        orders = len(scored.columns) // 2 - 1
        self.score: float = scored.corpus[0]
        # As in the original, what add-k adds is part of the counts for n > 1.
        extra = [0, *[added] * (orders - 1)]
        self.counts = [int(totals[f"matches-{n}"]) + extra[n - 1] for n in range(1, orders + 1)]
        self.totals = [int(totals[f"totals-{n}"]) + extra[n - 1] for n in range(1, orders + 1)]
        self.sys_len = int(totals["candidate-length"])
        self.ref_len = int(totals["reference-length"])
        self.precisions = smoothed
        self.bp = 1.0
        if self.sys_len < self.ref_len:
            self.bp = math.exp(1 - self.ref_len / self.sys_len) if self.sys_len > 0 else 0.0
        self.ratio = self.sys_len / self.ref_len if self.ref_len else 0
        self.prec_str = "/".join(f"{precision:.1f}" for precision in self.precisions)

        self._verbose = (
            f"{self.prec_str} (BP = {self.bp:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.sys_len:d} ref_len = {self.ref_len:d})"
        )


class CHRFScore(Score):
    """A chrF score with its settings."""

    def __init__(self, score: float, char_order: int, word_order: int, beta: int) -> None:
        self.score = score
        self.char_order = char_order
        self.word_order = word_order
        self.beta = beta
        self.name = f"chrF{beta}" + "+" * word_order


class TERScore(Score):
    """A translation edit rate with its counts."""

    name = "TER"

    def __init__(self, scored: Scored) -> None:
        self.num_edits = int(scored.totals()["edits"])
        # The original adds average lengths one by one, which affects the last place.
        self.ref_length: float = float(sum(scored.statistics[:, 1].tolist()))
        self.score: float = scored.corpus[0]
        if self.ref_length > 0:
            self.score = 100 * (self.num_edits / self.ref_length)


def _by_segment(hypotheses: Sequence[str], streams: Sequence[Sequence[str | None]]) -> list[list[str]]:
    """Turns streams of references, each as long as the hypotheses, into a list of references per segment."""
    if isinstance(hypotheses, str) or isinstance(streams, str):
        raise TypeError("hypotheses must be a sequence of strings, references a sequence of such sequences")
    for stream in streams:
        if isinstance(stream, str):
            raise TypeError("references must be a sequence of sequences of strings, not of strings")
        if len(stream) != len(hypotheses):
            raise EOFError(
                f"Source and reference streams have different lengths! ({len(hypotheses)} and {len(stream)})"
            )
    return [[text for text in texts if text is not None] for texts in zip(*streams)]


_TOKENIZERS = {
    "none": "none",
    "zh": "zh",
    "13a": "13a",
    "intl": "intl",
    "char": "char",
    "ja-mecab": "ja-mecab-0.996-IPA",
    "ko-mecab": "ko-mecab-0.996/ko-0.9.2-KO",
}
"""The tokenizers of sacreBLEU that capeval has, with their names in signatures."""


def _tokenizer(name: str | None) -> str:
    """The name of a tokenizer that works."""
    chosen = "13a" if name is None else name
    if chosen not in _TOKENIZERS:
        raise ValueError(f"capeval has no tokenizer {name!r} of sacreBLEU; choose from {', '.join(_TOKENIZERS)}")
    try:
        tokenize([], chosen)
    except ValueError as error:  # As in the original: its dictionary is not installed.
        raise RuntimeError(str(error)) from None
    return chosen


def _bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    smooth_method: str,
    smooth_value: float | None,
    lowercase: bool,
    tokenize: str | None,
    effective_order: bool,
) -> BLEUScore:
    smooths_by: float = {"floor": 0.1, "add-k": 1}.get(smooth_method, 0)
    if smooths_by and smooth_value is not None:
        smooths_by = smooth_value
    by_nothing = smooth_method in ("floor", "add-k") and smooths_by == 0
    settings = {
        "tok": _tokenizer(tokenize),
        "smooth": "none" if by_nothing else smooth_method,
        "case": "lc" if lowercase else "mixed",
        "eff": "yes" if effective_order else "no",
    }
    if smooths_by:
        settings["by"] = str(smooths_by)
    scored = evaluate(references, hypotheses, ["sacrebleu"], settings)[0]
    totals = scored.totals()
    # Where nothing matches, the original returns before it smooths.
    added = smooths_by if smooth_method == "add-k" and _any_match(totals) else 0
    return BLEUScore(scored, _precisions(totals, smooth_method, smooths_by), added)


def _any_match(totals: dict[str, float]) -> bool:
    return any(totals[f"matches-{n}"] for n in range(1, 5))


def _precisions(totals: dict[str, float], smooth: str, by: float) -> list[float]:
    """The numbers between the slashes: smoothed precisions by n, in percent."""
    precisions: list[float] = []
    halvings = 1.0
    if not _any_match(totals):
        return [0.0] * 4
    for n in range(1, 5):
        matches, total = totals[f"matches-{n}"], totals[f"totals-{n}"]
        if smooth == "add-k" and n > 1:
            matches, total = matches + by, total + by
        if total == 0:
            break
        if matches == 0:
            if smooth == "exp":
                halvings *= 2
                precisions.append(100.0 / (halvings * total))
            else:
                precisions.append(100.0 * by / total if smooth == "floor" else 0.0)
        else:
            precisions.append(100.0 * matches / total)
    return precisions + [0.0] * (4 - len(precisions))


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str | None = None,
    use_effective_order: bool = False,
) -> BLEUScore:
    """BLEU of a corpus; `references` are streams, each as long as `hypotheses`. `force` is ignored."""
    by_segment = _by_segment(hypotheses, references)
    return _bleu(
        hypotheses, by_segment, smooth_method, smooth_value, lowercase, tokenize, use_effective_order
    )


def raw_corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], smooth_value: float | None = 0.1
) -> BLEUScore:
    """BLEU of a corpus of tokens, smoothed by a floor."""
    return corpus_bleu(hypotheses, references, "floor", smooth_value, True, tokenize="none", use_effective_order=True)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = None,
    use_effective_order: bool = True,
) -> BLEUScore:
    """BLEU of one sentence."""
    return _bleu(
        [hypothesis], [list(references)], smooth_method, smooth_value, lowercase, tokenize, use_effective_order
    )


def _chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    char_order: int,
    word_order: int,
    beta: int,
    remove_whitespace: bool,
    eps_smoothing: bool,
    lowercase: bool = False,
) -> CHRFScore:
    settings = {
        "chars": str(char_order),
        "words": str(word_order),
        "beta": str(beta),
        "space": "no" if remove_whitespace else "yes",
        "eff": "no" if eps_smoothing else "yes",
        "case": "lc" if lowercase else "mixed",
    }
    score = evaluate(references, hypotheses, ["chrf"], settings)[0].corpus[0]
    return CHRFScore(score, char_order, word_order, beta)


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """chrF of a corpus; ``word_order=2`` for chrF++."""
    by_segment = _by_segment(hypotheses, references)
    return _chrf(hypotheses, by_segment, char_order, word_order, beta, remove_whitespace, eps_smoothing)


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str],
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """chrF of one sentence."""
    return _chrf([hypothesis], [list(references)], char_order, word_order, beta, remove_whitespace, eps_smoothing)


def _ter(hypotheses: Sequence[str], references: Sequence[Sequence[str]], **options: bool) -> TERScore:
    settings = {
        "norm": "yes" if options["normalized"] else "no",
        "punct": "no" if options["no_punct"] else "yes",
        "asian": "yes" if options["asian_support"] else "no",
        "case": "mixed" if options["case_sensitive"] else "lc",
    }
    return TERScore(evaluate(references, hypotheses, ["ter"], settings)[0])


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of a corpus."""
    options: dict[str, Any] = {"normalized": normalized, "no_punct": no_punct}
    options |= {"asian_support": asian_support, "case_sensitive": case_sensitive}
    return _ter(hypotheses, _by_segment(hypotheses, references), **options)


def sentence_ter(
    hypothesis: str,
    references: Sequence[str],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of one sentence."""
    options: dict[str, Any] = {"normalized": normalized, "no_punct": no_punct}
    options |= {"asian_support": asian_support, "case_sensitive": case_sensitive}
    return _ter([hypothesis], [list(references)], **options)


from .metrics import BLEU, CHRF, TER  # noqa: E402  (the classes call the functions above)
