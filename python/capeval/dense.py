"""Dense video captions: captions of events with a start and an end, scored by the form of any program.

:func:`forms` lists the forms, each equal to a program digit for digit; :func:`score` scores files, or dictionaries as
these programs read them.

>>> import capeval
>>> capeval.dense.forms()["vidchapters"].summary
'antoyang/VidChapters: videos without predictions are left out'
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

from . import _engine
from ._inputs import whole
from ._result import Interval, Keyed, ends, number

__all__ = ["DenseForm", "DenseReport", "Events", "forms", "score"]

Events = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A file of events, or what the program reads from such a file as JSON: ``{video: {"timestamps": …, "sentences": …}}``
or ``{"results": {video: [{"timestamp": …, "sentence": …}]}}``."""


class DenseForm(NamedTuple):
    """A form of scores, which is that of one program."""

    summary: str
    """The program."""
    users: str
    """The papers and programs that print it."""
    differences: str
    """What differs from ``densevid-2019``, which most papers print."""


class DenseReport(Keyed["dict[str, float]"]):
    """Scores of dense captions: ``report["densevid-2019"]["meteor"]`` of the first system, and of all in ``systems``."""

    _kind = "dense-captions"
    _what = "form"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        systems = self.to_dict()["systems"]
        self.systems: dict[str, dict[str, dict[str, float]]] = {
            system["name"]: {form["form"]: _measures(form) for form in system["forms"]} for system in systems
        }
        """By system, form and measure. A measure at one threshold is called such as ``meteor@0.3``."""
        self.intervals: dict[str, dict[str, dict[str, Interval]]] = {
            system["name"]: {form["form"]: _intervals(form) for form in system["forms"]} for system in systems
        }
        """The confidence intervals, with videos as units, of measures that are means over videos."""
        self.stops: dict[str, dict[str, list[str]]] = {
            system["name"]: {form["form"]: form["stops"] for form in system["forms"]} for system in systems
        }
        """Why a program stops on these files, where it does, so that measures are missing."""
        self.remarks: dict[str, list[str]] = {system["name"]: system["remarks"] for system in systems}
        """What a file lacks, or what was done to it."""
        self.videos: dict[str, dict[str, dict[str, dict[str, Any]]]] = {
            system["name"]: {form["form"]: _videos(form) for form in system["forms"]} for system in systems
        }
        """By system, form, video and measure: a value, or one for each threshold; empty without ``per_video``."""

    @property
    def _by_name(self) -> Mapping[str, dict[str, float]]:
        return next(iter(self.systems.values()), {})

    def _frame(self) -> Sequence[dict[str, Any]]:
        return [
            {"system": system, "form": form, "measure": measure, "value": value}
            for system, by_form in self.systems.items()
            for form, measures in by_form.items()
            for measure, value in measures.items()
        ]


def _measures(form: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for measure in form["measures"]:
        found[measure["name"]] = number(measure["value"])
        found.update((f"{measure['name']}@{label}", number(value)) for label, value in measure["at"])
    return found


def _intervals(form: Mapping[str, Any]) -> dict[str, Interval]:
    return {one["name"]: ends(one["interval"]) for one in form["measures"] if one["interval"] is not None}


def _videos(form: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for measure in form["measures"]:
        for video, values in zip(form["videos"], measure["videos"]):
            numbers = [number(value) for value in values]
            found.setdefault(video, {})[measure["name"]] = numbers if measure["at"] else numbers[0]
    return found


def forms() -> dict[str, DenseForm]:
    """The forms by name."""
    return {name: DenseForm(summary, users, differences) for name, summary, users, differences in _engine.dense_forms()}


def score(
    references: Events | Sequence[Events],
    results: Events | None = None,
    form: str | Sequence[str] = "capeval",
    *,
    systems: Mapping[str, Events] | None = None,
    fps: float | None = None,
    intervals: bool | float = False,
    resamples: int = 10_000,
    seed: int = 12_345,
    per_video: bool = False,
    human: bool = False,
) -> DenseReport:
    """Scores predicted events of videos.

    Args:
        references: Reference events, or a list of several, as val_1 and val_2 of ActivityNet.
        results: The predicted events of one system.
        form: A name of :func:`forms`, several, or ``"all"``. Types of SODA take a metric and ``multi``, as in
            ``"soda-c:cider-d:multi"``.
        systems: The predicted events of several systems by name, instead of `results`.
        fps: Frames per second, for times that are given in frames.
        intervals: Add confidence intervals of this level, with videos as units; True for 0.95.
        resamples: The number of resamples.
        seed: The seed of the resamples.
        per_video: Keep the scores of each video, and its events for the page.
        human: Add the system ``"human"``: each reference file, scored against the others.

    Raises:
        ValueError: events cannot be read, a form does not exist, or METEOR's data are not installed.
        FileNotFoundError: a file does not exist.
    """
    if (results is None) == (systems is None):
        raise TypeError("give results of one system, or systems by name")
    named = {"results": results} if systems is None else dict(systems)
    several = references if isinstance(references, Sequence) and not isinstance(references, str) else [references]
    wanted = [form] if isinstance(form, str) else [*form]
    level = 0.95 if intervals is True else float(intervals)
    draws = {
        "level": level,
        "resamples": whole("resamples", resamples, 1, 10_000_000),
        "seed": whole("seed", seed, 0, 2**64 - 1),
    }
    request = {
        "references": [_source(f"references {k + 1}", one) for k, one in enumerate(several)],
        "systems": [_source(name, one) for name, one in named.items()],
        "forms": [name for one in wanted for name in ([*forms()] if one == "all" else [one])],
        "fps": None if fps is None else float(fps),
        "segments": per_video,
        "human": human,
        "intervals": draws if level else None,
    }
    return DenseReport(_engine.score_dense(request))


def _source(name: str, events: Any) -> dict[str, str | None]:
    if isinstance(events, (str, os.PathLike)):
        return {"name": name, "path": os.fspath(events), "text": None}
    if not isinstance(events, Mapping):
        raise TypeError(f"{name}: events are the path of a file or a dictionary by video, not {type(events).__name__}")
    try:
        return {"name": name, "path": None, "text": json.dumps(events, allow_nan=False)}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}; times must be finite numbers, or texts such as 1:30") from None
