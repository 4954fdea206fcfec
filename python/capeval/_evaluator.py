"""References that are prepared once, for many calls."""

from __future__ import annotations

import os
from typing import Any

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, Metrics, Settings, captions, metric_names, settings
from ._report import Id, Report


class Evaluator:
    """References that are read and counted once, so that scoring another system takes milliseconds.

    >>> evaluator = Evaluator({1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats"]}, ["bleu", "cider-d"])
    >>> report = evaluator.score({1: "a dog ran", 2: "two cats"})
    >>> round(report["bleu-1"], 6)
    1.0
    """

    def __init__(
        self,
        references: Captionlike,
        metrics: Metrics = None,
        *,
        settings: Settings = None,
        df: DocumentFrequencies | str | None = None,
        ids: str = "as-given",
        threads: int | None = None,
    ) -> None:
        """Reads and counts references.

        Args:
            references: captions by people, in any form that :func:`capeval.score` takes.
            metrics: the metrics to prepare for; later calls may name others, but then take longer.
            settings: settings for all metrics that have them.
            df: document frequencies for CIDEr; the default is those of the references.
            ids: ``"text"`` if the ids 1 and "1" are the same.
            threads: the number of threads; see :func:`capeval.set_num_threads`.

        Raises:
            ValueError: there are no references, or a metric is unknown.
            KeyboardInterrupt: on Ctrl-C, once the references are prepared for the current metric.
        """
        rows = captions(references, "references", references=True)
        self._metrics = metric_names(metrics)
        self._settings = _settings(settings)
        self._df = df
        self._ids = ids
        self._prepared = _engine.Prepared.build(rows, self._metrics, self._settings, ids, threads)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        metrics: Metrics = None,
        *,
        settings: Settings = None,
        df: DocumentFrequencies | str | None = None,
    ) -> Evaluator:
        """Opens a file that :meth:`save` or ``capeval prepare`` wrote.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file has another format or version, is damaged, or is older than the captions it was made
                from.
        """
        evaluator = cls.__new__(cls)
        evaluator._metrics = metric_names(metrics)
        evaluator._settings = _settings(settings)
        evaluator._df = df
        evaluator._ids = "as-given"
        evaluator._prepared = _engine.Prepared.load(os.fspath(path))
        return evaluator

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the prepared references to a file, which ``capeval score -r`` also reads."""
        self._prepared.save(os.fspath(path))

    @property
    def ids(self) -> list[Id]:
        """The ids of the images, in order."""
        return self._prepared.ids()

    def score(self, candidates: Captionlike = None, metrics: Metrics = None, **options: Any) -> Report:
        """Scores one system, or several as ``systems={name: candidates}``.

        Takes the options of :func:`capeval.score` and returns the same digits.
        """
        from ._score import score

        options.setdefault("ids", self._ids)
        if metrics is None:
            return score(self, candidates, **options)
        options.setdefault("settings", dict(self._settings))
        return score(self, candidates, metrics, **options)

    def __reduce__(self) -> tuple[object, tuple[dict[str, Any], bytes, str]]:
        state = {key: value for key, value in self.__dict__.items() if key != "_prepared"}
        return _restore, (state, self._prepared.to_bytes(), self._prepared.name)

    def __repr__(self) -> str:
        return f"Evaluator({len(self.ids)} images, metrics={self._metrics})"


def _restore(state: dict[str, Any], data: bytes, source: str) -> Evaluator:
    evaluator = Evaluator.__new__(Evaluator)
    evaluator.__dict__.update(state, _prepared=_engine.Prepared.from_bytes(data, source))
    return evaluator


_settings = settings
