"""sacreBLEU's metrics as objects: ``BLEU``, ``CHRF`` and ``TER``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from . import _TOKENIZERS, BLEUScore, CHRFScore, TERScore, _bleu, _by_segment, _chrf, _ter, _tokenizer, __version__

__all__ = ["BLEU", "BLEUScore", "CHRF", "CHRFScore", "TER", "TERScore"]

Streams = Sequence[Sequence[str]]
S = TypeVar("S", BLEUScore, CHRFScore, TERScore)


class Signature:
    """What can change a digit, as sacreBLEU writes it."""

    _SHORT = {"nrefs": "#", "case": "c", "eff": "e", "smooth": "s", "version": "v"}

    def __init__(self, info: dict[str, Any], short: dict[str, str]) -> None:
        self.info = info
        self._short = {**self._SHORT, **short}

    def format(self, short: bool = False) -> str:
        """The signature in one line; `short` abbreviates the names."""
        names = {"nrefs": 0, "version": 2}
        pairs = sorted(self.info.items(), key=lambda pair: names.get(pair[0], 1))
        words = {True: "yes", False: "no"}
        return "|".join(
            f"{self._short.get(name, name) if short else name}:{words[value] if isinstance(value, bool) else value}"
            for name, value in pairs
        )

    def __str__(self) -> str:
        return self.format()

    __repr__ = __str__


class Metric(Generic[S]):
    """A metric with its settings; `references` given here serve all calls that pass none."""

    _short: dict[str, str] = {}

    def __init__(self, references: Streams | None) -> None:
        self._references = references
        self.num_refs: int | None = None

    def _score(self, hypotheses: Sequence[str], by_segment: list[list[str]]) -> S:
        raise NotImplementedError

    def _info(self) -> dict[str, Any]:
        raise NotImplementedError

    def corpus_score(self, hypotheses: Sequence[str], references: Streams | None, n_bootstrap: int = 1) -> S:
        """The score of a corpus; `references` are streams, each as long as `hypotheses`."""
        if n_bootstrap > 1:
            raise NotImplementedError("for intervals, call capeval.score(…, intervals=True); leave out n_bootstrap")
        streams = references or self._references
        if not streams:
            raise RuntimeError("No references provided and the cache is empty.")
        return self._of(hypotheses, _by_segment(hypotheses, streams))

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> S:
        """The score of one sentence."""
        if not isinstance(hypothesis, str) or isinstance(references, str):
            raise TypeError(f"{type(self).__name__}: hypothesis must be a string, and references a sequence of strings")
        return self._of([hypothesis], [list(references)])

    def _of(self, hypotheses: Sequence[str], by_segment: list[list[str]]) -> S:
        counts = {len(references) for references in by_segment}
        self.num_refs = counts.pop() if len(counts) == 1 else -1
        return self._score(hypotheses, by_segment)

    def get_signature(self) -> Signature:
        """The signature of the last score."""
        if self.num_refs is None:
            raise ValueError("Number of references unknown, please evaluate the metric first.")
        count = "var" if self.num_refs == -1 else self.num_refs
        return Signature({"nrefs": count, **self._info(), "version": __version__}, self._short)


class BLEU(Metric[BLEUScore]):
    """BLEU."""

    SMOOTH_DEFAULTS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}
    TOKENIZER_DEFAULT = "13a"

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = 4,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Streams | None = None,
    ) -> None:
        """Takes sacreBLEU's settings; `force` is ignored, and n-grams have up to 4 words."""
        super().__init__(references)
        if max_ngram_order != 4:
            raise NotImplementedError("capeval's BLEU of sacreBLEU has n-grams of up to 4 words; leave out max_ngram_order")
        if smooth_method not in self.SMOOTH_DEFAULTS:
            raise AssertionError(f"Unknown smooth_method {smooth_method!r}")
        by_language = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
        self.lowercase = lowercase
        self.tokenize = _tokenizer(tokenize or by_language.get(trg_lang, self.TOKENIZER_DEFAULT))
        self.smooth_method = smooth_method
        self.smooth_value = smooth_value
        self.max_ngram_order = max_ngram_order
        self.effective_order = effective_order

    def _score(self, hypotheses: Sequence[str], by_segment: list[list[str]]) -> BLEUScore:
        options = self.smooth_method, self.smooth_value, self.lowercase, self.tokenize, self.effective_order
        return _bleu(hypotheses, by_segment, *options)

    def _info(self) -> dict[str, Any]:
        default = self.SMOOTH_DEFAULTS[self.smooth_method]
        value = default if self.smooth_value is None else self.smooth_value
        by = "" if default is None else f"[{value:.2f}]"
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": self.effective_order,
            "tok": _TOKENIZERS[self.tokenize],
            "smooth": self.smooth_method + by,
        }


class CHRF(Metric[CHRFScore]):
    """chrF, or chrF++ with ``word_order=2``."""

    _short = {"space": "s"}

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        references: Streams | None = None,
    ) -> None:
        """Takes sacreBLEU's settings."""
        super().__init__(references)
        self.char_order = char_order
        self.word_order = word_order
        self.beta = beta
        self.lowercase = lowercase
        self.whitespace = whitespace
        self.eps_smoothing = eps_smoothing

    def _score(self, hypotheses: Sequence[str], by_segment: list[list[str]]) -> CHRFScore:
        options = self.char_order, self.word_order, self.beta, not self.whitespace, self.eps_smoothing, self.lowercase
        return _chrf(hypotheses, by_segment, *options)

    def _info(self) -> dict[str, Any]:
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": not self.eps_smoothing,
            "nc": self.char_order,
            "nw": self.word_order,
            "space": self.whitespace,
        }


class TER(Metric[TERScore]):
    """The translation edit rate."""

    _short = {"tok": "t", "norm": "nr", "punct": "pn", "asian": "as"}

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Streams | None = None,
    ) -> None:
        """Takes sacreBLEU's settings."""
        super().__init__(references)
        self._options = {
            "normalized": normalized,
            "no_punct": no_punct,
            "asian_support": asian_support,
            "case_sensitive": case_sensitive,
        }

    def _score(self, hypotheses: Sequence[str], by_segment: list[list[str]]) -> TERScore:
        return _ter(hypotheses, by_segment, **self._options)

    def _info(self) -> dict[str, Any]:
        return {
            "case": "mixed" if self._options["case_sensitive"] else "lc",
            "tok": "tercom",
            "norm": self._options["normalized"],
            "punct": not self._options["no_punct"],
            "asian": self._options["asian_support"],
        }
