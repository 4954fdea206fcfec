"""Comparisons of metrics with what people said of captions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _engine
from ._data import calling
from ._given import given, keys
from ._groups import wanted
from ._inputs import (
    Captionlike,
    Metrics,
    metric_options,
    reference_captions,
    refuse_beside_scores,
    resampling,
)
from ._records import as_json
from .options import MetricChoice, MetricData, RatedCaptions


class People(NamedTuple):
    """What people said of captions."""

    name: str
    """Its name in errors, which is that of an argument."""
    source: Any
    """The path of a file, records, or a table."""
    keys: str
    """The keys that most records have."""


def compared(
    task: Callable[..., _engine.Study],
    people: People,
    references: Captionlike | None,
    metrics: Metrics,
    options: Any,
    own: dict[str, Any],
    *unheeded: type,
) -> _engine.Study:
    """The engine's result for a file or records of what `people` said.

    `own` are options of the task alone. Given scores heed none of the themes `unheeded`.
    """
    name, source, expected = people
    if references is None and metrics is None and options["suite"] is None:
        refuse_beside_scores(options["scores"], options, MetricChoice, MetricData, *unheeded, RatedCaptions)
    chosen = metric_options(metrics, options)
    settings = {
        **own,
        "metrics": chosen.options,
        "ids": options["ids"] or "as-given",
        "lower_is_better": keys(options["lower_is_better"]),
        "intervals": resampling(options["intervals"], options),
        "groups": wanted(options, [source, references], name),
        "group_df": options["group_df"],
    }
    ground = None if references is None else reference_captions(references, options)
    is_path = isinstance(source, (str, os.PathLike))
    records = os.fspath(source) if is_path else as_json(source, name, expected)
    with calling(chosen, options) as call:
        return task(records, ground, given(options["scores"]), settings, call)
