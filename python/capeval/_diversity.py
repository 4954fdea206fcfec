"""Diversity: how much the captions of a system vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import _engine
from ._choices import Ids
from ._inputs import Captionlike, Metrics, captions, metric_list, reference_captions, thread_count
from ._report import Report
from ._score import by_name

if TYPE_CHECKING:
    from ._evaluator import Evaluator


def diversity(
    candidates: Captionlike = None,
    references: Captionlike | Evaluator = None,
    metrics: Metrics = None,
    *,
    systems: Mapping[str, Captionlike] | None = None,
    train: Captionlike = None,
    tokenizer: str | None = None,
    ids: Ids = "as-given",
    split: str | Sequence[str] | None = None,
    ref_format: str | None = None,
    ref_id_column: str | None = None,
    ref_caption_columns: str | Sequence[str] | None = None,
    train_split: str | Sequence[str] | None = None,
    train_format: str | None = None,
    train_id_column: str | None = None,
    train_caption_columns: str | Sequence[str] | None = None,
    input_format: str | None = None,
    id_column: str | None = None,
    caption_column: str | None = None,
    threads: int | None = None,
) -> Report:
    """Measures how diverse captions are: Div-n, mBLEU, Self-CIDEr, size of the vocabulary, novel captions.

    Args:
        candidates: any number of captions per image, in the forms that :func:`capeval.score` takes for references.
        references: captions for Self-CIDEr's document frequencies.
        metrics: names of metrics, with settings as in ``"self-cider:n=3"``; the default is all that the given captions
            allow.
        systems: several systems by name, instead of `candidates`.
        train: the captions on which the systems were trained; all other captions are novel.
        tokenizer: the tokenizer of all metrics; the default is ``"ptb"``.
        ids: as for :func:`capeval.score`.
        split: as for :func:`capeval.score`, as are the other options about references and candidates.
        ref_format: as for :func:`capeval.score`.
        ref_id_column: as for :func:`capeval.score`.
        ref_caption_columns: as for :func:`capeval.score`.
        train_split: the same for `train`.
        train_format: the same for `train`.
        train_id_column: the same for `train`.
        train_caption_columns: the same for `train`.
        input_format: as for :func:`capeval.score`.
        id_column: as for :func:`capeval.score`.
        caption_column: as for :func:`capeval.score`.
        threads: the number of threads; see :func:`capeval.set_num_threads`.

    >>> import capeval
    >>> report = capeval.diversity({1: ["a dog runs", "a brown dog"], 2: ["two cats", "cats sleep"]}, metrics="div")
    >>> round(report["div-1"], 4)
    0.7083

    Raises:
        ValueError: a metric is unknown, or needs references or training captions that are not given.
    """
    from ._evaluator import Evaluator

    given = by_name(candidates, systems)
    reading = {"format": input_format, "id_column": id_column, "caption_columns": caption_column}
    read = [(name, captions(source, name, references=False, **reading)) for name, source in given.items()]
    ground: _engine.Captions | _engine.Prepared | None = None
    if isinstance(references, Evaluator):
        ground = references._prepared
    elif references is not None:
        ground = reference_captions(references, split, ref_format, ref_id_column, ref_caption_columns)
    training = None
    if train is not None:
        training = captions(
            train,
            "train",
            references=True,
            split=train_split,
            format=train_format,
            id_column=train_id_column,
            caption_columns=train_caption_columns,
        )
    names = [] if metrics is None else metric_list(metrics)
    for one in names:
        if not isinstance(one, str):
            raise TypeError(f"{one.name} scores captions one by one, and diversity is of all captions of an image; leave it out")
    options = {"metrics": names, "tokenizer": tokenizer, "ids": ids}
    return Report(_engine.diversity(read, ground, training, options, thread_count(threads)))
