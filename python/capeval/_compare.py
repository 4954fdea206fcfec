"""Significance tests between systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._data import calling
from ._given import given, keys
from ._groups import formulas, wanted
from ._inputs import Captionlike, Metrics, dropped, ids_of
from ._keywords import only, takes
from ._report import Report, _studies
from ._result import Result, ends, number
from ._score import by_name, names_of_runs, prepare
from .options import CompareOptions, IdMatching, Level, Policies, ReportContents, Resampling, Testing

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._evaluator import Evaluator


class P(NamedTuple):
    """The p-value of one test; NaN where a score is NaN."""

    value: float
    """The probability of a difference this large if the systems are equally good."""
    adjusted: float
    """The p-value after correction for the number of tests."""


class Contrast(NamedTuple):
    """How two systems differ by one measure."""

    difference: float
    """The system's score minus the baseline's, on the measure's own scale."""
    interval: tuple[float, float]
    """The percentile interval of the difference, from resamples of the images."""
    bootstrap: P
    """The paired bootstrap, as sacreBLEU defines it."""
    randomisation: P
    """Paired approximate randomisation."""
    sign: P | None
    """The exact sign test over images; None unless the corpus score is a mean of image scores."""
    permutation: P | None
    """The exact permutation test; None unless the corpus score is a mean and few images differ."""
    wins: int
    """The number of images on which the system is better."""
    ties: int
    losses: int
    cohens_d: float
    """The mean of the differences of image scores, divided by their standard deviation."""
    verdict: str
    """``"better"``, ``"worse"`` or ``"undecided"``."""


class Pair(NamedTuple):
    """Two systems and how they differ."""

    baseline: str
    system: str
    contrasts: dict[str, Contrast]
    """By measure."""


class Comparison(Result):
    """The differences between systems by every measure, with tests."""

    _kind = "comparison"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        self.report = Report(found.report())
        """The scores of the systems, with confidence intervals."""
        self.pairs: list[Pair] = [
            Pair(pair["baseline"], pair["system"], {key: _contrast(row) for key, row in pair["contrasts"].items()})
            for pair in self.to_dict()["comparisons"]
        ]
        """The pairs that were compared."""

    def __getitem__(self, key: tuple[str, str]) -> Contrast:
        """The contrast for ``(system, measure)``, if the system was compared with only one baseline."""
        system, measure = key
        pairs = [pair for pair in self.pairs if pair.system == system]
        if len(pairs) != 1 or measure not in pairs[0].contrasts:
            raise KeyError(f"{len(pairs)} pairs end in {system!r}; look up measure {measure!r} in .pairs")
        return pairs[0].contrasts[measure]

    def unmet(
        self, *requirements: str, on: Sequence[str] = (), bases: Mapping[str, Report] | None = None
    ) -> list[str]:
        """Lists where requirements do not hold, in words, as ``capeval compare --require`` does; empty if all hold.

        Args:
            requirements: verdicts, ``"better"`` or ``"not-worse"``, or conditions, as for :meth:`Report.unmet`. All are
                required of every system but the baseline, conditions of those that they do not name.
            on: the measures that verdicts apply to; the default is all.
            bases: earlier reports with systems that conditions may name.

        Raises:
            ValueError: a requirement cannot be read, or not be decided.
        """
        return self._found.unmet_requirements(list(requirements), list(on), _studies(bases))

    def _frame(self) -> list[dict[str, Any]]:
        rows = []
        for pair in self.pairs:
            for measure, contrast in pair.contrasts.items():
                row: dict[str, Any] = {"baseline": pair.baseline, "system": pair.system, "measure": measure}
                for name, value in contrast._asdict().items():
                    if name == "interval":
                        row["low"], row["high"] = value
                    elif isinstance(value, P):
                        row[f"{name}_p"], row[f"{name}_adjusted"] = value
                    elif name in ("sign", "permutation"):
                        row[f"{name}_p"] = row[f"{name}_adjusted"] = None
                    else:
                        row[name] = value
                rows.append(row)
        return rows


def _contrast(row: dict[str, Any]) -> Contrast:
    return Contrast(
        number(row["difference"]),
        ends(row["interval"]),
        _p(row["bootstrap"]),
        _p(row["randomisation"]),
        _p(row["sign"]) if "sign" in row else None,
        _p(row["exact"]) if "exact" in row else None,
        row["wins"],
        row["ties"],
        row["losses"],
        number(row["cohens_d"]),
        row["verdict"],
    )


def _p(test: dict[str, Any]) -> P:
    return P(number(test["p"]), number(test["adjusted"]))


@takes(CompareOptions)
def compare(
    references: Captionlike | Evaluator = None,
    systems: Mapping[str, Captionlike] | None = None,
    metrics: Metrics = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Tests whether systems differ: paired tests by every metric, and confidence intervals.

    Resampling draws images and sums their statistics, so the tests of BLEU, METEOR and TER apply to corpus scores.
    The same seed gives the same digits.

    >>> import capeval
    >>> references = {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}
    >>> systems = {"old": {1: "a dog", 2: "two dogs"}, "new": {1: "a dog runs", 2: "two cats"}}
    >>> round(capeval.compare(references, systems, "rouge-l")["new", "rouge-l"].difference, 3)
    0.364

    Args:
        references: As for :func:`capeval.score`.
        systems: At least two systems by name; the first is the baseline.
        metrics: As for :func:`capeval.score`.

    Raises:
        ValueError: there are fewer than two systems, an option is invalid, or the systems describe different images.
    """
    is_alone = options["scores"] is not None and references is None and systems is None
    ground, read, chosen = prepare(references, {} if is_alone or systems is None and options["runs"] else by_name(None, systems), metrics, options)
    scoring = {
        **only(options, Policies, IdMatching, ReportContents),
        "metrics": chosen.options,
        "kit": options["kit"],
        "runs": names_of_runs(options),
        **dropped(options),
        "images": ids_of(options["images"]),
        "lower_is_better": keys(options["lower_is_better"]),
        "group_df": options["group_df"],
        "derive": formulas(options["derive"]),
    }
    groups = wanted(options, [references, *(systems or {}).values()])
    tests = {**only(options, Testing), "groups": groups, "score": scoring, "resampling": only(options, Level, Resampling)}
    with calling(chosen, options) as call:
        return Comparison(_engine.compare(ground, read, given(options["scores"]), tests, call))
