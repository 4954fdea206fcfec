"""`capeval.prefer`: how often metrics prefer what people prefer."""

from __future__ import annotations

import json

import pytest

import capeval

POOL = ["a dog runs on the grass", "one dog is running", "a brown dog on a lawn", "the dog runs"]
PAIRS = [
    # ROUGE-L is right, right, wrong, and asked nothing where people are tied.
    {"image_id": 1, "captions": ["a dog runs", "a red bus"], "votes": [40, 8], "category": "HI", "references": POOL},
    {"image_id": 1, "captions": ["zebra", "the dog runs fast"], "votes": [3, 45], "category": "HM", "references": POOL},
    {"image_id": 2, "captions": ["a dog runs", "a bus"], "votes": [3, 45], "category": "HM", "references": POOL},
    {"image_id": 2, "captions": ["a dog", "a bus"], "votes": [24, 24], "category": "HM", "references": POOL},
]


def test_accuracies_equal_those_counted_by_hand():
    found = capeval.prefer(PAIRS, metrics=["rouge-l", "ter"], references_per_pair=2, draws=3, human_ties="skip")
    assert found["rouge-l"].by_category == {"HI": 1.0, "HM": 0.5}
    assert found["rouge-l"].mean == 0.75 and found["rouge-l"].all == pytest.approx(2 / 3)
    assert found["rouge-l"].by_draw == [0.75] * 3
    assert found["ter"].by_category["HI"] == 1.0, "an error rate is turned"
    assert found.pairs["pairs"] == 4 and found.pairs["tied"] == 1 and found.pairs["categories"] == {"HI": 1, "HM": 2}
    assert found.protocol["draws"] == 3 and "references-per-pair:2|draws:3" in found.signatures["rouge-l"]
    assert [row["right"]["rouge-l"] for row in found.rows()] == [1.0, 1.0, None, 0.0]
    half = capeval.prefer(PAIRS, metrics=["rouge-l"])
    assert half["rouge-l"].by_category["HM"] == 0.5 and half["rouge-l"].all == 2.5 / 4


def test_preferences_print_in_every_form():
    found = capeval.prefer(PAIRS, metrics=["rouge-l"], intervals=True, resamples=300)
    assert json.loads(found.to_json()) == found.to_dict()
    assert "HM" in found.to_csv() and "|" in found.to_markdown() and "tabular" in found.to_latex() and "mean" in str(found)
    low, high = found["rouge-l"].intervals["mean"]
    assert low <= found["rouge-l"].mean <= high


def test_pairs_come_as_files_frames_and_with_references_beside_them(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    expected = capeval.prefer(PAIRS, metrics=["rouge-l"]).accuracies
    assert capeval.prefer(path, metrics=["rouge-l"]).accuracies == expected
    assert capeval.prefer(pandas.DataFrame(PAIRS), metrics=["rouge-l"]).accuracies == expected
    bare = [{key: value for key, value in pair.items() if key != "references"} for pair in PAIRS]
    assert capeval.prefer(bare, {1: POOL, 2: POOL}, ["rouge-l"]).accuracies == expected


def test_pairs_without_sense_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        capeval.prefer(tmp_path / "none.jsonl")
    with pytest.raises(TypeError, match="pair 0 must be a dictionary"):
        capeval.prefer([1])
    with pytest.raises(ValueError, match="no pair"):
        capeval.prefer([])
    with pytest.raises(ValueError, match="references"):
        capeval.prefer([{"image_id": 1, "captions": ["a", "b"], "votes": [1, 0]}], metrics="rouge-l")
    with pytest.raises(ValueError, match="half, wrong, first"):
        capeval.prefer(PAIRS, metrics="rouge-l", metric_ties="never")
