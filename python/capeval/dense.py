"""Captions with times and places: dense video captions, paragraphs, stories, and captions of boxes.

:func:`forms` lists the forms, each equal to a program digit for digit; :func:`score` scores files, or dictionaries as
these programs read them. :func:`score_boxes` scores captions of 3D objects and image regions by one of :func:`box_forms`.
:class:`Reward` scores many candidates for the same videos inside training loops.

>>> import capeval
>>> capeval.dense.forms()["vidchapters"].summary
'antoyang/VidChapters: videos without predictions are left out'
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _engine
from ._inputs import whole
from ._result import Interval, Keyed, ends, number

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "DenseForm",
    "DenseReport",
    "Events",
    "Reward",
    "Rewards",
    "box_forms",
    "forms",
    "score",
    "score_boxes",
]

METRICS = ("bleu", "meteor", "rouge-l", "cider-d")
"""The metrics of captions that forms are made of."""

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
    metrics: Sequence[str] = METRICS,
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
            ``"soda-c:cider-d:multi"``. Forms of whole texts, such as ``"mart-paragraph"`` and ``"vist"``, read texts by id, too.
        systems: The predicted events of several systems by name, instead of `results`.
        metrics: The metrics of captions; METEOR's data are needed only for ``"meteor"``.
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
    request = {
        **_request(references, results, form, systems, metrics, intervals, resamples, seed, per_video),
        "fps": None if fps is None else float(fps),
        "human": human,
    }
    return DenseReport(_engine.score_dense(request))


def box_forms() -> dict[str, DenseForm]:
    """The forms of boxes by name."""
    return {name: DenseForm(summary, users, differences) for name, summary, users, differences in _engine.box_forms()}


def score_boxes(
    references: Events | Sequence[Any],
    predictions: Events | Sequence[Any] | None = None,
    form: str | Sequence[str] = (),
    *,
    systems: Mapping[str, Events | Sequence[Any]] | None = None,
    metrics: Sequence[str] = METRICS,
    intervals: bool | float = False,
    resamples: int = 10_000,
    seed: int = 12_345,
    per_object: bool = False,
) -> DenseReport:
    """Scores captions of boxes: objects of 3D scenes, or regions of images.

    >>> import capeval
    >>> objects = [{"scene_id": "s", "object_id": 1, "object_name": "chair", "token": ["a", "red", "chair"]}]
    >>> matched = {"s|1|chair": {"caption": "sos a red chair eos", "iou": 0.6}}
    >>> report = capeval.dense.score_boxes(objects, matched, metrics=["bleu"])
    >>> round(report["scan2cap"]["bleu-4@0.5"], 6)
    1.0

    Args:
        references: ScanRefer's list of objects, or regions as COCO or Visual Genome writes them; a file or the values.
        predictions: Captions by object with the overlap of their box, boxes by scene, or regions, of one system.
        form: A name of :func:`box_forms`, several, or ``"all"`` that fit; by default ``"scan2cap"`` for objects and
            ``"densecap-scenic"`` for regions.
        systems: The predictions of several systems by name, instead of `predictions`.
        metrics: The metrics of captions; METEOR's data are needed only for ``"meteor"``.
        intervals: Add confidence intervals of this level, with objects as units; True for 0.95.
        resamples: The number of resamples.
        seed: The seed of the resamples.
        per_object: Keep the scores of each object.

    Raises:
        ValueError: a file cannot be read or does not fit the form, or METEOR's data are not installed.
        FileNotFoundError: a file does not exist.
    """
    request = _request([references], predictions, form, systems, metrics, intervals, resamples, seed, per_object)
    [request["references"]] = request["references"]
    return DenseReport(_engine.score_boxes(request))


class Rewards(NamedTuple):
    """The rewards of a batch, one of each for each candidate."""

    soda_c: npt.NDArray[np.float64]
    """SODA_c."""
    f1: npt.NDArray[np.float64]
    """F1 of the times alone."""
    read: npt.NDArray[np.bool_]
    """False for candidates that could not be read, whose rewards are 0."""


class Reward:
    """SODA_c and F1 of many candidates for the same videos, for training.

    References are read once. A reward depends on its video and candidate alone, and is the score of the forms ``soda-c`` and
    ``capeval``. Calls release the GIL.

    >>> from capeval.dense import Reward
    >>> reward = Reward({"v": {"timestamps": [[0, 9], [9, 20]], "sentences": ["a man rides", "a horse jumps"]}}, "rouge-l")
    >>> found = reward.score("v", ["0 - 9 seconds, a man rides. 9 - 20 seconds, a horse jumps.", "I cannot say."])
    >>> found.soda_c.round(4).tolist(), found.f1.round(4).tolist(), found.read.tolist()
    ([1.0, 0.0], [1.0, 0.0], [True, False])
    """

    def __init__(self, references: Events | Sequence[Events], metric: str = "meteor", *, fps: float | None = None) -> None:
        """Reads references.

        Args:
            references: Reference events, or a list of several files of them.
            metric: The metric of SODA: ``"meteor"``, ``"cider-d"``, ``"rouge-l"``, or ``"bleu-1"`` to ``"bleu-4"``.
            fps: Frames per second, for times that are given in frames.

        Raises:
            ValueError: references cannot be read, the metric does not exist, or METEOR's data are not installed.
        """
        request = {
            "references": [_source(f"references {k + 1}", one) for k, one in enumerate(_several(references))],
            "systems": [],
            "forms": [],
            "metrics": [],
            "fps": None if fps is None else float(fps),
            "segments": False,
            "human": False,
            "intervals": None,
        }
        self._judge = _engine.DenseJudge(request, metric)

    def score(self, videos: str | Sequence[str], candidates: Sequence[Any]) -> Rewards:
        """Computes the rewards of candidates.

        Args:
            videos: The video of each candidate, or of each group of as many consecutive candidates, or of all.
            candidates: Events, as lists of ``{"timestamp": [0, 9], "sentence": "a man rides"}``, or texts in which each
                caption follows its times.

        Raises:
            ValueError: the references lack a video.
        """
        import numpy as np

        ids = [videos] if isinstance(videos, str) else [*videos]
        if not ids or len(candidates) % len(ids):
            raise ValueError(f"{len(candidates)} candidates are no multiple of {len(ids)} videos")
        ids = [one for one in ids for _ in range(len(candidates) // len(ids))]
        texts = [_json(f"candidate {k + 1}", {one: given}) for k, (one, given) in enumerate(zip(ids, candidates))]
        soda_c, f1, read = self._judge.score(ids, texts)
        return Rewards(np.asarray(soda_c), np.asarray(f1), np.asarray(read, dtype=bool))


def _several(references: Any) -> list[Any]:
    return [*references] if isinstance(references, Sequence) and not isinstance(references, str) else [references]


def _request(
    references: Any,
    results: Any,
    form: str | Sequence[str],
    systems: Mapping[str, Any] | None,
    metrics: Sequence[str],
    intervals: bool | float,
    resamples: int,
    seed: int,
    keeps_items: bool,
) -> dict[str, Any]:
    if (results is None) == (systems is None):
        raise TypeError("give results of one system, or systems by name")
    named = {"results": results} if systems is None else dict(systems)
    wanted = [form] if isinstance(form, str) else [*form]
    level = 0.95 if intervals is True else float(intervals)
    draws = {
        "level": level,
        "resamples": whole("resamples", resamples, 1, 10_000_000),
        "seed": whole("seed", seed, 0, 2**64 - 1),
    }
    return {
        "references": [_source(f"references {k + 1}", one) for k, one in enumerate(_several(references))],
        "systems": [_source(name, one) for name, one in named.items()],
        "forms": wanted,
        "metrics": [metrics] if isinstance(metrics, str) else [*metrics],
        "segments": keeps_items,
        "intervals": draws if level else None,
    }


def _source(name: str, events: Any) -> dict[str, str | None]:
    if isinstance(events, (str, os.PathLike)):
        return {"name": name, "path": os.fspath(events), "text": None}
    if not isinstance(events, (Mapping, list, tuple)):
        raise TypeError(f"{name}: events are the path of a file or a dictionary by video, not {type(events).__name__}")
    return {"name": name, "path": None, "text": _json(name, events)}


def _json(name: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}; times must be finite numbers, or texts such as 1:30") from None
