"""Several candidates for an image, runs, captions that are read once, and requirements."""

import re

import pytest

import capeval

REFERENCES = {1: ["a dog runs on the beach", "a brown dog is running"], 2: ["two cats sit on a sofa"], 3: ["a red bus stops"]}
RUNS = [
    {1: "a dog runs", 2: "two cats", 3: "bus"},
    {1: "a dog runs on the beach", 2: "cats on a sofa", 3: "a red bus"},
]
ALL = {image: [run[image] for run in RUNS] for image in REFERENCES}
METRICS = ["bleu", "cider-d"]


def test_several_candidates_are_put_together_as_asked():
    each = [capeval.score(REFERENCES, run, METRICS) for run in RUNS]
    mean = capeval.score(REFERENCES, ALL, METRICS, several="mean")
    runs = capeval.score(REFERENCES, None, METRICS, runs={"mine": RUNS})
    for key in mean:
        assert mean[key] == pytest.approx(sum(one[key] for one in each) / 2)
        assert runs[key] == mean[key]
    assert "several:mean(3)" in mean.signatures["cider-d"] and "runs:2" in runs.signatures["cider-d"]
    assert "mine is the mean of 2 runs" in runs.notices[0].message
    deviation = abs(each[0]["cider-d"] - each[1]["cider-d"]) / 2**0.5
    assert runs.deviations["cider-d"] == pytest.approx(deviation) == runs.systems["mine"].deviations["cider-d"]
    assert runs.systems["mine"].n_runs == 2 and runs.log_dict()["cider-d/sd"] == runs.deviations["cider-d"]
    assert runs.to_dict()["systems"][0]["runs"] == {"n": 2, "deviations": runs.deviations}
    assert mean.deviations == {} and f"± {deviation:.3f}" in str(runs) and "cider-d_sd" in runs.render("csv")
    assert capeval.score(REFERENCES, ALL, METRICS, several="best:cider-d").scores == each[1].scores
    assert capeval.compare(REFERENCES, {"one": RUNS[0]}, ["cider-d"], runs={"mine": RUNS})["mine", "cider-d"].verdict
    with pytest.raises(ValueError, match='pass several="first" or several="last" .* or several="each"'):
        capeval.score({image: texts * 2 for image, texts in REFERENCES.items()}, ALL, METRICS)


def test_candidates_first_as_elsewhere_are_refused():
    with pytest.raises(ValueError, match="capeval takes references first"):
        capeval.score(["a"], [["b"]])
    with pytest.raises(ValueError, match="capeval takes references first"):
        capeval.score({1: "a"}, {1: ["b", "c"]})
    assert capeval.score(["a b"], [["a b", "c"]], "bleu", several="first")["bleu-1"] == pytest.approx(1)


def test_captions_that_are_read_once_are_taken_by_every_function(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("image_id,caption\n1,a dog runs\n2,two cats\n3,bus\n")
    references, mine = capeval.read(REFERENCES, references=True), capeval.read(path)
    assert isinstance(mine, capeval.Captions) and mine.texts() == ["a dog runs", "two cats", "bus"]
    whole = capeval.score(REFERENCES, str(path), METRICS)
    assert capeval.score(references, mine, METRICS).scores == whole.scores
    assert capeval.compare(references, {"a": mine, "b": RUNS[1]}, METRICS).pairs
    assert capeval.Evaluator(references, METRICS).score(mine).scores == whole.scores
    assert capeval.read(path, caption_columns="caption").ids() == [1, 2, 3]
    with pytest.raises(ValueError, match="capeval.read"):
        capeval.score(references, mine, METRICS, split="test")
    with pytest.raises(TypeError, match="did you mean 'caption_columns'"):
        capeval.read(path, caption_column="caption")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("preds", "candidates"),
        ("hyps", "candidates"),
        ("predictions", "candidates"),
        ("res", "candidates"),
        ("hypotheses", "candidates"),
        ("generated_texts", "candidates"),
        ("modelOutputs", "candidates"),
        ("target", "references"),
        ("gts", "references"),
        ("ground_truths", "references"),
        ("gold_captions", "references"),
        ("metric", "metrics"),
        ("n_jobs", "threads"),
        ("n_bootstrap", "resamples"),
        ("random_state", "seed"),
        ("verbose", "progress"),
        ("duplicate", "several"),
    ],
)
def test_keywords_of_other_packages_name_ours(given, meant):
    with pytest.raises(TypeError, match=f"unexpected keyword '{given}'; did you mean '{meant}'"):
        capeval.score(**{given: None})


def test_requirements_say_what_does_not_hold():
    report = capeval.score(REFERENCES, RUNS[1], METRICS)
    weak = capeval.score(REFERENCES, RUNS[0], METRICS)
    assert report.unmet("cider-d >= 0.1", "mean(bleu-1, bleu-4) < 2") == []
    (words,) = weak.unmet("cider-d >= best - 0.01", bases={"best": report})
    assert re.match(r"candidates does not meet cider-d >= best - 0.01: [\d.]+ is not at least [\d.]+$", words)
    with pytest.raises(ValueError, match="character 1: nothing is called 'cider'.*did you mean cider-d"):
        report.unmet("cider > 1")
    with pytest.raises(ValueError, match="only a comparison"):
        report.unmet("better")
    comparison = capeval.compare(REFERENCES, {"good": RUNS[1], "weak": RUNS[0]}, METRICS)
    assert comparison.unmet("better", on=["cider-d"]) and not comparison.unmet("cider-d < good")


def test_a_report_says_why_a_measure_is_not_there():
    report = capeval.score(REFERENCES, RUNS[0], METRICS)
    for key, words in [
        ("meteor", "meteor was not asked for; name it in metrics"),
        ("bleu", "choose one of bleu-1, bleu-2, bleu-3, bleu-4"),
        ("nonsense", "no measure is called 'nonsense'; there are bleu-1"),
    ]:
        with pytest.raises(KeyError, match=words):
            report[key]


def test_shares_are_shown_in_percent():
    report = capeval.score(REFERENCES, RUNS[1], ["bleu", "cider-d"])
    shown = report.render("table", percent=True)
    assert f"{100 * report['bleu-1']:.1f}" in shown and report.render("table").rstrip() == str(report)
    assert f"{100 * report['bleu-1']:.1f}" in report.to_latex(percent=True)
    with pytest.raises(ValueError, match="for programs"):
        report.render("json", percent=True)
