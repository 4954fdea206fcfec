"""`capeval.compare` and confidence intervals."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import capeval


@pytest.fixture
def files(quickstart):
    return quickstart / "references.json", {name: quickstart / f"{name}.json" for name in ("weak", "good")}


def test_systems_are_compared_with_the_first(files):
    references, systems = files
    found = capeval.compare(references, systems, ["bleu", "rouge-l"], resamples=500)
    scores = capeval.score(references, systems=systems, metrics=["bleu", "rouge-l"])
    contrast = found["good", "rouge-l"]
    weak, good = (scores.systems[name]["rouge-l"] for name in systems)
    assert contrast.difference == pytest.approx(good - weak)
    assert contrast.interval[0] <= contrast.difference <= contrast.interval[1]
    assert 0 < contrast.randomisation.value <= contrast.randomisation.adjusted <= 1
    assert contrast.verdict in ("better", "undecided") and contrast.wins >= contrast.losses
    assert contrast.sign is not None and found["good", "bleu-4"].sign is None
    assert [(pair.baseline, pair.system) for pair in found.pairs] == [("weak", "good")]
    assert found.report.systems["good"].scores == scores.systems["good"].scores
    low, high = found.report.systems["good"].intervals["rouge-l"]
    assert low <= good <= high
    assert "good" in str(found) and json.loads(found.to_json()) == found.to_dict() and found.to_csv()
    assert found.to_markdown() and found.to_latex()
    assert "<title>Comparison of weak and good</title>" in found.to_html()


def test_the_seed_decides_every_digit(files):
    references, systems = files
    runs = [
        capeval.compare(references, systems, "bleu", resamples=200, seed=seed, threads=threads).to_json()
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_invalid_settings_are_refused(files):
    references, systems = files
    with pytest.raises(ValueError, match="at least two"):
        capeval.compare(references, {"good": systems["good"]}, "bleu")
    with pytest.raises(ValueError, match='unknown correction "x"'):
        capeval.compare(references, systems, "bleu", correction="x")
    with pytest.raises(ValueError, match="confidence level"):
        capeval.compare(references, systems, "bleu", level=95)
    with pytest.raises(TypeError, match="unexpected keyword 'policy'"):
        capeval.compare(references, systems, "bleu", policy="skip")


def test_scores_have_intervals_if_asked_for(files):
    references, systems = files
    report = capeval.score(references, systems["good"], "rouge-l", intervals=True, resamples=300)
    low, high = report.intervals["rouge-l"]
    wide = capeval.score(references, systems["good"], "rouge-l", intervals=0.999, resamples=300).intervals["rouge-l"]
    assert wide[0] <= low <= report["rouge-l"] <= high <= wide[1]
    assert capeval.score(references, systems["good"], "rouge-l").intervals == {}


def test_a_comparison_is_a_frame_and_a_table_in_notebooks(references, candidates):
    systems = {"a": candidates, "b": {key: texts[0] for key, texts in references.items()}}
    found = capeval.compare(references, systems, ["bleu", "rouge-l"], resamples=50)
    assert "<table>" in found._repr_html_() and "<th>ROUGE-L</th>" in found._repr_html_()
    assert "<iframe" in found.plot()._repr_html_()
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert list(frame["measure"]) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l"]
    contrast = found["b", "rouge-l"]
    row = frame.iloc[-1]
    assert (row["difference"], row["low"], row["high"]) == (contrast.difference, *contrast.interval)


def without_remedies(result):
    """The JSON of a result without what to do about notices, which a pickle has in Python's words."""
    found = result.to_dict()
    for notice in found["notices"]:
        notice.pop("remedy", None)
    return found


def test_results_can_be_pickled_and_copied(references, candidates):
    one = capeval.score(references, {1: candidates[1]}, ["bleu", "cider-d"], missing="skip", intervals=True, resamples=50)
    systems = {"a": candidates, "b": {key: texts[0] for key, texts in references.items()}}
    two = capeval.compare(references, systems, ["bleu", "rouge-l"], resamples=50)
    for copied in (pickle.loads(pickle.dumps((one, two))), copy.deepcopy((one, two))):
        for found, expected in zip(copied, (one, two)):
            for text in ("to_csv", "to_latex", "to_markdown", "to_html", "__str__"):
                assert getattr(found, text)() == getattr(expected, text)(), text
            assert without_remedies(found) == without_remedies(expected)
        report, comparison = copied
        assert dict(report) == dict(one) and report.notices == one.notices and report.intervals == one.intervals
        assert all((report.segments[key] == one.segments[key]).all() for key in one.segments)
        assert comparison.pairs == two.pairs
    system = pickle.loads(pickle.dumps(one.systems["candidates"]))
    assert system.ids == [1] and system.scores == one.scores


def test_a_tampered_comparison_is_refused(references, candidates):
    systems = {"a": candidates, "b": {key: texts[0] for key, texts in references.items()}}
    restore, (data,) = capeval.compare(references, systems, ["bleu"], resamples=50)._found.__reduce__()
    assert restore(data).kind == "comparison"
    whole = json.loads(data)
    (pair,) = whole["comparisons"]
    for change in ({"system": "c"}, {"contrasts": {"bleu-1": pair["contrasts"]["bleu-1"]}}):
        with pytest.raises(ValueError, match="the result is damaged: "):
            restore(json.dumps({**whole, "comparisons": [{**pair, **change}]}).encode())
    with pytest.raises(ValueError, match="nothing says how it was resampled"):
        restore(json.dumps({key: value for key, value in whole.items() if key != "resampling"}).encode())


def test_results_are_saved_and_loaded(references, candidates, tmp_path):
    path = tmp_path / "result.json"
    systems = {"a": candidates, "b": {key: texts[0] for key, texts in references.items()}}
    one = capeval.score(references, systems=systems, metrics=["bleu", "rouge-l"])
    two = capeval.compare(references, systems, ["bleu", "rouge-l"], resamples=50)
    for kind, other, result in ((capeval.Report, capeval.Comparison, one), (capeval.Comparison, capeval.Report, two)):
        result.save(path)
        again = kind.load(path)
        assert again == result == pickle.loads(pickle.dumps(result))
        assert hash(again) == hash(result)
        assert str(again) == str(result) and again.to_csv() == result.to_csv()
        with pytest.raises(ValueError, match=f"{type(result).__name__}.load"):
            other.load(path)
        path.write_text(result.to_json())
        assert kind.load(path).to_csv() == result.to_csv()
    assert one != capeval.score(references, candidates, ["bleu"]) and one != 1
    assert (one.systems["a"].segments["rouge-l"] == two.report.systems["a"].segments["rouge-l"]).all()
    path.write_text("[]")
    with pytest.raises(ValueError, match="result.json: not a report of capeval: "):
        capeval.Report.load(path)
    with pytest.raises(FileNotFoundError):
        capeval.Report.load(tmp_path / "none.json")
