"""Metrics that are Python functions, and programs, in all calls that take metrics."""

import functools
import itertools
import json
import math
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import capeval
import capeval.reward
from capeval.streaming import CaptionMetric
from conftest import PATIENCE

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


def test_one_metric_needs_no_list(program):
    for metric in (RATIO, program, pathlib.Path(program)):
        assert capeval.score(REFERENCES, FIRST, metric, score_cache="none")["ratio"] == of(capeval.score(REFERENCES, FIRST, [RATIO])).scores["ratio"]


def test_a_function_may_need_all_captions_of_a_system():
    calls = []

    def rank(candidates, references, ids):
        calls.append(ids)
        return [sorted(candidates).index(caption) for caption in candidates]

    metric = capeval.metric("rank", rank, corpus=True, batch_size=3)
    report = capeval.score(REFERENCES, systems={"a": FIRST, "b": SECOND, "c": FIRST}, metrics=[metric])
    assert calls == [list(range(40))] * 3
    assert of(report).scores == report.systems["c"].scores
    assert "|captions:together|" in of(report).signatures["rank"]
    assert capeval.score(REFERENCES, SECOND, metrics=[metric]).scores == report.systems["b"].scores
    # What is rated is a corpus, too.
    ratings = [{"image_id": k % 10, "caption": FIRST[k], "rating": k % 4} for k in range(40)]
    calls.clear()
    capeval.correlate(ratings, references=REFERENCES, metrics=[metric])
    assert [len(ids) for ids in calls] == [40]


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


def interrupted():
    raise KeyboardInterrupt("by hand")


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
        (lambda c, r: itertools.repeat(0.5), ValueError, "ratio returned more than 40 scores for 40 captions"),
        (lambda c, r: [0.5] * 10**6, ValueError, "ratio returned 1000000 scores for 40 captions"),
        (lambda c, r: (1 / (k - 7) for k in range(40)), RuntimeError, "failed on captions 1 to 40 .*ZeroDivisionError"),
        (lambda c, r: {0.5}, TypeError, "must return a list of numbers, one for each caption, not set"),
        (lambda c, r: numpy.float64(0.5), TypeError, "not one number for all captions"),
        (lambda c, r: numpy.full((40, 1), 0.5), TypeError, r"not an array of shape \(40, 1\)"),
        (lambda c, r: numpy.array([0.5] * 39 + ["x"], dtype=object), TypeError, "of image 39 is 'x', not a number"),
        (lambda c, r: numpy.full(40, 1j), TypeError, "is 1j, not a number"),
        (lambda c, r: [numpy.ones(2)] * 40, ValueError, "of image 0 is no number: can only convert an array of size 1"),
        (lambda c, r: [10**400] * 40, ValueError, "of image 0 is no number: int too large"),
        (lambda c, r: [math.inf] * 40, ValueError, "of image 0 is infinite"),
        (lambda c, r: sys.exit(3), SystemExit, "3"),
        (lambda c, r: interrupted(), KeyboardInterrupt, "by hand"),
        (lambda c, r: next(iter([])), RuntimeError, "failed on captions 1 to 40 .*StopIteration"),
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
        (lambda: capeval.score(REFERENCES, FIRST, metrics=[RATIO, capeval.metric("ratio", ratio)]), ValueError, "two functions"),
        (lambda: capeval.diversity({1: ["a", "b"]}, metrics=[RATIO]), TypeError, "ratio scores captions one by one"),
        (lambda: capeval.reward.Reward(REFERENCES, {RATIO: 1.0}), TypeError, "a reward is made of measures of capeval by name"),
        (lambda: capeval.reward.Reward(REFERENCES, {"m.toml": 1.0}), TypeError, "'m.toml' is a program"),
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


def test_references_are_prepared_once_for_functions_too(tmp_path):
    expected = capeval.score(REFERENCES, systems={"a": FIRST, "b": SECOND}, metrics=["bleu", RATIO], intervals=True)
    evaluator = capeval.Evaluator(REFERENCES, metrics=["bleu", RATIO])
    evaluator.save(tmp_path / "references.capeval")
    loaded = capeval.Evaluator.load(tmp_path / "references.capeval", metrics=["bleu", RATIO])
    for one in (evaluator, loaded, pickle.loads(pickle.dumps(evaluator))):
        found = one.score(systems={"a": FIRST, "b": SECOND}, intervals=True)
        for mine, other in zip(found.systems.values(), expected.systems.values()):
            assert (mine.scores, mine.intervals) == (other.scores, other.intervals)
    assert evaluator.score(FIRST, [RATIO]).scores == {"ratio": of(expected).scores["ratio"]}
    assert "ratio" not in evaluator.score(FIRST, "rouge-l").scores
    assert capeval.Evaluator(REFERENCES, [RATIO]).score(FIRST).scores.keys() == {"ratio"}
    assert "ratio" in str(capeval.compare(evaluator, {"a": FIRST, "b": SECOND}))
    assert "ratio  0.4" in str(capeval.explain(evaluator, FIRST, images=1)[0])


