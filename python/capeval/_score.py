"""Scores captions: from captions to a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _engine
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, Metrics, Settings, captions, metric_options, resampling
from ._progress import Listener, Progress
from ._report import Id, Report

if TYPE_CHECKING:
    from ._evaluator import Evaluator


def score(
    references: Captionlike | Evaluator,
    candidates: Captionlike = None,
    metrics: Metrics = None,
    *,
    systems: Mapping[str, Captionlike] | None = None,
    settings: Settings = None,
    df: DocumentFrequencies | str | None = None,
    missing: str = "error",
    surplus: str = "error",
    duplicate: str = "error",
    empty: str = "error",
    ids: str = "as-given",
    images: Iterable[Id] | None = None,
    segments: bool = True,
    gallery: bool = False,
    intervals: bool | float = False,
    resamples: int = 10_000,
    seed: int = 12_345,
    threads: int | None = None,
    progress: Progress = None,
) -> Report:
    """Scores captions against references.

    No digit depends on the number of threads, on the order of images or on the other systems.

    Args:
        references: captions by people: the path of a file in any format that capeval reads (COCO annotations,
            Karpathy's, CSV, JSON Lines, …); a dictionary ``{id: [caption, …]}`` or COCO's ``{"annotations": […]}``;
            a list of lists of captions, with images numbered from 0; a table of pandas, polars or pyarrow with a
            column of ids and one of captions or of lists of captions; or an :class:`Evaluator`.
        candidates: the captions of one system, one per image, in the same forms: ``{id: caption}``, COCO's results
            ``[{"image_id": …, "caption": …}]``, a list of captions, a path, a table.
        metrics: names of metrics or suites, with settings as in ``"cider-d:sigma=4"``: a list, or a string separated
            by commas. The default is the suite ``coco``; :func:`capeval.metrics` lists all metrics.
        systems: several systems by name, instead of `candidates`.
        settings: settings for all metrics that have them, such as ``{"tok": "13a"}``.
        df: document frequencies for CIDEr, or the path of a table; the default is those of the references. With a
            table, scores are comparable with those on other images.
        missing: images without a candidate: ``"error"``, ``"skip"`` or ``"empty"``.
        surplus: candidates without references: ``"error"`` or ``"ignore"``.
        duplicate: several candidates for one image: ``"error"``, ``"first"`` or ``"last"``.
        empty: candidates without any words: ``"error"``, ``"keep"`` or ``"skip"``.
        ids: ``"text"`` if the ids 1 and "1" are the same.
        images: the ids of the images to use, also for document frequencies; the default is all images.
        segments: whether the report contains the scores of every image.
        gallery: whether :meth:`Report.to_html` shows every image with the evidence for its scores.
        intervals: confidence intervals of the corpus scores: ``True`` for 95 %, or a level such as 0.99.
        resamples: the number of resamples of the images for the intervals.
        seed: the seed of the random numbers.
        threads: the number of threads; see :func:`capeval.set_num_threads`.
        progress: ``True`` for a tqdm bar, or a function that is called with the stage, the captions done and the
            total.

    Raises:
        ValueError: the captions do not match in a way that the policies allow, a metric or setting is unknown, or a
            file is damaged.
        TypeError: a caption is not a string.
        FileNotFoundError: a file does not exist, or METEOR is requested by name and its data are not installed.
        KeyboardInterrupt: on Ctrl-C: within a fraction of a second during scoring, later while references are read.
    """
    ground, read, names, table = _prepare(references, candidates, metrics, systems, settings, df)
    options = {
        "metrics": names,
        "missing": missing,
        "surplus": surplus,
        "duplicate": duplicate,
        "empty": empty,
        "ids": ids,
        "images": None if images is None else list(images),
        "segments": segments,
        "gallery": gallery,
        "intervals": resampling(intervals, resamples, seed),
    }
    with Listener(progress) as listener:
        return Report(_engine.score(ground, read, options, table, threads, listener))


def _prepare(
    references: Any,
    candidates: Captionlike,
    metrics: Metrics,
    systems: Mapping[str, Captionlike] | None,
    settings: Settings,
    df: DocumentFrequencies | str | None,
) -> tuple[Any, list[tuple[str, _engine.Captions]], dict[str, Any], _engine.DocumentFrequencies | None]:
    """References, systems, metrics and table in the form that the engine takes."""
    given: dict[str, Captionlike]
    if systems is not None:
        if candidates is not None:
            raise ValueError("pass either candidates or systems, not both")
        given = dict(systems)
    elif candidates is None:
        raise ValueError("there are no candidates; pass candidates, or systems={name: candidates}")
    else:
        given = {"candidates": candidates}
    read = [(name, captions(source, name, references=False)) for name, source in given.items()]
    names = metric_options(metrics, settings)
    from ._evaluator import Evaluator

    if isinstance(references, Evaluator):
        ground: Any = references._prepared
        if metrics is None:
            names = {"names": references._metrics, "settings": dict(references._settings)}
        if df is None:
            df = references._df
    else:
        ground = captions(references, "references", references=True)
    return ground, read, names, DocumentFrequencies._table(df)
