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
    with pytest.raises(ValueError, match="did you mean densevid-2019"):
        scored(REFERENCES, RESULTS, "densevid-2021")
    with pytest.raises(ValueError, match="not a start and an end"):
        scored(REFERENCES, {"v_1": [{"timestamp": [0], "sentence": "a"}]})
