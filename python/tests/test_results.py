"""What every result can do, whatever it is about."""

from __future__ import annotations

import copy
import inspect
import json
import pickle

import pytest

import capeval
from capeval import _engine
from capeval._result import KINDS, Result

REFERENCES = {1: ["a dog runs", "the dog ran"], 2: ["two cats sleep", "cats sleep"], 3: ["a red kite", "a kite in the sky"]}
GOOD = {1: "a dog runs", 2: "two cats sleep", 3: "a red kite flies"}
WEAK = {1: "a cat", 2: "two dogs sleep", 3: "a kite"}
BENCHMARK = [("1", "a dog runs on the sand", 5), ("1", "a cat sleeps", 1), ("2", "two children fly a kite", 4), ("2", "a man", 2)]
JUDGES = {
    "result": "judge-agreement",
    "head": {"version": "0.1.0", "metrics": [], "measures": [], "resampling": None, "run": None, "in_percent": False},
    "notices": [],
    "files": ["x", "y"],
    "judges": [
        {"judge": "judge 1", "models": ["a", "b"], "questions": 3, "only": [0, 1], "unreadable": 0}
        | {"exact": 0.5, "difference": 0.25, "absolute_difference": 0.25, "alpha": None}
    ],
}

DENSE = {
    "result": "dense-captions",
    "head": {"version": "0.1.0", "metrics": [], "measures": [], "resampling": None, "run": None, "in_percent": False},
    "notices": [],
    "references": ["val_1.json"],
    "n_videos": 2,
    "systems": [
        {
            "name": "x",
            "counts": {"events": 3, "missing": 0, "empty": 0, "surplus": 0, "reversed": 0, "late": 0, "cut": 0},
            "remarks": [],
            "forms": [
                {
                    "form": "densevid-2019",
                    "videos": ["v_1", "v_2"],
                    "measures": [
                        {"name": "meteor", "value": 0.25, "interval": [0.0, 0.5], "at": [["0.3", 0.25]]} | {"videos": [[0.5], [0.0]]}
                    ],
                    "stops": [],
                }
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    rows = [json.dumps({"SYS": "x", "seg_id": image, "hyp": text, "human_score": rating}) for image, text, rating in BENCHMARK]
    (folder / "mscoco_THumB-1.0.jsonl").write_text("\n".join(rows))
    (folder / "mscoco_references.json").write_text('{"seg_id": "1", "refs": ["a dog"]}\n{"seg_id": "2", "refs": ["two kites"]}\n')
    ratings = [{"image_id": key, "caption": text, "rating": 4 - key} for texts in (GOOD, WEAK) for key, text in texts.items()]
    pairs = [{"image_id": key, "captions": [GOOD[key], WEAK[key]], "votes": [3, key]} for key in GOOD]
    draws = {"intervals": True, "resamples": 50}
    return {
        "score": capeval.score(REFERENCES, systems={"good": GOOD, "weak": WEAK}, metrics="rouge-l,cider-d", **draws),
        "diversity": capeval.diversity({key: [text, text + "s"] for key, text in GOOD.items()}, metrics="div,vocabulary"),
        "compare": capeval.compare(REFERENCES, {"weak": WEAK, "good": GOOD}, "rouge-l,cider-d", resamples=50, gallery=True),
        "correlate": capeval.correlate(ratings, REFERENCES, "rouge-l,cider-d", **draws),
        "prefer": capeval.prefer(pairs, REFERENCES, "rouge-l,cider-d", references_per_pair=1, **draws),
        "meta": capeval.meta.run("thumb", folder, "rouge-l,cider-d", subset=True, resamples=50),
        "dense": capeval.dense.DenseReport(_engine.Study.restore(json.dumps(DENSE).encode())),
        "judges": capeval.JudgeAgreement(_engine.Study.restore(json.dumps(JUDGES).encode())),
    }


def test_every_class_of_results_is_here(results):
    classes = {type(result)._kind: type(result) for result in results.values()}
    assert {kind: name.split(".")[-1] for kind, name in KINDS.items()} == {kind: one.__name__ for kind, one in classes.items()}


def test_every_result_has_every_format(results):
    for name, result in results.items():
        for format in ("table", "json", "jsonl", "csv", "markdown", "latex"):
            assert result.render(format).strip(), (name, format)
        assert result.render("markdown", digits=5) == result.to_markdown(5)
        assert json.loads(result.to_json()) == result.to_dict()
        assert len(result.to_jsonl().splitlines()) >= 1 and len(result.to_csv().splitlines()) >= 2, name
        assert str(result) == repr(result) and "<table>" in result._repr_html_() and "|" in result._repr_markdown_()
        assert isinstance(result.rows(), list) and isinstance(result.notices, list)
        with pytest.raises(ValueError, match="unknown output format 'xml'|unknown output format \"xml\""):
            result.render("xml")


def test_every_result_is_saved_loaded_pickled_and_copied(results, tmp_path):
    path = tmp_path / "result.json"
    for name, result in results.items():
        result.save(path)
        again = type(result).load(path)
        assert again == result == pickle.loads(pickle.dumps(result)) == copy.deepcopy(result), name
        assert hash(again) == hash(result) and again.rows() == result.rows(), name
        # JSON has remedies in words that fit every front end, and files in Python's.
        for format in ("table", "csv", "markdown", "latex"):
            assert again.render(format) == result.render(format), (name, format)
        other = capeval.Comparison if name != "compare" else capeval.Report
        with pytest.raises(ValueError, match=rf"this is a {result._kind}; load it with capeval\..*{type(result).__name__}\.load\(\)"):
            other.load(path)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_every_result_has_a_frame(package, results):
    pytest.importorskip(package)
    for name, result in results.items():
        frame = getattr(result, f"to_{package}")()
        assert len(frame) >= 1 and len(frame.columns) >= 2, name


def test_every_result_has_a_page_with_the_same_arguments(results):
    documented = inspect.getdoc(Result.to_html)
    for name, result in results.items():
        arguments = inspect.signature(type(result).to_html)
        assert arguments == inspect.signature(Result.to_html) and inspect.getdoc(type(result).to_html) == documented, name
        for argument in [*arguments.parameters][1:]:
            assert f"{argument}: " in documented, argument
        seen = []
        page = result.to_html(title="A <title>", digits=2, threads=1, progress=lambda *stage: seen.append(stage))
        assert "A &lt;title&gt;" in page and "<svg" in page and seen, name
        pictures = {1: "one.jpg"}
        if name == "compare":
            assert "one.jpg" in result.to_html(pictures=pictures)
        else:
            with pytest.raises(ValueError, match="gallery=True"):
                result.to_html(pictures=pictures)


def test_every_result_is_drawn(results):
    for result in results.values():
        assert "<iframe" in result.plot()._repr_html_()
    pytest.importorskip("matplotlib")
    for name, result in results.items():
        assert result.plot("matplotlib").axes, name


def test_the_page_of_diversity_shows_what_captions_look_like(results):
    page = results["diversity"].to_html()
    assert "Diversity of the captions" in page and "Vocabulary growth" in page
