"""References that are prepared once, for many calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _engine
from ._chair import Chair
from ._choices import Duplicate, Empty, Idf, Ids, Missing, Surplus
from ._data import Models, Vectors
from ._frequencies import DocumentFrequencies, Frequencies
from ._inputs import (
    Captionlike,
    Chosen,
    Metrics,
    Pictures,
    Settings,
    metric_options,
    path_of,
    reference_captions,
    thread_count,
)
from ._judging import Judging
from ._progress import Progress
from ._report import Id, Report


class Evaluator:
    """References that are read and tokenized once, for scoring many systems.

    >>> import capeval
    >>> evaluator = capeval.Evaluator({1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats"]}, ["bleu", "cider-d"])
    >>> report = evaluator.score({1: "a dog ran", 2: "two cats"})
    >>> round(report["bleu-1"], 6)
    1.0
    """

    def __init__(
        self,
        references: Captionlike,
        metrics: Metrics = None,
        *,
        suite: str | None = None,
        tokenizer: str | None = None,
        settings: Settings = None,
        idf: Idf | None = None,
        document_frequencies: Frequencies = None,
        spice_cache: str | os.PathLike[str] | None = None,
        ids: Ids = "as-given",
        split: str | Sequence[str] | None = None,
        ref_format: str | None = None,
        ref_id_column: str | None = None,
        ref_caption_columns: str | Sequence[str] | None = None,
        threads: int | None = None,
        df: Frequencies = None,
    ) -> None:
        """Reads and counts references.

        Args:
            references: captions by people, in any form that :func:`capeval.score` takes.
            metrics: the metrics to prepare for; later calls may name others, but then take longer. What models and
                judges need is given to those calls.
            suite: as for :func:`capeval.score`.
            tokenizer: as for :func:`capeval.score`.
            settings: as for :func:`capeval.score`.
            idf: as for :func:`capeval.score`.
            document_frequencies: as for :func:`capeval.score`.
            spice_cache: as for :func:`capeval.score`.
            ids: as for :func:`capeval.score`.
            split: as for :func:`capeval.score`.
            ref_format: as for :func:`capeval.score`.
            ref_id_column: as for :func:`capeval.score`.
            ref_caption_columns: as for :func:`capeval.score`.
            threads: the number of threads; see :func:`capeval.set_num_threads`.
            df: the former name of `document_frequencies`.

        Raises:
            ValueError: there are no references, or a metric is unknown.
            KeyboardInterrupt: on Ctrl-C, once the references are prepared for the current metric.
        """
        rows = reference_captions(references, split, ref_format, ref_id_column, ref_caption_columns)
        self._metrics = metric_options(metrics, suite, tokenizer, settings, idf)
        self._df = DocumentFrequencies._given(document_frequencies, df)
        self._ids: Ids = ids
        options = {"metrics": self._metrics.options, "ids": ids}
        data = {"spice_cache": path_of(spice_cache), "functions": self._metrics.engine()}
        self._prepared = _engine.Prepared.build(rows, options, data, thread_count(threads))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        metrics: Metrics = None,
        *,
        suite: str | None = None,
        tokenizer: str | None = None,
        settings: Settings = None,
        idf: Idf | None = None,
        document_frequencies: Frequencies = None,
        df: Frequencies = None,
    ) -> Evaluator:
        """Opens a file that :meth:`save` or ``capeval prepare`` wrote.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file has another format or version, is damaged, or is older than the captions it was made
                from.
        """
        evaluator = cls.__new__(cls)
        evaluator._metrics = metric_options(metrics, suite, tokenizer, settings, idf)
        evaluator._df = DocumentFrequencies._given(document_frequencies, df)
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

    @property
    def numbered(self) -> bool:
        """Whether the ids number the images, as they do where references have no ids."""
        ids = self.ids
        return ids in (list(range(len(ids))), list(range(1, len(ids) + 1)))

    def score(
        self,
        candidates: Captionlike = None,
        metrics: Metrics = None,
        *,
        systems: Mapping[str, Captionlike] | None = None,
        suite: str | None = None,
        tokenizer: str | None = None,
        settings: Settings = None,
        idf: Idf | None = None,
        document_frequencies: Frequencies = None,
        lm: str | os.PathLike[str] | None = None,
        spice_cache: str | os.PathLike[str] | None = None,
        model: Models = None,
        vectors: Vectors = None,
        chair: Chair | None = None,
        judging: Judging | None = None,
        pictures: Pictures = None,
        score_cache: str | os.PathLike[str] | None = None,
        missing: Missing = "error",
        surplus: Surplus = "error",
        duplicate: Duplicate = "error",
        empty: Empty = "error",
        ids: Ids | None = None,
        input_format: str | None = None,
        id_column: str | None = None,
        caption_column: str | None = None,
        images: Iterable[Id] | None = None,
        segments: bool = True,
        gallery: bool = False,
        human: bool = False,
        intervals: bool | float = False,
        resamples: int = 10_000,
        seed: int = 12_345,
        threads: int | None = None,
        progress: Progress = None,
        df: Frequencies = None,
    ) -> Report:
        """Scores one system, or several as ``systems={name: candidates}``.

        Takes the options of :func:`capeval.score`, except those about references, and returns the same digits. Metrics,
        settings and ids are those of the evaluator unless they are given here.
        """
        from ._score import score

        return score(
            self,
            candidates,
            metrics,
            systems=systems,
            suite=suite,
            tokenizer=tokenizer,
            settings=settings,
            idf=idf,
            document_frequencies=document_frequencies,
            lm=lm,
            spice_cache=spice_cache,
            model=model,
            vectors=vectors,
            chair=chair,
            judging=judging,
            pictures=pictures,
            score_cache=score_cache,
            missing=missing,
            surplus=surplus,
            duplicate=duplicate,
            empty=empty,
            ids=ids or self._ids,
            input_format=input_format,
            id_column=id_column,
            caption_column=caption_column,
            images=images,
            segments=segments,
            gallery=gallery,
            human=human,
            intervals=intervals,
            resamples=resamples,
            seed=seed,
            threads=threads,
            progress=progress,
            df=df,
        )

    def _completed(self, call: Chosen) -> Chosen:
        """The metrics of a call, or else those of the evaluator, with the settings of both.

        The source of document frequencies is one of the settings.
        """
        given, mine = call.options, self._metrics.options
        which, functions = mine, self._metrics.functions
        if given["names"] or given["suite"]:
            which, functions = given, call.functions
            mine = {**mine, "settings": _settings_of(given, mine["settings"])}
        tokenizer, settings = given["tokenizer"] or mine["tokenizer"], {**mine["settings"], **given["settings"]}
        options = {"names": which["names"], "suite": which["suite"], "tokenizer": tokenizer, "settings": settings}
        return Chosen(options, functions)

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
    evaluator.__dict__.update(state, _prepared=_engine.Prepared.from_bytes(data, source))
    return evaluator

