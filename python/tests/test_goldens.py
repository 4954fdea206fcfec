"""Every case of testdata/*.toml through the package: the digits of the reference programs."""

from __future__ import annotations

import json
import math
import struct
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import capeval
from capeval.compat.pycocoevalcap.meteor.meteor import Meteor
from capeval.compat.pycocoevalcap.spice.spice import Spice
from conftest import ROOT

if sys.version_info < (3, 11):
    pytest.skip("tomllib comes with Python 3.11", allow_module_level=True)

import tomllib

TESTDATA = ROOT / "testdata"


class Case(NamedTuple):
    file: Path
    tool: str
    tolerance: dict[str, Any]
    values: dict[str, Any]

    def segments(self) -> list[dict[str, Any]]:
        if "segments" in self.values:
            with open(TESTDATA / f"{self.values['segments']}.jsonl", encoding="utf-8") as lines:
                return [json.loads(line) for line in lines]
        return [{"hyp": self.values["candidate"], "refs": self.values["references"]}]

    def obstacle(self) -> str | None:
        """What the package lacks for this case."""
        metric = self.values["metric"].split(":")[0]
        if "exceptions" in self.values or "stop_words" in self.values:
            return "the package takes no exception lists and stop words of ROUGE-1.5.5"
        if metric == "meteor":
            try:
                Meteor()
            except FileNotFoundError:
                return "METEOR's resources are not installed"
        if metric == "spice":
            try:
                Spice().compute_score({0: ["a"]}, {0: ["a"]})
            except FileNotFoundError:
                return "SPICE's data are not installed"
        return None


def load() -> list[Case]:
    found = []
    for path in sorted(TESTDATA.glob("*.toml")):
        for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]:
            tool = f"{group['tool']} {group['version']}"
            found += [Case(path, tool, group["tolerance"], case) for case in group["case"]]
    return found


CASES = load()


def equal(expected: float, found: float, limit: str | float) -> bool:
    if math.isnan(expected):
        return True  # The reference program gives no score.
    if limit == "bits":
        return struct.pack("d", expected) == struct.pack("d", found)
    return abs(expected - found) <= float(limit) * max(abs(expected), 1.0)


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file.stem}-{c.values['name']}-{c.values['metric']}" for c in CASES])
def test_scores_are_those_of_the_reference_program(case: Case) -> None:
    if obstacle := case.obstacle():
        pytest.skip(obstacle)
    segments = case.segments()
    references = {k: segment["refs"] for k, segment in enumerate(segments)}
    metric = [case.values["metric"]]
    if "captions" in segments[0]:
        candidates = {k: segment["captions"] for k, segment in enumerate(segments)}
        report = capeval.diversity(candidates, references, metric, train=references)
    else:
        candidates = {k: segment["hyp"] for k, segment in enumerate(segments)}
        report = capeval.score(references, candidates, metric, empty="keep")
    where = f"{case.file.name}, case {case.values['name']}: {case.values['metric']} and {case.tool}"
    for key, expected in case.values.get("corpus", {}).items():
        found = report.scores[key]
        assert equal(expected, found, case.tolerance["corpus"]), f"{where}: {key}: expected {expected}, found {found}"
    for key, values in case.values.get("segment", {}).items():
        for k, (expected, found) in enumerate(zip(values, report.segments[key].tolist(), strict=True)):
            message = f"{where}: {key} of segment {k}, {candidates[k]!r}: expected {expected}, found {found}"
            assert equal(expected, found, case.tolerance["segment"]), message


def test_there_are_cases() -> None:
    assert not TESTDATA.is_dir() or len(CASES) > 100