def test_captions_that_arrive_in_batches_are_scored_by_functions():
    metric = CaptionMetric(iter(["rouge-l", RATIO]))
    for k in range(0, 40, 7):
        part = range(k, min(k + 7, 40))
        metric.update([FIRST[k] for k in part], [REFERENCES[k] for k in part])
    assert metric.compute()["ratio"] == of(capeval.score(REFERENCES, FIRST, metrics=[RATIO])).scores["ratio"]


def test_a_function_runs_where_it_is_called_from():
    threads = set()

    def f(candidates, references):
        threads.add(threading.get_ident())
        return [0.5] * len(candidates)

    capeval.score(REFERENCES, FIRST, metrics=iter([capeval.metric("half", f, batch_size=3)]))
    assert threads == {threading.get_ident()}


def test_a_function_may_use_the_package_even_with_one_thread():
    def f(candidates, references, ids):
        ids.clear()
        report = capeval.score(references, candidates, metrics=["rouge-l", RATIO], threads=1)
        references.clear()
        return list(of(report).segments["rouge-l"])

    metric = capeval.metric("again", f, batch_size=16)
    report = capeval.score(REFERENCES, FIRST, metrics=["rouge-l", metric], threads=1)
    assert list(of(report).segments["again"]) == list(of(report).segments["rouge-l"])


def test_a_function_may_start_processes():
    def f(candidates, references):
        code = "import sys; print(*(len(line.split()) for line in sys.stdin))"
        done = subprocess.run([sys.executable, "-c", code], input="\n".join(candidates), capture_output=True, text=True, check=True)
        return map(int, done.stdout.split())

    report = capeval.score(REFERENCES, FIRST, metrics=[capeval.metric("words", f)])
    assert list(of(report).segments["words"]) == [len(text.split()) for text in FIRST.values()]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_interrupts_a_function():
    code = """
        import time, capeval
        def slow(candidates, references):
            print("begun", flush=True)
            time.sleep(600)
        try:
            capeval.score({1: ["a dog"]}, {1: "a dog"}, metrics=[capeval.metric("slow", slow)])
        except KeyboardInterrupt:
            print("interrupted")
    """
    call = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert call.stdout.readline() == "begun\n"
    call.send_signal(2)
    assert call.communicate(timeout=PATIENCE)[0] == "interrupted\n"


def test_a_metric_is_freed_with_its_function():
    freed = []

    class Model:
        def __call__(self, candidates, references):
            return [0.5] * len(candidates)

        def __del__(self):
            freed.append(True)

    metric = capeval.metric("half", Model())
    capeval.score(REFERENCES, FIRST, metrics=[metric])
    del metric
    assert freed


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
    prepared = capeval.Evaluator(REFERENCES, metrics=["bleu", program])
    assert pickle.loads(pickle.dumps(prepared)).score(FIRST).scores == of(by_program).scores


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


@pytest.mark.parametrize("name, tool", [("length-ratio", "python3"), ("exact-match", "jq"), ("edit-similarity", "uv")])
def test_the_examples_run(name, tool):
    try_it = [tool, "run", "--no-project", "--with", "rapidfuzz", "python", "-V"] if tool == "uv" else [tool, "--version"]
    if shutil.which(tool) is None or subprocess.run(try_it, capture_output=True, check=False).returncode != 0:
        assert not os.environ.get("CI"), f"{' '.join(try_it)} fails"
        pytest.skip(f"{' '.join(try_it)} fails")
    metric = os.path.join(EXAMPLES, "metrics", f"{name}.toml")
    report = capeval.score({1: ["A dog runs.", "The dog"], 2: ["Two cats"]}, {1: "the dog", 2: "a"}, metrics=[metric])
    expected = {"length-ratio": [1.0, 0.5], "exact-match": [1.0, 0.0], "edit-similarity": [6 / 7, 1 / 8]}[name]
    assert list(of(report).segments[name]) == pytest.approx(expected, abs=1e-15)


