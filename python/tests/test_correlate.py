"""`capeval.correlate`: metrics compared with human ratings."""

from __future__ import annotations

import json

import pytest

import capeval

REFERENCES = {k: [f"a dog number {k} runs on the grass", "a dog on the grass"] for k in range(12)}
RATINGS = [
    {"image_id": k, "caption": caption, "rating": rating}
    for k in REFERENCES
    for caption, rating in (
        (f"a dog number {k} runs on the grass", [5, 4]),
        ("a dog on a lawn", [3, 3]),
        ("a bus", [1, 2 if k % 3 else 1]),
    )
]


def test_good_metrics_agree_with_people():
    found = capeval.correlate(RATINGS, REFERENCES, ["rouge-l", "ter"])
    rouge, ter = found["rouge-l"], found["ter"]
    assert rouge.pearson > 0.8 and rouge.spearman > 0.8 and rouge.accuracy == 1.0
    assert ter.pearson < 0 and ter.accuracy == 1.0, "an error rate is turned"
    assert found.human["n_ratings"] == 72 and found.human["scale"] == (1.0, 5.0)
    images, ratings, scores = found.points
    assert len(images) == len(ratings) == len(scores["rouge-l"]) == 72
    assert "rouge-l" in found.to_csv() and json.loads(found.to_json()) == found.to_dict() and str(found)
    by_item = capeval.correlate(RATINGS, REFERENCES, ["rouge-l"], unit="item")
    assert by_item.human["n_points"] == 36


def test_intervals_hold_the_coefficients():
    found = capeval.correlate(RATINGS, REFERENCES, ["rouge-l"], intervals=True, resamples=200)
    low, high = found["rouge-l"].intervals["pearson"]
    assert low <= found["rouge-l"].pearson <= high


def test_measures_are_compared_with_each_other_and_systems_with_people():
    ratings = [{**row, "system": ["good", "fair", "poor"][k % 3]} for k, row in enumerate(RATINGS)]
    found = capeval.correlate(ratings, REFERENCES, ["rouge-l", "ter"])
    (test,) = found.williams
    assert (test["a"], test["b"]) == ("rouge-l", "ter") and 0 <= test["p"] <= 1
    assert found.system_level["rouge-l"]["pearson"] > 0.9
    assert capeval.correlate(RATINGS, REFERENCES, ["rouge-l"]).system_level == {}


def test_a_page_shows_scores_against_ratings():
    page = capeval.correlate(RATINGS, REFERENCES, ["rouge-l", "ter"]).to_html(title="A <title>")
    assert "<title>A &lt;title&gt;" in page and "Kendall" in page
    assert page.count("<svg") == 5 + 2 + 3, "per coefficient, measure, and distribution, of ratings and of measures"


def test_tables_of_ratings_are_taken():
    pandas = pytest.importorskip("pandas")
    rows = [{**row, "rating": float(row["rating"][0])} for row in RATINGS]
    frame = capeval.correlate(pandas.DataFrame(rows), REFERENCES, ["rouge-l"])
    assert frame["rouge-l"] == capeval.correlate(rows, REFERENCES, ["rouge-l"])["rouge-l"]


def test_invalid_ratings_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        capeval.correlate(tmp_path / "none.csv", REFERENCES)
    with pytest.raises(ValueError, match="rating 0 has no 'rating'"):
        capeval.correlate([{"image_id": 1, "caption": "a"}], REFERENCES)
    with pytest.raises(ValueError, match="image 1: NaN is not a rating"):
        capeval.correlate([{"image_id": 1, "caption": "a", "rating": float("nan")}], REFERENCES, "rouge-l")
    with pytest.raises(ValueError):
        capeval.correlate([{"image_id": 99, "caption": "a", "rating": 1}], REFERENCES, "rouge-l")
