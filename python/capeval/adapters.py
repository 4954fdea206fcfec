"""Makes metrics of other packages metrics of capeval: of torchmetrics, evaluate, aac-metrics and pycocoevalcap.

Each function takes an object of its package and returns what :func:`capeval.metric` returns, so it can stand in any list of
metrics, and gets intervals, tests, pages and benchmarks::

    from torchmetrics.text import WordErrorRate
    wer = capeval.adapters.from_torchmetrics(WordErrorRate())
    report = capeval.score(references, candidates, metrics=["cider-d", wer], intervals=True)

capeval needs a score of each caption. Where an object gives only one number for many captions, it is asked about each
caption alone. Corpus scores are means of these scores, also where those of the package are not.

When an adapter is made, it asks its object about a few captions, one of which is its own reference: so it learns what the object
gives, that the direction is right, and whether the score of a caption depends on the others. None of the packages is imported
unless its objects are given.

All adapters take these options:

- ``name``: the name of the metric; the default is that of its package and its class, such as ``torchmetrics-word-error-rate``.
- ``keys``: which of the numbers that the object gives are measures, if there are several.
- ``references``: what an object gets that takes only one reference of a caption: each, and the ``"best"`` score counts (the
  default) or the ``"mean"``; ``"all"`` gives it a list of references.
- ``range``, ``lower_is_better``: the lowest and the highest score, and the direction; the default is what the package says.
- ``tokenizer``: a tokenizer of capeval that captions and references go through first.
- ``corpus``: whether scores depend on the other captions, as those of CIDEr do; the default is what was found.
- ``version``: for signatures; the default is that of the package. Settings of the object are not in the signature, so name
  them here. With a version, scores are kept for later calls, see `score_cache` of :func:`capeval.score`.
- ``batch_size``: the largest number of captions of a call.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import math
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._listing import tokenize
from ._metric import Metric, metric
from ._report import Measure

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["from_aac_metrics", "from_evaluate", "from_pycocoevalcap", "from_torchmetrics"]

Several = Literal["all", "best", "mean"]

Ask = Callable[[list[str], list[Any]], Mapping[str, Any]]
"""Gives for each key either a number for each caption, or one for all of them."""


class Options(TypedDict, total=False):
    """The options that all adapters share."""

    name: str
    keys: str | Iterable[str]
    references: Several
    range: tuple[float, float]
    lower_is_better: bool
    tokenizer: str
    corpus: bool
    version: str
    batch_size: int


def from_torchmetrics(metric: Any, **options: Unpack[Options]) -> Metric:
    """Adapts a text metric of torchmetrics, such as ``TranslationEditRate()``.

    The metric is reset. Metrics made with ``return_sentence_level_score=True``, and those that give a tensor of scores, are
    asked about many captions at once; to others, one caption after the other is passed by ``update``, ``compute`` and ``reset``.

    Args:
        metric: an object that has collected nothing.
        options: see :mod:`capeval.adapters`.

    Raises:
        ValueError: an option must be given, or contradicts what the metric gives.
    """
    if getattr(metric, "update_called", False):
        raise ValueError("the metric has collected captions, which would be lost; pass a new one")
    low, high = getattr(metric, "plot_lower_bound", None), getattr(metric, "plot_upper_bound", None)
    higher = getattr(metric, "higher_is_better", None)
    lower = options.get("lower_is_better", higher is False)
    # For charts, error rates end at 1, which they may exceed.
    bounds = (-math.inf if low is None else low, math.inf if high is None or lower else high)
    several = _depth(_hint(metric.update, "target")) > 1
    return _adapted("torchmetrics", metric, _Torchmetrics(metric), higher, bounds, several, options)


def from_evaluate(module: Any, *, arguments: Mapping[str, Any] | None = None, **options: Unpack[Options]) -> Metric:
    """Adapts a module of Hugging Face's evaluate, such as ``evaluate.load("exact_match")``.

    evaluate does not say which scores are better: pass `lower_is_better`. A module that gives one number for all captions is asked
    about each caption alone, which takes it some milliseconds.

    Args:
        module: what ``evaluate.load`` returns.
        arguments: what ``compute`` takes beside captions, such as ``{"lang": "en"}``.
        options: see :mod:`capeval.adapters`.

    Raises:
        ValueError: an option must be given, or contradicts what the module gives.
    """
    kinds = module.features if isinstance(module.features, list) else [module.features]
    if not all({"predictions", "references"} <= set(kind) for kind in kinds):
        raise ValueError(f"the module takes {', '.join(kinds[0])}, not predictions and references, so it is no metric of captions")
    several = any(isinstance(kind["references"], (list, tuple)) or hasattr(kind["references"], "feature") for kind in kinds)
    ask = _Evaluate(module, dict(arguments or {}))
    return _adapted("evaluate", module, ask, None, (-math.inf, math.inf), several, options)


def from_aac_metrics(metric: Callable[..., Any], **options: Unpack[Options]) -> Metric:
    """Adapts a metric of aac-metrics, such as ``FENSE()``, or one of its functions, such as ``rouge_l``.

    Most of its metrics split captions at spaces, and expect them as PTB's tokenizer leaves them: pass ``tokenizer="ptb-each"``.

    Args:
        metric: an object or a function that takes candidates and lists of references.
        options: see :mod:`capeval.adapters`.

    Raises:
        ValueError: an option must be given, or contradicts what the metric gives.
    """
    bounds = (getattr(metric, "min_value", -math.inf), getattr(metric, "max_value", math.inf))
    higher = getattr(metric, "higher_is_better", None)
    return _adapted("aac-metrics", metric, _AacMetrics(metric), higher, bounds, True, options)


def from_pycocoevalcap(scorer: Any, **options: Unpack[Options]) -> Metric:
    """Adapts an object with ``compute_score(gts, res)``, of pycocoevalcap or in its form.

    Captions go through the tokenizer ``"ptb-each"``, as such objects expect, unless another is given. Higher scores are better
    unless `lower_is_better` is given.

    >>> import capeval
    >>> from capeval.compat.pycocoevalcap.rouge.rouge import Rouge
    >>> metric = capeval.adapters.from_pycocoevalcap(Rouge(), name="rouge-of-coco")
    >>> report = capeval.score({1: ["A dog runs."]}, {1: "a dog"}, ["rouge-l", metric])
    >>> report["rouge-of-coco"] == report["rouge-l"]
    True

    Args:
        scorer: the object.
        options: see :mod:`capeval.adapters`.

    Raises:
        ValueError: an option contradicts what the object gives.
    """
    known = str(scorer.method()) if callable(getattr(scorer, "method", None)) else ""
    bounds = {"Bleu": (0.0, 1.0), "METEOR": (0.0, 1.0), "Rouge": (0.0, 1.0), "SPICE": (0.0, 1.0), "CIDEr": (0.0, 10.0)}
    given: Options = {"tokenizer": "ptb-each", **options}
    return _adapted("pycocoevalcap", scorer, _Pycocoevalcap(scorer), True, bounds.get(known, (-math.inf, math.inf)), True, given)


class _Torchmetrics:
    """Asks a metric of torchmetrics."""

    def __init__(self, metric: Any) -> None:
        self._metric = metric

    def __call__(self, candidates: list[str], targets: list[Any]) -> Mapping[str, Any]:
        try:
            self._metric.update(candidates, targets)
            found = self._metric.compute()
        finally:
            self._metric.reset()
        # With sentence-level scores, those of the corpus come first.
        return _by_key(found[1] if isinstance(found, tuple) else found)


class _Evaluate:
    """Asks a module of evaluate."""

    def __init__(self, module: Any, arguments: dict[str, Any]) -> None:
        self._module, self._arguments = module, arguments

    def __call__(self, candidates: list[str], targets: list[Any]) -> Mapping[str, Any]:
        return _by_key(self._module.compute(predictions=candidates, references=targets, **self._arguments))


class _AacMetrics:
    """Asks a metric of aac-metrics."""

    def __init__(self, metric: Callable[..., Any]) -> None:
        self._metric = metric

    def __call__(self, candidates: list[str], targets: list[Any]) -> Mapping[str, Any]:
        found = self._metric(candidates, targets)
        # Those of the corpus come first.
        return _by_key(found[1] if isinstance(found, tuple) else found)


class _Pycocoevalcap:
    """Asks an object with ``compute_score``."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        # That of BLEU prints otherwise.
        self._quiet = {"verbose": 0} if "verbose" in inspect.signature(scorer.compute_score).parameters else {}

    def __call__(self, candidates: list[str], targets: list[Any]) -> Mapping[str, Any]:
        gts = {k: list(texts) for k, texts in enumerate(targets)}
        res = {k: [caption] for k, caption in enumerate(candidates)}
        score, scores = self._scorer.compute_score(gts, res, **self._quiet)
        if isinstance(score, (list, tuple)):  # BLEU-1 to BLEU-n
            return {str(k): of_n for k, of_n in enumerate(scores, 1)}
        # SPICE tells of each caption more than its score.
        return {"": [one["All"]["f"] if isinstance(one, Mapping) else one for one in _plain(scores)]}