def counting(calls):
    """A function that notes the captions that it is asked about."""

    def f(candidates, references):
        calls.extend(candidates)
        return [float(len(candidate)) for candidate in candidates]

    return f


def test_scores_of_a_function_with_a_version_are_kept(tmp_path):
    cache = tmp_path / "scores"

    def score(calls, captions=FIRST, references=REFERENCES, **options):
        metric = capeval.metric("count", counting(calls), **{"version": "1", **options})
        report = capeval.score(references, captions, metrics=[metric], score_cache=cache)
        assert list(of(report).segments["count"]) == [len(caption) for caption in captions.values()]
        return report

    cold: list[str] = []
    score(cold)
    assert cold == list(FIRST.values())
    warm: list[str] = []
    report = score(warm)
    assert warm == []
    assert [notice.code for notice in report.notices if "score" in notice.code] == ["kept-scores"]
    for changes, asked in [
        ({"captions": {**FIRST, 7: "another"}}, 1),
        ({"references": {**REFERENCES, 3: ["another"]}}, 1),
        ({"version": "2"}, 40),
        ({"range": (0, 1000)}, 40),
        ({"version": ""}, 40),
        ({"version": ""}, 40),
    ]:
        calls: list[str] = []
        score(calls, **changes)
        assert len(calls) == asked, changes


def test_a_function_that_has_changed_is_asked_again(tmp_path):
    def scores(function):
        metric = capeval.metric("count", function, version="1")
        return capeval.score(REFERENCES, FIRST, metrics=[metric], score_cache=tmp_path)["count"]

    assert scores(lambda c, r: [1.0] * len(c)) == 1.0
    assert scores(lambda c, r: [2.0] * len(c)) == 2.0
    assert scores(lambda c, r: [1.0] * len(c)) == 1.0
    # Values that it is made with tell functions apart, too.
    for number in (3.0, 4.0):
        assert scores(lambda c, r: [number] * len(c)) == number
        assert scores(lambda c, r, of=(number + 10,): [*of] * len(c)) == number + 10
        assert scores(functools.partial(lambda to, c, r: [to] * len(c), number + 20)) == number + 20


def test_scores_are_kept_in_the_folder_for_caches_and_not_at_all(caches):
    for where, expected in [(None, 0), ("none", 40), (None, 0)]:
        first: list[str] = []
        capeval.score(REFERENCES, FIRST, metrics=[capeval.metric("usual", counting(first), version="3")], score_cache=where)
        calls: list[str] = []
        metric = capeval.metric("usual", counting(calls), version="3")
        capeval.score(REFERENCES, FIRST, metrics=[metric], score_cache=where)
        assert len(calls) == expected, where
    assert list((caches / "scores").glob("usual-*.scores"))
    with pytest.raises(ValueError, match="no metric keeps scores in this folder"):
        capeval.score(REFERENCES, FIRST, metrics=["bleu"], score_cache="somewhere")


def test_scores_before_an_exception_are_kept(tmp_path):
    calls: list[str] = []

    def f(candidates, references):
        calls.extend(candidates)
        if len(calls) == 24:
            raise KeyError("weights")
        return [0.5] * len(candidates)

    metric = capeval.metric("half", f, version="1", batch_size=8)
    distinct = {k: f"caption {k}" for k in range(40)}
    with pytest.raises(RuntimeError, match="captions 17 to 24"):
        capeval.score(REFERENCES, distinct, metrics=[metric], score_cache=tmp_path)
    capeval.score(REFERENCES, distinct, metrics=[metric], score_cache=tmp_path)
    assert calls[24:] == [f"caption {k}" for k in range(16, 40)]


def of_pictures(candidates, references, images):
    return [0.0 if image is None else float(len(str(image))) for image in images]


def without(candidates, references, images=None):
    return of_pictures(candidates, references, images)


