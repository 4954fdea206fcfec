"""`Evaluator`: the digits of `score`, from references read once."""

from __future__ import annotations

import pickle

import pytest

import capeval
from capeval import _engine

METRICS = ["bleu", "rouge-l", "cider-d", "chrf"]


def test_an_evaluator_gives_the_digits_of_score(references, candidates, tmp_path):
    expected = capeval.score(references, candidates, METRICS)
    evaluator = capeval.Evaluator(references, METRICS)
    evaluator.save(tmp_path / "refs.capeval")
    loaded = capeval.Evaluator.load(tmp_path / "refs.capeval", METRICS)
    for one in (evaluator, loaded):
        assert one.ids == [1, 2, 3]
        report = one.score(candidates)
        assert report.scores == expected.scores and report.signatures == expected.signatures
        assert one.score(candidates, ["ter"]).scores == capeval.score(references, candidates, ["ter"]).scores
    both = evaluator.score(systems={"a": candidates, "b": {**candidates, 3: "a red bus"}})
    assert both.systems["a"].scores == expected.scores


def test_metrics_of_models_and_judges_are_given_what_they_need_by_the_calls(references, candidates):
    names = [metric["name"] for metric in _engine.metrics()]
    outside = [name for name in names if _engine.engine_names([name]) == []]
    assert {"clip-s", "chair", "judge"} <= set(outside)
    for name in outside:
        evaluator = capeval.Evaluator(references, [name, "rouge-l"])
        with pytest.raises(ValueError, match=name):
            evaluator.score(candidates)
    assert capeval.Evaluator(references, outside).ids == [1, 2, 3]


def test_a_file_of_something_else_is_refused(quickstart, tmp_path):
    with pytest.raises(ValueError, match="references.json"):
        capeval.Evaluator.load(quickstart / "references.json")
    with pytest.raises(FileNotFoundError):
        capeval.Evaluator.load(tmp_path / "none")


def test_an_evaluator_is_pickled_for_spawned_workers(references, candidates):
    evaluator = capeval.Evaluator(references, METRICS, settings={"n": 3})
    again = pickle.loads(pickle.dumps(evaluator))
    assert repr(again) == repr(evaluator) and again.ids == evaluator.ids
    assert again.score(candidates).to_dict() == evaluator.score(candidates).to_dict()
    data = bytearray(pickle.dumps(evaluator))
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        pickle.loads(bytes(data))


def test_a_call_adds_its_settings_to_those_of_the_evaluator(references, candidates):
    def signature(report):
        return report.signatures["cider-d"]

    of_settings = capeval.Evaluator(references, ["cider-d"], settings={"sigma": 4})
    assert "sigma:4" in signature(of_settings.score(candidates, idf="uniform"))
    assert "idf:uniform" in signature(of_settings.score(candidates, idf="uniform"))
    of_idf = capeval.Evaluator(references, ["cider-d"], idf="uniform")
    assert "idf:uniform" in signature(of_idf.score(candidates, settings={"sigma": 4}))
    assert "sigma:3" in signature(of_settings.score(candidates, settings={"sigma": 3}))
    assert "idf" not in of_idf.score(candidates, ["bleu"]).signatures["bleu"], "which has no such setting"
