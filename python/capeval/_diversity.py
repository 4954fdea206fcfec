"""Diversity: how much the captions of a system vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _engine
from ._groups import wanted
from ._inputs import Captionlike, Metrics, captions, metric_list, reference_captions, system_captions, thread_count
from ._keywords import takes
from ._report import Report
from ._score import by_name
from .options import DiversityOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._evaluator import Evaluator


@takes(DiversityOptions)
def diversity(
    candidates: Captionlike = None,
    references: Captionlike | Evaluator = None,
    metrics: Metrics = None,
    **options: Unpack[DiversityOptions],
) -> Report:
    """Measures how diverse captions are: Div-n, mBLEU, Self-CIDEr, size of the vocabulary, novel captions.

    >>> import capeval
    >>> report = capeval.diversity({1: ["a dog runs", "a brown dog"], 2: ["two cats", "cats sleep"]}, metrics="div")
    >>> round(report["div-1"], 4)
    0.7083

    Args:
        candidates: Any number of captions per image, in the forms that :func:`capeval.score` takes for references.
        references: Captions for Self-CIDEr's document frequencies.
        metrics: Names of metrics, with settings as in ``"self-cider:n=3"``; the default is all that the given captions
            allow.

    Raises:
        ValueError: a metric is unknown, or needs references or training captions that are not given.
    """
    from ._evaluator import Evaluator

    read = system_captions(by_name(candidates, options["systems"]), options)
    ids = options["ids"]
    ground: _engine.Captions | _engine.PreparedFile | None = None
    if isinstance(references, Evaluator):
        ids, ground = ids or references._ids, references._prepared
    elif references is not None:
        ground = reference_captions(references, options)
    training = None
    if options["train"] is not None:
        training = captions(
            options["train"],
            "train",
            references=True,
            split=options["train_split"],
            format=options["train_format"],
            id_column=options["train_id_column"],
            caption_columns=options["train_caption_columns"],
        )
    names = [] if metrics is None else metric_list(metrics)
    for one in names:
        if not isinstance(one, str):
            raise TypeError(f"{one.name} scores captions one by one, and diversity is of all captions of an image; leave it out")
    settings = {
        "metrics": names,
        "tokenizer": options["tokenizer"],
        "ids": ids or "as-given",
        "profiles": True,
        "groups": wanted(options, [references, *by_name(candidates, options["systems"]).values()]),
        "group_df": options["group_df"],
    }
    return Report(_engine.diversity(read, ground, training, settings, thread_count(options["threads"])))
