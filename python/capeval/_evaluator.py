"""References that are prepared once, for many calls."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, ChosenMetrics, Metrics, metric_options, path_of, reference_captions, thread_count
from ._keywords import takes
from ._report import Id, Report
from .options import EvaluatorOptions, EvaluatorScoreOptions, LoadOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Evaluator:
    """References that are read and tokenized once, for scoring many systems.

    >>> import capeval
    >>> evaluator = capeval.Evaluator({1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats"]}, ["bleu", "cider-d"])
    >>> report = evaluator.score({1: "a dog ran", 2: "two cats"})
    >>> round(report["bleu-1"], 6)
    1.0
    """

    @takes(EvaluatorOptions)
    def __init__(self, references: Captionlike, metrics: Metrics = None, **options: Unpack[EvaluatorOptions]) -> None:
        """Reads and counts references.

        Args:
            references: Captions by people, in any form that :func:`capeval.score` takes.
            metrics: The metrics to prepare for; later calls may name others, but then take longer. What models and
                judges need is given to those calls.

        Raises:
            ValueError: there are no references, or a metric is unknown.
            KeyboardInterrupt: on Ctrl-C, once the references are prepared for the current metric.
        """
        self._metrics = metric_options(metrics, options)
        self._frequencies = options["document_frequencies"]
        self._ids = options["ids"] or "as-given"
        rows = reference_captions(references, options)
        data = {"spice_cache": path_of(options["spice_cache"]), "functions": self._metrics.engine()}
        settings = {"metrics": self._metrics.options, "ids": self._ids, "clean": options["clean"]}
        self._prepared = _engine.PreparedFile.build(rows, settings, data, thread_count(options["threads"]))

    @classmethod
    @takes(LoadOptions)
    def load(cls, path: str | os.PathLike[str], metrics: Metrics = None, **options: Unpack[LoadOptions]) -> Evaluator:
        """Opens a file that :meth:`save` or ``capeval prepare`` wrote.

        Metrics, settings, document frequencies and ids are those of the file unless they are given here.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file has another format or version, is damaged, or is older than the captions it was made
                from; or it was made for functions, which no file can hold, and no metrics are given.
        """
        evaluator, functions = cls._opened(os.fspath(path))
        evaluator._metrics = evaluator._completed(metric_options(metrics, options), options)
        evaluator._ids = options["ids"] or evaluator._ids
        evaluator._frequencies = options["document_frequencies"]
        there = {one.name for one in evaluator._metrics.functions}
        lost = [name for name in functions if name in evaluator._metrics.options["names"] and name not in there]
        if lost:
            raise ValueError(f"{path} was made for the function {lost[0]}, which no file can hold; pass metrics=[…] to load()")
        return evaluator

    @classmethod
    def _opened(cls, path: str) -> tuple[Evaluator, list[str]]:
        """The evaluator in a file without its functions, and their names."""
        evaluator = cls.__new__(cls)
        evaluator._prepared = _engine.PreparedFile.load(path)
        head, _, table = evaluator._prepared.note().partition(b"\n")
        known = json.loads(head)
        evaluator._metrics = ChosenMetrics(known["metrics"], [])
        evaluator._ids = known["ids"]
        evaluator._frequencies = DocumentFrequencies(_engine.DocumentFrequencies.from_bytes(table)) if table else None
        return evaluator, known.get("functions", [])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the prepared references to a file, with the metrics, settings, document frequencies and ids of calls.

        ``capeval score -r`` also reads it, but takes these from its own flags.
        """
        functions = [one.name for one in self._metrics.functions]
        # The engine's own entries stay: what was removed from the references.
        head, _, _ = self._prepared.note().partition(b"\n")
        known = {**json.loads(head), "metrics": self._metrics.options, "ids": self._ids, "functions": functions}
        table = DocumentFrequencies._table(self._frequencies)
        note = json.dumps(known).encode() + b"\n" + (b"" if table is None else table.to_bytes("capeval"))
        self._prepared.save(os.fspath(path), note)

    @property
    def ids(self) -> list[Id]:
        """The ids of the images, in order."""
        return self._prepared.ids()

    @property
    def numbered(self) -> bool:
        """True if the ids number the images, as they do where references have no ids."""
        ids = self.ids
        return ids in (list(range(len(ids))), list(range(1, len(ids) + 1)))

    @takes(EvaluatorScoreOptions)
    def score(
        self, candidates: Captionlike = None, metrics: Metrics = None, **options: Unpack[EvaluatorScoreOptions]
    ) -> Report:
        """Scores one system, or several as ``systems={name: candidates}``.

        Takes the keywords of :func:`capeval.score`, except those about references, and returns the same digits. Metrics,
        settings, document frequencies and ids are those of the evaluator unless they are given here. Captions are cleaned as
        its references were.
        """
        from ._score import score

        return score(self, candidates, metrics, **options)

    def _completed(self, call: ChosenMetrics, options: LoadOptions) -> ChosenMetrics:
        """The metrics of a call, or else those of the evaluator, with the settings of both; `options` get what else they
        leave open.

        The source of document frequencies is one of the settings.
        """
        options["ids"] = options["ids"] or self._ids
        if options["document_frequencies"] is None:
            options["document_frequencies"] = self._frequencies
        given, mine = call.options, self._metrics.options
        which, functions = mine, self._metrics.functions
        if given["names"] or given["suite"]:
            which, functions = given, call.functions
            mine = {**mine, "settings": _settings_of(given, mine["settings"])}
        tokenizer, settings = given["tokenizer"] or mine["tokenizer"], {**mine["settings"], **given["settings"]}
        whole = {"names": which["names"], "suite": which["suite"], "tokenizer": tokenizer, "settings": settings}
        return ChosenMetrics(whole, functions)

    def __reduce__(self) -> tuple[object, tuple[dict[str, Any], bytes, str]]:
        state = {key: value for key, value in self.__dict__.items() if key != "_prepared"}
        return _restore, (state, self._prepared.to_bytes(), self._prepared.name)

    def __repr__(self) -> str:
        suite, names = self._metrics.options["suite"], self._metrics.options["names"]
        metrics = [suite, *names] if suite else names or ["coco"]
        return f"Evaluator({len(self.ids)} images, metrics={metrics})"


def _settings_of(which: dict[str, Any], settings: dict[str, str]) -> dict[str, str]:
    """Those of `settings` that a metric of a call has."""
    if not settings:
        return settings
    known = {metric["name"]: metric["settings"] for metric in _engine.metrics()}
    suites = {name: metrics for name, _, metrics in _engine.suites() if name not in known}
    names = [spec for name in (which["suite"], *which["names"]) for spec in suites.get(name, [name]) if spec]
    of_call = {setting for name in names for setting in known.get(name.split(":")[0], ())}
    return {name: value for name, value in settings.items() if name in of_call}


def _restore(state: dict[str, Any], data: bytes, source: str) -> Evaluator:
    evaluator = Evaluator.__new__(Evaluator)
    evaluator.__dict__.update(state, _prepared=_engine.PreparedFile.from_bytes(data, source))
    return evaluator

