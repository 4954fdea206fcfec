"""Dense video captions from Python: dictionaries and files, forms, and what is refused."""

from __future__ import annotations

import json

import pytest

import capeval

REFERENCES = {
    "v_1": {
        "duration": 20,
        "timestamps": [[0, 10], [8, 20]],
        "sentences": ["A man rides a horse.", "The horse jumps over a fence."],
    },
    "v_2": {"duration": 20, "timestamps": [[0, 5]], "sentences": ["A dog barks."]},
}
RESULTS = {
    "version": "1",
    "external_data": {},
    "results": {
        "v_1": [
            {"sentence": "A man rides a horse", "timestamp": [0, 9]},
            {"sentence": "A woman cooks", "timestamp": [30, 40]},
        ]
    },
}


def scored(*arguments, **options):
    try:
        return capeval.dense.score(*arguments, **options)
    except ValueError as error:
        if "not installed" in str(error):
            pytest.skip("the data of meteor are not installed")
        raise


def test_dictionaries_and_files_give_the_same_scores(tmp_path):
    references, results = tmp_path / "r.json", tmp_path / "p.json"
    references.write_text(json.dumps(REFERENCES))
    results.write_text(json.dumps(RESULTS))
    report = scored(REFERENCES, RESULTS, "all", per_video=True)
    files = scored(references, results, "all", per_video=True)
    assert report.systems == files.systems and report.videos == files.videos
    # One of two videos is missing: 0 for most programs, left out by VidChapters.
    assert report["vidchapters"]["meteor"] == pytest.approx(2 * report["densevid-2019"]["meteor"], abs=1e-12)
    assert report["densevid-2018"]["meteor"] < report["densevid-2019"]["meteor"]
    assert len(report.videos["results"]["densevid-2019"]["v_1"]["meteor"]) == 4


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match="results of one system, or systems"):
        capeval.dense.score(REFERENCES)
    with pytest.raises(ValueError, match="finite"):
        capeval.dense.score(REFERENCES, {"v_1": [{"timestamp": [0, float("nan")], "sentence": "a"}]})
    with pytest.raises(ValueError, match="did you mean densevid-201"):
        scored(REFERENCES, RESULTS, "densevid-2022")
    with pytest.raises(ValueError, match="not a start and an end"):
        scored(REFERENCES, {"v_1": [{"timestamp": [0], "sentence": "a"}]})


LIGHT = ("bleu", "rouge-l", "cider-d")


def test_metrics_without_meteor_need_no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    report = capeval.dense.score(REFERENCES, RESULTS, ["densevid-2021", "soda-c:cider-d"], metrics=LIGHT)
    assert report["densevid-2019"]["cider-d"] > 0 and "meteor" not in report["densevid-2019"]
    paragraphs = {"v_1": "A man rides a horse.", "v_2": "A dog barks."}
    report = capeval.dense.score(paragraphs, RESULTS, ["mart-paragraph", "mart-repetition"], metrics=LIGHT)
    assert report["mart-paragraph"]["bleu-1"] > 0 and report["mart-repetition"]["re1"] > 0
    with pytest.raises(ValueError, match="has no times"):
        capeval.dense.score(paragraphs, RESULTS, metrics=LIGHT)


def test_captions_of_boxes():
    objects = [{"scene_id": "s", "object_id": 1, "object_name": "chair", "token": ["a", "red", "chair"]}]
    matched = {"s|1|chair": {"caption": "sos a red chair eos", "iou": 0.4}}
    report = capeval.dense.score_boxes(objects, matched, metrics=LIGHT, per_object=True)
    assert report["scan2cap"]["rouge-l@0.25"] == pytest.approx(1.0, abs=1e-12)
    assert 0 < report["scan2cap"]["rouge-l@0.5"] < 1
    assert report.videos["results"]["scan2cap"]["s|1|chair"]["rouge-l@0.25"] == pytest.approx(1.0, abs=1e-12)
    assert "scan2cap-benchmark" in capeval.dense.box_forms()
    with pytest.raises(ValueError, match="cannot compare these files"):
        capeval.dense.score_boxes(objects, matched, "densecap-scenic", metrics=LIGHT)


def test_rewards_are_scores_of_the_forms():
    reward = capeval.dense.Reward(REFERENCES, "cider-d")
    events = RESULTS["results"]["v_1"]
    found = reward.score(["v_1", "v_2"], [events, "I cannot say.", "0 - 5 seconds, a dog barks.", []])
    one = capeval.dense.score({"v_1": REFERENCES["v_1"]}, {"v_1": events}, ["soda-c:cider-d", "capeval"], metrics=LIGHT)
    assert found.soda_c[0] == one["soda-c:cider-d"]["f1"] and found.f1[0] == one["capeval"]["f1"]
    assert found.read.tolist() == [True, False, True, True]
    assert found.f1.tolist()[1:] == [0, pytest.approx(1.0, abs=1e-12), 0]
    with pytest.raises(ValueError, match="no events of the video v_9"):
        reward.score("v_9", [events])
    with pytest.raises(ValueError, match="no multiple"):
        reward.score(["v_1", "v_2"], [events])
