"""`capeval.correlate`: metrics compared with human ratings."""

from __future__ import annotations

import datetime
import decimal
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
    with pytest.raises(ValueError, match='^ratings: no column of "image_id", "caption" holds ratings'):
        capeval.correlate([{"image_id": 1, "caption": "a"}], REFERENCES)
    with pytest.raises(ValueError, match="^ratings: there is no rating"):
        capeval.correlate([], REFERENCES, "rouge-l")
    with pytest.raises(ValueError, match="^ratings .record 1.: the rating 'x' is not a finite number"):
        capeval.correlate([{"image_id": 1, "caption": "a", "rating": "x"}], REFERENCES, "rouge-l")
    with pytest.raises(TypeError, match="^ratings .record 1.: expected a dictionary with 'image_id', 'caption' and 'rating'"):
        capeval.correlate([(1, "a", 5)], REFERENCES)
    with pytest.raises(ValueError):
        capeval.correlate([{"image_id": 99, "caption": "a", "rating": 1}], REFERENCES, "rouge-l")


def test_records_are_read_as_a_file_of_them_is(tmp_path):
    renamed = [{"img_id": row["image_id"], "candidate": row["caption"], "ratings": row["rating"]} for row in RATINGS]
    by_rater = [
        {"image": row["image_id"], "hypothesis": row["caption"], "rater_1": row["rating"][0], "rater_2": row["rating"][1]}
        for row in RATINGS
    ]
    with_references = [{**row, "references": REFERENCES[row["image_id"]]} for row in RATINGS]
    expected = capeval.correlate(RATINGS, REFERENCES, "rouge-l").agreements
    for k, rows in enumerate((renamed, by_rater, with_references)):
        path = tmp_path / f"{k}.json"
        path.write_text(json.dumps(rows))
        references = None if k == 2 else REFERENCES
        given = capeval.correlate(rows, references, "rouge-l")
        assert given.agreements == capeval.correlate(path, references, "rouge-l").agreements
        if k < 2:
            assert given.agreements == expected
    one_missing = [*RATINGS, {"image_id": 0, "caption": "a cat", "rating": None}]
    assert "1 row of ratings without a rating" in str(capeval.correlate(one_missing, REFERENCES, "rouge-l"))


def test_what_stands_beside_ratings_in_a_table_does_not_matter():
    beside = {"picture": object(), "when": datetime.datetime(2026, 11, 30), "fee": decimal.Decimal("0.5"), "done": True}
    rows = [{**row, **beside, "rating": [decimal.Decimal(value) for value in row["rating"]]} for row in RATINGS]
    expected = capeval.correlate(RATINGS, REFERENCES, "rouge-l").agreements
    assert capeval.correlate(rows, REFERENCES, "rouge-l").agreements == expected
    with pytest.raises(ValueError, match="holds ratings"):
        capeval.correlate([{"image_id": 1, "caption": "a", "rating": object()}], REFERENCES, "rouge-l")
