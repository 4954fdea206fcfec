"""Metrics that are Python functions, and programs, in all calls that take metrics."""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import time

import pytest

import capeval

REFERENCES = {k: [f"a dog number {k} runs", "the dog runs again"] for k in range(40)}
FIRST = {k: "a dog" if k % 3 else "the dog runs again today" for k in range(40)}
SECOND = {k: "one cat" if k % 2 else "a dog runs" for k in range(40)}


def ratio(candidates, references):
    return [len(c.split()) / max(len(r.split()) for r in rs) for c, rs in zip(candidates, references)]


def of(report):
    """The first system of a report."""
    return next(iter(report.systems.values()))


RATIO = capeval.metric("ratio", ratio, range=(0, math.inf), version="2")


def test_a_function_is_a_metric_like_others():
    report = capeval.score(REFERENCES, systems={"first": FIRST, "second": SECOND}, metrics=["bleu", RATIO], intervals=True)
    expected = [len(FIRST[k].split()) / 5 for k in range(40)]
    assert list(of(report).segments["ratio"]) == expected
    assert of(report).scores["ratio"] == pytest.approx(sum(expected) / 40, abs=1e-15)
    low, high = of(report).intervals["ratio"]
    assert low < of(report).scores["ratio"] < high
    assert of(report).signatures["ratio"].startswith("ratio|version:2|by:function|nrefs:2|")
    given = capeval.score(
        scores=[
            capeval.Scores({k: {"ratio": x} for k, x in zip(system.ids, system.segments["ratio"])}, system.name)
            for system in report.systems.values()
        ],
        intervals=True,
    )
    for computed, read in zip(report.systems.values(), given.systems.values()):
        assert computed.scores["ratio"] == read.scores["ratio"]
        assert computed.intervals["ratio"] == read.intervals["ratio"]


def test_a_function_is_called_in_batches_with_ids():
    calls = []

    def f(candidates, references, *, ids):
        calls.append(list(ids))
        return [0.5] * len(candidates)

    seen = []
    metric = capeval.metric("half", f, range=(0, 1), batch_size=16)
    capeval.score(REFERENCES, FIRST, metrics=[metric], progress=lambda *told: seen.append(told))
    assert [len(call) for call in calls] == [16, 16, 8]
    assert sum(calls, []) == list(range(40))


def test_several_measures_and_arrays():
    numpy = pytest.importorskip("numpy")

    def f(candidates, references):
        return {"long": numpy.array([len(c) for c in candidates]), "short": numpy.float32([0.25] * len(candidates))}

    measures = [capeval.Measure("long", (0, math.inf)), capeval.Measure("short", (0, 1), lower_is_better=True)]
    report = capeval.score(REFERENCES, FIRST, metrics=[capeval.metric("two", f, measures=measures)])
    assert set(of(report).scores) == {"long", "short"}
    assert report["short"] == 0.25
    assert [measure.higher_is_better for measure in report.measures.values()] == [True, False]


def test_systems_are_compared_and_people_agreed_with():
    comparison = capeval.compare(REFERENCES, {"first": FIRST, "second": SECOND}, metrics=[RATIO])
    assert "ratio" in str(comparison)
    ratings = [{"image_id": k, "caption": FIRST[k], "rating": k % 4} for k in range(40)]
    assert "ratio" in str(capeval.correlate(ratings, references=REFERENCES, metrics=[RATIO, "rouge-l"]))
    pairs = [{"image_id": k, "captions": [FIRST[k], SECOND[k]], "votes": [k % 3, 1]} for k in range(40)]
    assert "ratio" in str(capeval.prefer(pairs, references=REFERENCES, metrics=[RATIO]))


def failing(candidates, references):
    raise KeyError("weights")


@pytest.mark.parametrize(
    "function, error, words",
    [
        (failing, RuntimeError, r"ratio failed on captions 1 to 40 \(images 0, 1, 2, …\): KeyError: 'weights'"),
        (lambda c, r: [0.5], ValueError, "ratio returned 1 scores for 40 captions: captions 1 to 40"),
        (lambda c, r: 0.5, TypeError, "ratio must return a list of numbers, one for each caption, not float"),
        (lambda c, r: "x" * 40, TypeError, "must return a list of numbers"),
        (lambda c, r: None, TypeError, "not NoneType"),
        (lambda c, r: [0.5] * 7 + [math.nan] + [0.5] * 32, ValueError, r"the score by ratio of image 7 is not a number \(NaN\)"),
        (lambda c, r: [None] * 40, TypeError, "the score by ratio of image 0 is None, not a number"),
        (lambda c, r: ["1"] * 40, TypeError, "is '1', not a number"),
        (lambda c, r: [1.5] * 40, ValueError, "the score by ratio of image 0 is 1.5, beyond its range from 0 to 1"),
        (lambda c, r: {"other": [1.0] * 40}, ValueError, "gave the measures other"),
        (lambda c: [1.0] * 40, RuntimeError, "failed on captions 1 to 40 .*TypeError"),
    ],
)
def test_what_a_function_does_wrong_is_told(function, error, words):
    with pytest.raises(error, match=words):
        capeval.score(REFERENCES, FIRST, metrics=[capeval.metric("ratio", function, range=(0, 1))])


