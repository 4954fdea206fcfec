"""Scores captions: from captions to a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _engine
from ._data import calling
from ._engine import Captions
from ._given import given, keys
from ._groups import formulas, wanted
from ._inputs import (
    Captionlike,
    ChosenMetrics,
    Metrics,
    candidate_captions,
    dropped,
    ids_of,
    listed,
    may_have_both,
    metric_options,
    own_names,
    reference_captions,
    resampling,
    system_captions,
)
from ._keywords import only, takes
from ._report import Report
from .options import CandidateReading, HumanRow, IdMatching, Policies, ReferenceReading, ReportContents, ScoreOptions, SystemRuns

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._evaluator import Evaluator
    from .options import CaptionComparison


@takes(ScoreOptions)
def score(
    references: Captionlike | Evaluator = None,
    candidates: Captionlike = None,
    metrics: Metrics = None,
    **options: Unpack[ScoreOptions],
) -> Report:
    """Scores captions against references.

    >>> import capeval
    >>> references = {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}
    >>> report = capeval.score(references, {1: "a dog runs", 2: "two dogs"}, ["bleu", "cider-d"])
    >>> round(report["cider-d"], 3)
    2.396

    Args:
        references: Captions by people, several per image: ``{id: [caption, …]}``, the path of a file, a list of lists, a
            table or an :class:`Evaluator`. Below, "Forms of captions" lists all forms. A file or a table with columns of
            both references and candidates may be given alone.
        candidates: The captions of one system, one per image, in the same forms: ``{id: caption}``, a path, a list.
        metrics: Names of metrics or suites, with settings as in ``"cider-d:sigma=4"``: a list, or a string separated
            by commas. The default is the suite ``coco``; :func:`capeval.metrics` lists all metrics. A function may stand
            among them, see :func:`capeval.metric`, and the path of a TOML file, which describes a program.

    Returns:
        The scores of each system, in total and by image. No digit depends on the number of threads or on the other
        systems, and only the tokenizer ``"ptb"`` depends on the order of images: like pycocoevalcap, it reads all
        captions as one text. A metric that is given twice with the same settings is computed once.

    Raises:
        ValueError: the captions do not match in a way that the policies allow, a metric or setting is unknown, or a
            file is damaged.
        TypeError: a caption is not a string.
        FileNotFoundError: a file does not exist, or METEOR is requested by name and its data are not installed.
        KeyboardInterrupt: on Ctrl-C: within a fraction of a second during scoring, later while references are read.

    Forms of captions:
        - The path of a file in any format that capeval reads: COCO annotations, Karpathy's, CSV, JSON Lines, …
        - A dictionary ``{id: [caption, …]}``, COCO's ``{"annotations": […]}``, or its results
          ``[{"image_id": …, "caption": …}]``.
        - A list of captions, or of lists of captions, with images numbered from 0.
        - A table of pandas, polars or pyarrow with a column or named index of ids and a column of captions or of lists of
          captions; a ``datasets.Dataset``; a ``COCO`` of pycocotools. Rows without such ids are matched by a column that
          both sides have and that tells them apart; or else by the labels of an index without a name, if both sides have
          the same; or else, if nothing could identify them, in order. A notice says so. Where references are read alone,
          such labels are their ids.
    """
    has_candidates = candidates is not None or options["systems"] is not None
    left_out = dropped(options)
    may_be_without = options["runs"] or options["human"] or options["scores"] is not None and references is None
    if not may_be_without and options["systems"] is None and (references is None) != (candidates is None):
        references, candidates, options = told_apart(references, candidates, metrics, options)
        has_candidates = candidates is not None
    systems = by_name(candidates, options["systems"]) if has_candidates or not may_be_without else {}
    ground, read, chosen = prepare(references, systems, metrics, options)
    settings = {
        **only(options, Policies, IdMatching, ReportContents, HumanRow),
        "metrics": chosen.options,
        "kit": options["kit"],
        "runs": names_of_runs(options),
        "images": ids_of(options["images"]),
        **left_out,
        "lower_is_better": keys(options["lower_is_better"]),
        "intervals": resampling(options["intervals"], options),
        "groups": wanted(options, [references, *systems.values()]),
        "group_df": options["group_df"],
        "derive": formulas(options["derive"]),
    }
    with calling(chosen, options) as call:
        return Report(_engine.score(ground, read, given(options["scores"]), settings, call))


def told_apart(
    references: Any, candidates: Captionlike, metrics: Metrics, options: ScoreOptions
) -> tuple[Any, Captionlike, ScoreOptions]:
    """References and candidates, and options to read them, where one source of both was given; otherwise what was given."""
    source = candidates if references is None else references
    chosen = metric_options(metrics, options).options
    needs_references = metrics is None or options["suite"] is not None or bool(own_names(chosen["names"]))
    if not needs_references or not may_have_both(source):
        return references, candidates, options
    ground, read = reference_captions(source, options), candidate_captions(source, "candidates", options)
    both = Captions.both_sides(ground, read, options["ids"] or "as-given")
    if both is None:
        return references, candidates, options
    done = dict.fromkeys([*ReferenceReading.__annotations__, *CandidateReading.__annotations__])
    return (*both, cast(ScoreOptions, {**options, **done}))


def prepare(
    references: Any, systems: Mapping[str, Captionlike], metrics: Metrics, options: CaptionComparison
) -> tuple[Any, list[tuple[str, _engine.Captions]], ChosenMetrics]:
    """References, systems and metrics in the form that the engine takes; what `options` leave open is that of an evaluator."""
    from ._evaluator import Evaluator

    refuse_swapped(references, systems, options)
    read = system_captions(systems, options)
    read += [
        (run_name(name, k), candidate_captions(source, run_name(name, k), options))
        for name, sources in runs_of(options).items()
        for k, source in enumerate(sources)
    ]
    chosen = metric_options(metrics, options)
    if isinstance(references, Evaluator):
        set_here = [name for name, value in only(options, ReferenceReading).items() if value is not None]
        if set_here:
            raise ValueError(f"{set_here[0]}: the references are prepared already; pass it to Evaluator()")
        return references._prepared, read, references._completed(chosen, options)
    options["ids"] = options["ids"] or "as-given"
    if references is not None:
        return reference_captions(references, options), read, chosen
    if read and metrics is None and options["suite"] is None:
        raise ValueError("captions are compared with references, and there are none; pass references")
    return None, read, chosen


def run_name(system: str, k: int) -> str:
    """The name of a run of a system."""
    return f"{system} #{k + 1}"


def runs_of(options: CaptionComparison) -> Mapping[str, Sequence[Captionlike]]:
    """The runs of each system that has some."""
    runs = cast(SystemRuns, options).get("runs") or {}
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a dictionary of lists of captions by system, not {type(runs).__name__}")
    return {name: listed("runs", sources) for name, sources in runs.items()}


def names_of_runs(options: CaptionComparison) -> dict[str, list[str]]:
    """The names of the runs of each system that has some, for the engine."""
    return {name: [run_name(name, k) for k, _ in enumerate(sources)] for name, sources in runs_of(options).items()}


def refuse_swapped(references: Any, systems: Mapping[str, Captionlike], options: CaptionComparison) -> None:
    """Refuses candidates before references, as torchmetrics and others take them."""

    def shape(source: Any, kind: Any) -> bool:
        values = list(source.values()) if isinstance(source, dict) else source
        return isinstance(values, (list, tuple)) and bool(values) and all(isinstance(value, kind) for value in values)

    if options["several"] == "error" and shape(references, str) and any(shape(one, (list, tuple)) for one in systems.values()):
        raise ValueError(
            "the references are one text for each image and the candidates lists of texts, as other packages take them, "
            "candidates first; capeval takes references first: score(references, candidates), or pass several= if an image has "
            "several candidates"
        )


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