def _by_key(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {"": found}


def _plain(found: Any) -> Any:
    """The contents of a tensor or an array."""
    return found.tolist() if hasattr(found, "tolist") else found


def _depth(kind: Any) -> int:
    """The depth of sequences in a type."""
    inner = max((_depth(part) for part in typing.get_args(kind)), default=0)
    origin = typing.get_origin(kind)
    return inner + (isinstance(origin, type) and issubclass(origin, Sequence))


def _hint(function: Callable[..., Any], parameter: str) -> Any:
    """The type of a parameter; None if it is not known."""
    try:
        return typing.get_type_hints(inspect.unwrap(function)).get(parameter)
    except NameError:
        return None


class _Adapted:
    """The function of a metric that asks an object of another package."""

    def __init__(self, ask: Ask, keys: Sequence[str], each: bool, several: Several, lower: bool, tokenizer: str | None) -> None:
        self._ask = ask
        self.keys = list(keys)
        self._each = each
        """True if each caption is asked about alone."""
        self._several = several
        self._lower = lower
        self._tokenizer = tokenizer
        self.corpus = False
        """True if the score of a caption depends on the others."""
        self.bounds: tuple[float, float] = (-math.inf, math.inf)
        self.names: list[str] = []
        """The names of the measures, in the order of the keys."""

    def __call__(self, candidates: list[str], references: list[list[str]]) -> dict[str, list[float]]:
        return dict(zip(self.names, self.columns(candidates, references)))

    def columns(self, candidates: list[str], references: list[list[str]]) -> list[list[float]]:
        """The scores by each key."""
        if self._tokenizer is not None:
            candidates = _tokenized(candidates, self._tokenizer)
            references = [_tokenized(texts, self._tokenizer) for texts in references]
        if self._several == "all":
            return self._asked(candidates, references)
        pairs = [(caption, text) for caption, texts in zip(candidates, references) for text in texts]
        columns = self._asked([caption for caption, _ in pairs], [text for _, text in pairs])
        best = min if self._lower else max
        reduced: list[list[float]] = []
        for column in columns:
            scores = iter(column)
            of_each = [[next(scores) for _ in texts] for texts in references]
            reduced.append([sum(own) / len(own) if self._several == "mean" else best(own) for own in of_each])
        return reduced

    def _asked(self, candidates: list[str], targets: list[Any]) -> list[list[float]]:
        if not self._each:
            # Some fail on one caption, or give no list.
            twice = len(candidates) == 1 and not self.corpus
            found = self._ask(candidates * 2, targets * 2) if twice else self._ask(candidates, targets)
            return [[self._within(one) for one in _numbers(found[key])[: 1 if twice else None]] for key in self.keys]
        columns: list[list[float]] = [[] for _ in self.keys]
        for caption, target in zip(candidates, targets):
            found = self._ask([caption], [target])
            for key, column in zip(self.keys, columns):
                column.append(self._within(_plain(found[key])))
        return columns

    def _within(self, number: Any) -> float:
        """A score, cut to the range if rounding has put it beyond."""
        score = float(number)
        low, high = self.bounds
        return min(max(score, low), high) if low - _ROUNDING <= score <= high + _ROUNDING else score


def _tokenized(texts: list[str], tokenizer: str) -> list[str]:
    return [" ".join(words) for words in tokenize(texts, tokenizer)]


_ROUNDING = 1e-5
"""By how much numbers of 32 bits may exceed a range."""

_SAME = 1e-3
"""By how much, as a share, scores of a caption beside others may differ for technical reasons."""

_CAPTIONS = ["a dog runs along the sandy beach", "two cats sleep on a chair"]
_TEXTS = ["a dog runs along the sandy beach", "people wait for their red bus"]


def _adapted(
    package: str,
    target: Any,
    ask: Ask,
    higher: bool | None,
    bounds: tuple[float, float],
    several: bool,
    options: Options,
) -> Metric:
    """The metric that asks `target`, of which its package says whether higher scores are better, their range, and whether it
    takes several references."""
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        raise TypeError(f"adapters have no option {sorted(unknown)[0]!r}; they have {', '.join(Options.__annotations__)}")
    own = str(target.name if package == "evaluate" else getattr(target, "__name__", type(target).__name__))
    name = options.get("name") or f"{package}-{_kebab(own)}"
    chosen = options.get("references", "all" if several else "best")
    if chosen not in typing.get_args(Several):
        raise ValueError(f"references must be 'all', 'best' or 'mean', not {chosen!r}")
    targets: list[Any] = [[text] for text in _TEXTS] if chosen == "all" else _TEXTS
    try:
        found = ask([*_CAPTIONS], [*targets])
    except Exception as error:
        raise ValueError(f"{name} cannot score two captions: {type(error).__name__}: {error}") from error
    keys = _keys(name, own, found, options.get("keys"), package in ("torchmetrics", "pycocoevalcap"))
    if "name" not in options and len(keys) == 1 and _plainest(keys[0]) == _plainest(own):
        # SPIDEr is spider.
        name = f"{package}-{_kebab(keys[0])}"
    each = any(_count(found[key]) is None for key in keys)
    lower = options.get("lower_is_better", None if higher is None else not higher)
    if lower is None:
        raise ValueError(f"{package} does not say whether higher scores by {name} are better; pass lower_is_better")
    adapted = _Adapted(ask, keys, each, chosen, lower, options.get("tokenizer"))
    adapted.bounds = options.get("range", bounds)
    probe = adapted.columns([*_CAPTIONS], [[text] for text in _TEXTS])
    for key, (same, other) in zip(keys, probe):
        if "lower_is_better" not in options and (same > other if lower else same < other):
            called = f"{name} {key}" if key else name
            better = "lower" if lower else "higher"
            raise ValueError(
                f"{package} says of {called} that {better} scores are better, but a caption that equals its reference gets "
                f"{same!r}, and one without a word of it {other!r}; pass lower_is_better={not lower} if that is right, or {lower} if not"
            )
    adapted.corpus = options["corpus"] if "corpus" in options else not each and _depends_on_others(adapted)
    adapted.names = [name if len(keys) == 1 else f"{name}-{_kebab(key, '_')}" for key in keys]
    measures = [Measure(one, adapted.bounds, lower) for one in adapted.names]
    version = options.get("version") or _version(package)
    batch_size = options.get("batch_size", 256)
    made = metric(name, adapted, measures=measures, version=version, batch_size=batch_size, corpus=adapted.corpus)
    # No one knows the settings of the object, so only a version that is given says that its scores are the same.
    return made if options.get("version") else made._without_kept_scores()


def _keys(name: str, own: str, found: Mapping[str, Any], wanted: str | Iterable[str] | None, takes_all: bool) -> list[str]:
    """The keys of the measures: those that are wanted, or all, or the one that is called as its object."""
    numbers = [key for key, value in found.items() if all(hasattr(one, "__float__") for one in _numbers(value))]
    fitting = [key for key in numbers if _count(found[key]) in (None, len(_CAPTIONS))]
    if wanted is None:
        main = [key for key in fitting if _plainest(key) == _plainest(own)]
        chosen = fitting if takes_all or len(fitting) == 1 else main
        if not chosen:
            there = ", ".join(map(repr, found))
            raise ValueError(f"{name} gives {there}; say which of them are measures, as in keys={[*found][:1]!r}")
        return chosen
    chosen = [wanted] if isinstance(wanted, str) else list(wanted)
    wrong = next((key for key in chosen if key not in fitting), None)
    if wrong is not None or not chosen:
        raise ValueError(f"{name} gives no number {wrong!r} of each caption, but {', '.join(map(repr, fitting)) or 'none'}")
    return chosen


def _numbers(found: Any) -> list[Any]:
    found = _plain(found)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _count(found: Any) -> int | None:
    """The number of numbers; None if it is one for all captions."""
    found = _plain(found)
    return len(found) if isinstance(found, (list, tuple)) else None


def _depends_on_others(adapted: _Adapted) -> bool:
    """True if a caption has another score beside others, such as one by document frequencies."""
    caption, text = "a black dog runs along the beach", "a dog runs on the sandy beach"
    beside = ["a dog and a cat on the beach", "people wait for their red bus"]
    one, two = (adapted.columns([caption, other], [[text], [other]]) for other in beside)
    return not all(math.isclose(mine[0], yours[0], rel_tol=_SAME, abs_tol=_SAME) for mine, yours in zip(one, two))


def _kebab(name: str, other: str = "-") -> str:
    """A name as measures and metrics have them: WordErrorRate is word-error-rate."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "-", name)
    return re.sub(r"[^a-z0-9]+", other, words.lower()).strip("-_")


def _plainest(name: str) -> str:
    """The letters and digits of a name."""
    return re.sub("[^a-z0-9]", "", name.lower())


def _version(package: str) -> str:
    try:
        return f"{package}-{importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package