def test_a_function_gets_pictures(tmp_path):
    references, captions = {1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}
    (tmp_path / "1.jpg").write_bytes(b"1")
    (tmp_path / "COCO_000000000002.jpg").write_bytes(b"2")
    paths = [str(tmp_path / name) for name in ("1.jpg", "COCO_000000000002.jpg")]
    needs, can = capeval.metric("needs", of_pictures), capeval.metric("can", without)

    def scores(metric, pictures=None):
        report = capeval.score(references, captions, metrics=[metric], pictures=pictures)
        return list(of(report).segments[metric.name])

    lengths = [float(len(path)) for path in paths]
    assert scores(needs, tmp_path) == lengths
    assert scores(needs, [str(tmp_path / "{id}.jpg"), tmp_path]) == lengths
    # What a dictionary holds, whatever it is.
    assert scores(needs, {1: paths[0], 2: 12345}) == [lengths[0], 5.0]
    assert scores(needs, {1: ["a", "b"], 2: [1]}) == [10.0, 3.0]
    assert scores(needs, {1: b"GIF", 2: paths[1]}) == [6.0, lengths[1]]
    assert scores(can) == [0.0, 0.0]
    assert scores(can, {2: paths[1]}) == [0.0, lengths[1]]
    for metric, pictures, error, words in [
        (needs, None, ValueError, "needs needs pictures, and none are given; pass pictures=… to say where they are"),
        (needs, {1: paths[0]}, ValueError, "image 2 has no picture in pictures, and needs needs one"),
        (needs, {1: paths[0], 2: None}, ValueError, "image 2 has no picture"),
        (needs, {1: paths[0], 2: "absent.jpg"}, ValueError, "image 2: absent.jpg: cannot open the picture"),
        (needs, tmp_path / "absent", ValueError, "cannot look for pictures"),
        (needs, 3, TypeError, "pictures"),
        (needs, [3], TypeError, "a place of pictures is a path, not int"),
        (needs, {1.5: paths[0]}, TypeError, "an image id must be"),
        ("bleu", tmp_path, ValueError, "no metric looks at pictures"),
    ]:
        with pytest.raises(error, match=re.escape(words)):
            capeval.score(references, captions, metrics=[metric], pictures=pictures)


def test_pictures_are_given_in_every_call(tmp_path):
    pictures = {k: f"picture {k}" * (k % 3 + 1) for k in range(40)}
    for k, name in pictures.items():
        (tmp_path / name).write_bytes(b"")
    pictures = {k: tmp_path / name for k, name in pictures.items()}
    metric = capeval.metric("seen", of_pictures, version="1")
    given = {"metrics": [metric], "pictures": pictures, "score_cache": tmp_path}
    assert "seen" in str(capeval.compare(REFERENCES, {"first": FIRST, "second": SECOND}, **given))
    ratings = [{"image_id": k, "caption": FIRST[k], "rating": k % 4} for k in range(40)]
    assert "seen" in str(capeval.correlate(ratings, references=REFERENCES, **given))
    pairs = [{"image_id": k, "captions": [FIRST[k], SECOND[k]], "votes": [k % 3, 1]} for k in range(40)]
    assert "seen" in str(capeval.prefer(pairs, references=REFERENCES, **given))
    evaluator = capeval.Evaluator(REFERENCES, [metric])
    report = evaluator.score(FIRST, pictures=pictures, score_cache=tmp_path)
    assert list(of(report).segments["seen"]) == [len(str(path)) for path in pictures.values()]
    (explained,) = capeval.explain(REFERENCES, FIRST, [metric], images=3, pictures=pictures)
    assert "seen" in str(explained)
    pairs = {"HC": [{"image": "7", "captions": ["a", "b"], "label": 0, "references": ["a dog"]}]}
    (tmp_path / "pascal_50s.json").write_text(json.dumps(pairs))
    run = capeval.meta.run("pascal-50s", tmp_path, **given, subset=True, resamples=50)
    assert "seen" in run["pascal-50s"]


def test_rows_of_tables_have_no_pictures():
    arrow = pytest.importorskip("capeval.arrow")
    with pytest.raises(ValueError, match="seen looks at pictures, and rows of tables have none"):
        arrow.RowScorer([capeval.metric("seen", of_pictures)])


def test_ids_that_are_compared_as_texts_find_their_pictures():
    metric = capeval.metric("needs", of_pictures)
    report = capeval.score({"1": ["a dog"]}, {1: "a dog"}, metrics=[metric], pictures={1: 123}, ids="text")
    assert report["needs"] == 3.0


def test_a_language_is_noticed():
    chinese = {1: ["两只小狗在草地上玩"]}
    metric = capeval.metric("count", counting([]), language="en")
    report = capeval.score(chinese, {1: "两只小狗"}, metrics=[metric])
    assert any("count knows only English" in notice.message for notice in report.notices)
    metric = capeval.metric("count", counting([]), language=["en", "zh"])
    assert not any("knows only" in notice.message for notice in capeval.score(chinese, {1: "两只"}, metrics=[metric]).notices)
    with pytest.raises(ValueError, match='language: "English" is not a code such as en'):
        capeval.metric("count", counting([]), language="English")
