"""Scores captions: from captions to a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _engine
from ._chair import Chair
from ._choices import Duplicate, Empty, Idf, Ids, Missing, Surplus
from ._data import Models, Vectors, data_of
from ._frequencies import DocumentFrequencies, Frequencies
from ._given import GivenScores, given, keys
from ._inputs import (
    Captionlike,
    Chosen,
    Metrics,
    Pictures,
    Settings,
    captions,
    ids_of,
    metric_options,
    resampling,
    thread_count,
)
from ._judging import Judging
from ._progress import Listener, Progress
from ._report import Id, Report

if TYPE_CHECKING:
    from ._evaluator import Evaluator


def score(
    references: Captionlike | Evaluator = None,
    candidates: Captionlike = None,
    metrics: Metrics = None,
    *,
    systems: Mapping[str, Captionlike] | None = None,
    scores: GivenScores = None,
    lower_is_better: str | Sequence[str] = (),
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
    ids: Ids = "as-given",
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
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
    """Scores captions against references, and makes measures of scores that someone else computed.

    No digit depends on the number of threads or on the other systems, and only the tokenizer ``"ptb"`` depends on the order
    of images: like pycocoevalcap, it reads all captions as one text.

    Args:
        references: captions by people: the path of a file in any format that capeval reads (COCO annotations,
            Karpathy's, CSV, JSON Lines, …); a dictionary ``{id: [caption, …]}`` or COCO's ``{"annotations": […]}``;
            a list of lists of captions, with images numbered from 0; a table of pandas, polars or pyarrow with a
            column or named index of ids and a column of captions or of lists of captions; a ``datasets.Dataset``; a
            ``COCO`` of pycocotools; or an :class:`Evaluator`. Rows of tables without such ids are matched by a column that
            both sides have and that tells them apart; or else by the labels of an index without a name, if both sides
            have the same; or else, if nothing could identify them, in order. A notice says so.
        candidates: the captions of one system, one per image, in the same forms: ``{id: caption}``, COCO's results
            ``[{"image_id": …, "caption": …}]``, a list of captions, a path, a table.
        metrics: names of metrics or suites, with settings as in ``"cider-d:sigma=4"``: a list, or a string separated
            by commas. The default is the suite ``coco``; :func:`capeval.metrics` lists all metrics. A metric that is
            given twice with the same settings is computed once. A function may stand among them, see
            :func:`capeval.metric`, and the path of a TOML file, which describes a program (docs/guides/programs.md).
        systems: several systems by name, instead of `candidates`.
        scores: scores that someone else computed, as measures like any other, beside metrics or alone: the path of a
            file, a dictionary ``{id: number}`` or ``{id: {measure: number}}``, a table with ``image_id``, a
            :class:`Scores` with what these do not say, or a list of paths and :class:`Scores`.
        lower_is_better: which of these scores are error rates, by key; ``ter`` and other known ones need not be listed.
        suite: a suite of metrics, which come before `metrics`; :func:`capeval.suites` lists all.
        tokenizer: the tokenizer of all metrics that have a choice; the default depends on the metric and is mostly
            ``"ptb"``. :func:`capeval.tokenizers` lists all.
        settings: settings for all metrics that have them, such as ``{"stem": "snowball-english"}``.
        idf: the source of CIDEr's document frequencies; the default is `document_frequencies` if they are given, and
            otherwise the references:
            - ``"corpus"``: the references of the images that are scored
            - ``"uniform"``: none: all n-grams have the same weight
            - ``"table"``: a saved table
        document_frequencies: document frequencies for CIDEr, or the path of a table; the default is those of the
            references. With a table, scores are comparable with those on other images.
        lm: the path of an ARPA file with the language model for the metric ``perplexity``.
        spice_cache: the path of a file that keeps SPICE's parses for later calls, at most 64 MB: captions that it has are
            not parsed again, and new ones are added. It need not exist. The default is a file in your cache folder, which
            ``capeval data list`` shows; ``"none"`` keeps nothing.
        model: models for metrics that compare vectors, such as ``"clip-s"`` and ``"bert-score"``: a folder as Hugging Face
            stores it, a name of ``capeval model add``, or a list of these. Each metric takes the one that suits it.
        vectors: vectors for these metrics instead of a model, by what they are of: ``"images"``, ``"texts"``,
            ``"references"``, ``"candidates"`` or ``"candidates:NAME"``. Each is the path of a file (``.npy`` with its ids,
            ``.safetensors``), a dictionary of vectors by id or, for texts, by text, or a pair of ids and a matrix of
            NumPy or torch.
        chair: what the metric ``"chair"`` is given, a list of objects and instances: a :class:`Chair`.
        judging: whom judges, such as ``"judge"``, ask, and where their answers are kept: a :class:`Judging`.
        pictures: pictures for metrics that look at them: a folder with files named after image ids, a path with ``{id}``,
            or ``{id:012}`` for an id padded with zeros, a file that says which picture each image has (COCO's annotations,
            or a table with a column of paths), a list of these, or a dictionary of paths by id. Functions get what a
            dictionary holds, whatever it is.
        score_cache: the path of a folder that keeps scores of functions with a version and of programs for later calls,
            which then ask only about what is new. It need not exist. The default is a folder in your cache folder, which
            ``capeval data list`` shows; ``"none"`` keeps nothing.
        missing: what to do about images without a candidate:
            - ``"error"``: stop, and name the images
            - ``"skip"``: leave the images out of every metric and of document frequencies
            - ``"empty"``: score the images as if their caption were empty
        surplus: what to do about candidates without references:
            - ``"error"``: stop, and name the images
            - ``"ignore"``: leave them out
        duplicate: what to do about several candidates for one image:
            - ``"error"``: stop, and name the images
            - ``"first"``: use the first one
            - ``"last"``: use the last one
        empty: what to do about candidates without any words:
            - ``"error"``: stop, and name the images
            - ``"keep"``: score them
            - ``"skip"``: leave their images out of every metric
        ids: how ids are compared:
            - ``"as-given"``: the number 1 and the text "1" are two ids
            - ``"text"``: the number 1 and the text "1" are one id
            - ``"file-name"``: a path is its file's name without the extension, and a COCO name or a number with zeros
              is its number: val2014/COCO_val2014_000000391895.jpg and 391895 are one id
        split: the splits of the references to use, such as ``"test"``: those of a Karpathy file, or of a table with a
            column ``split``; the default is all.
        ref_format: the format of the file of references; the default is to detect it from the content.
        ref_id_column: the column or key of image ids in the references; the default is to look for the usual names.
        ref_caption_columns: the columns or keys of captions in the references, likewise.
        input_format: the format of files of candidates; the default is to detect it from the content.
        id_column: the column or key of image ids in the candidates; the default is to look for the usual names.
        caption_column: the column or key of the caption in the candidates, likewise.
        images: the ids of the images to use, also for document frequencies; the default is all images.
        segments: whether the report contains the scores of every image.
        gallery: whether :meth:`Report.to_html` shows every image with the evidence for its scores.
        human: add a row ``"human"`` for people, as ``capeval score --human`` does: each reference of an image is held out
            in turn and scored against the others. Without candidates, it is the only row.
        intervals: confidence intervals of the corpus scores: ``True`` for 95 %, or a level such as 0.99.
        resamples: the number of resamples of the images for the intervals.
        seed: the seed of the random numbers.
        threads: the number of threads; see :func:`capeval.set_num_threads`.
        progress: ``True`` for a tqdm bar, or a function that is called with the stage, the captions done and the
            total.
        df: the former name of `document_frequencies`.

    Raises:
        ValueError: the captions do not match in a way that the policies allow, a metric or setting is unknown, or a
            file is damaged.
        TypeError: a caption is not a string.
        FileNotFoundError: a file does not exist, or METEOR is requested by name and its data are not installed.
        KeyboardInterrupt: on Ctrl-C: within a fraction of a second during scoring, later while references are read.
    """
    is_alone = scores is not None and references is None and candidates is None and systems is None
    ground, read, chosen, table = prepare(
        references,
        {} if is_alone or human and candidates is None and systems is None else by_name(candidates, systems),
        metric_options(metrics, suite, tokenizer, settings, idf),
        DocumentFrequencies._given(document_frequencies, df),
        {"split": split, "format": ref_format, "id_column": ref_id_column, "caption_columns": ref_caption_columns},
        {"format": input_format, "id_column": id_column, "caption_columns": caption_column},
    )
    options = {
        "metrics": chosen.options,
        "lower_is_better": keys(lower_is_better),
        "missing": missing,
        "surplus": surplus,
        "duplicate": duplicate,
        "empty": empty,
        "ids": ids,
        "images": ids_of(images),
        "segments": segments,
        "gallery": gallery,
        "human": human,
        "intervals": resampling(intervals, resamples, seed),
    }
    data = data_of(
        table,
        chosen,
        lm=lm,
        spice_cache=spice_cache,
        model=model,
        vectors=vectors,
        chair=chair,
        judging=judging,
        pictures=pictures,
        score_cache=score_cache,
    )
    with Listener(progress) as listener:
        return Report(_engine.score(ground, read, given(scores), options, data, thread_count(threads), listener))


def prepare(
    references: Any,
    systems: Mapping[str, Captionlike],
    metrics: Chosen,
    frequencies: Frequencies,
    reading_references: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> tuple[Any, list[tuple[str, _engine.Captions]], Chosen, _engine.DocumentFrequencies | None]:
    """References, systems, metrics and table in the form that the engine takes."""
    read = [(name, captions(source, name, references=False, **reading)) for name, source in systems.items()]
    from ._evaluator import Evaluator

    if isinstance(references, Evaluator):
        set_here = [name for name, value in reading_references.items() if value is not None]
        if set_here:
            raise ValueError(f"{set_here[0]}: the references are prepared already; pass it to Evaluator()")
        ground: Any = references._prepared
        metrics = references._completed(metrics)
        if frequencies is None:
            frequencies = references._df
    else:
        ground = None
        if references is not None:
            ground = captions(references, "references", references=True, **reading_references)
        elif systems:
            raise ValueError("captions are compared with references, and there are none; pass references")
    return ground, read, metrics, DocumentFrequencies._table(frequencies)


def by_name(candidates: Captionlike, systems: Mapping[str, Captionlike] | None) -> dict[str, Captionlike]:
    """The candidates of each system."""
    if systems is None:
        if candidates is None:
            raise ValueError("there are no candidates; pass candidates, or systems={name: candidates}")
        return {"candidates": candidates}
    if candidates is not None:
        raise ValueError("pass either candidates or systems, not both")
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems must be a dictionary of candidates by name, not {type(systems).__name__}")
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"a system is named by a string, not {name!r}")
        if not name.strip():
            raise ValueError("the name of a system is empty; give it one")
    return dict(systems)
