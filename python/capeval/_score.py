"""The main job: from captions to a report."""

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
    """Holds captions against references.

    No digit depends on the number of threads, on the order of images or on the other systems.

    Args:
        references: what people wrote. A path to a file in any format that capeval knows (COCO annotations,
            Karpathy's, CSV, JSON Lines, …); a dictionary ``{id: [caption, …]}``, COCO's ``{"annotations": […]}``;
            a list of lists of captions, numbered from 0; a table of pandas, polars or pyarrow with a column of
            ids and one of captions, or of lists of captions; or an :class:`Evaluator`.
        candidates: what one system wrote, one caption per image, in the same forms: ``{id: caption}``, COCO's
            results ``[{"image_id": …, "caption": …}]``, a list of captions, a path, a table.
        metrics: names of metrics or suites, with settings as in ``"cider-d:sigma=4"``: a list, or a string with
            commas. The default is the suite ``coco``; :func:`capeval.metrics` lists all.
        systems: several systems by name, in place of `candidates`.
        settings: settings for every metric that knows them, such as ``{"tok": "13a"}``.
        df: document frequencies for CIDEr, or the path of a table, for scores that compare with those on other
            images.
        missing: images without a candidate: ``"error"``, ``"skip"`` or ``"empty"``.
        surplus: candidates without references: ``"error"`` or ``"ignore"``.
        duplicate: several candidates for one image: ``"error"``, ``"first"`` or ``"last"``.
        empty: candidates without a word: ``"error"``, ``"keep"`` or ``"skip"``.
        ids: ``"text"`` if the id 1 and the id "1" are the same.
        images: only these images, document frequencies included.
        segments: whether the report shall hold the scores of every image.
        gallery: whether :meth:`Report.to_html` shall show every image with the evidence of its scores.
        intervals: confidence intervals of the corpus scores: ``True`` for 95 %, or a level such as 0.99.
        resamples: how many resamples of the images the intervals stand on.
        seed: what the random numbers start from.
        threads: how many threads work; see :func:`capeval.set_num_threads`.
        progress: ``True`` for a bar of tqdm, or a function of stage, captions done and captions in all.

    Returns:
        A :class:`Report`.

    Raises:
        ValueError: captions that do not meet in a way that the policies allow, an unknown metric or setting,
            a damaged file.
        TypeError: captions that are no strings.
        FileNotFoundError: a file that is not there, or METEOR's data where they are asked for by name.
        KeyboardInterrupt: on Ctrl-C, as soon as the captions at hand are done: within a fraction of a second while
            captions are scored, later while references are read.
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
    """References, systems, metrics and table as the engine takes them."""
    given: dict[str, Captionlike]
    if systems is not None:
        if candidates is not None:
            raise ValueError("give either candidates or systems, not both")
        given = dict(systems)
    elif candidates is None:
        raise ValueError("there is nothing to score; give candidates, or systems={name: candidates}")
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