def test_the_cause_of_a_failure_is_kept():
    with pytest.raises(RuntimeError) as raised:
        capeval.score(REFERENCES, FIRST, metrics=[capeval.metric("ratio", failing)])
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: capeval.metric("Ratio", ratio), ValueError, "is not a name such as length-ratio"),
        (lambda: capeval.metric("bleu", ratio), ValueError, "capeval has a metric bleu of its own"),
        (lambda: capeval.metric("coco", ratio), ValueError, "capeval has a suite coco of its own"),
        (lambda: capeval.metric("ratio.toml", ratio), ValueError, "is not a name such as length-ratio"),
        (lambda: capeval.metric("ratio", 1), TypeError, "a metric is a function, not int"),
        (lambda: capeval.metric("ratio", ratio, range=(1, 0)), ValueError, "the range of ratio is from 1 to 0"),
        (lambda: capeval.metric("ratio", ratio, measures=[]), ValueError, "ratio has no measure"),
        (lambda: capeval.metric("ratio", ratio, measures=["a"]), TypeError, "a measure is described by"),
        (lambda: capeval.metric("ratio", ratio, batch_size=0), ValueError, "batch_size must be"),
        (lambda: capeval.score(REFERENCES, FIRST, metrics=[ratio]), TypeError, "a metric is named by a string"),
        (lambda: capeval.Evaluator(REFERENCES, metrics=[RATIO]), ValueError, "ratio"),
    ],
)
def test_what_is_no_metric_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_equal_captions_of_an_image_are_scored_once():
    rows = []
    metric = capeval.metric("count", lambda c, r: [rows.append(x) or 1.0 for x in c])
    capeval.score(REFERENCES, systems={"one": FIRST, "same": FIRST}, metrics=[metric])
    assert len(rows) == 40


@pytest.fixture
def program(tmp_path):
    (tmp_path / "ratio.py").write_text(
        textwrap.dedent(
            """
            import json, sys
            print("ready", file=sys.stderr, flush=True)
            for line in sys.stdin:
                row = json.loads(line)
                score = len(row["candidate"].split()) / max(len(r.split()) for r in row["references"])
                print(json.dumps({"id": row["id"], "scores": {"ratio": score}}), flush=True)
            """
        )
    )
    path = tmp_path / "ratio.toml"
    path.write_text(f"protocol = 1\nname = 'ratio'\nversion = '2'\ncommand = [{sys.executable!r}, 'ratio.py']\n")
    return str(path)


def test_a_program_is_a_metric_like_a_function(program, capsys):
    by_program = capeval.score(REFERENCES, FIRST, metrics=["bleu", program])
    by_function = capeval.score(REFERENCES, FIRST, metrics=["bleu", RATIO])
    assert of(by_program).scores == of(by_function).scores
    assert re.match(r"ratio\|version:2\|program:[0-9a-f]{16}\|nrefs:2\|", of(by_program).signatures["ratio"])
    assert "ratio: ready" in capsys.readouterr().err
    by_path = capeval.score(REFERENCES, FIRST, metrics=["bleu", pathlib.Path(program)])
    assert of(by_path).scores == of(by_program).scores
    ratings = [{"image_id": k, "caption": FIRST[k], "rating": k % 4} for k in range(40)]
    assert "ratio" in str(capeval.correlate(ratings, references=REFERENCES, metrics=[program]))


def test_what_a_program_does_wrong_is_told(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text("protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sh', '-c', 'echo lost >&2; exit 7']\n")
    with pytest.raises(ValueError, match="m ended with exit status: 7 after 0 of 40 answers.*lost"):
        capeval.score(REFERENCES, FIRST, metrics=[str(path)])
    path.write_text("protocol = 1\nname = 'm'\n")
    with pytest.raises(ValueError, match="m.toml: line 1: missing field `version`"):
        capeval.score(REFERENCES, FIRST, metrics=[str(path)])
    with pytest.raises(FileNotFoundError):
        capeval.score(REFERENCES, FIRST, metrics=[str(tmp_path / "none.toml")])


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_program(tmp_path):
    (tmp_path / "m.toml").write_text(
        "protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sh', '-c', 'echo $$ > child; sleep 600']\n"
    )
    code = f"""
        import capeval
        try:
            capeval.score({{1: ["a dog"]}}, {{1: "a dog"}}, metrics=[{str(tmp_path / "m.toml")!r}])
        except KeyboardInterrupt:
            print("interrupted")
    """
    call = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    child = tmp_path / "child"
    end = time.monotonic() + 600
    while not (child.exists() and child.read_text().strip()):
        assert time.monotonic() < end and call.poll() is None
        time.sleep(0.01)
    call.send_signal(2)
    assert call.communicate(timeout=600)[0].strip() == "interrupted"
    state = subprocess.run(["ps", "-o", "stat=", "-p", child.read_text().strip()], capture_output=True, text=True).stdout
    assert state.strip() in ("", "Z")


EXAMPLES = os.path.join(os.environ.get("CAPEVAL_ROOT", "."), "examples")


@pytest.mark.parametrize("name, tool", [("length-ratio", "python3"), ("exact-match", "jq")])
def test_the_examples_run(name, tool):
    if shutil.which(tool) is None:
        assert not os.environ.get("CI"), f"{tool} is missing"
        pytest.skip(f"{tool} is missing")
    metric = os.path.join(EXAMPLES, "metrics", f"{name}.toml")
    report = capeval.score({1: ["A dog runs.", "The dog"], 2: ["Two cats"]}, {1: "the dog", 2: "a"}, metrics=[metric])
    expected = {"length-ratio": [1.0, 0.5], "exact-match": [1.0, 0.0]}[name]
    assert list(of(report).segments[name]) == expected
