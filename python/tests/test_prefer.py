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
    assert "<title>Agreement of metrics with human preferences" in found.to_html()
    low, high = found["rouge-l"].intervals["mean"]
    assert low <= found["rouge-l"].mean <= high


def test_pairs_come_as_files_frames_and_with_separate_references(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    expected = capeval.prefer(PAIRS, metrics=["rouge-l"]).accuracies
    assert capeval.prefer(path, metrics=["rouge-l"]).accuracies == expected
    assert capeval.prefer(pandas.DataFrame(PAIRS), metrics=["rouge-l"]).accuracies == expected
    bare = [{key: value for key, value in pair.items() if key != "references"} for pair in PAIRS]
    assert capeval.prefer(bare, {1: POOL, 2: POOL}, ["rouge-l"]).accuracies == expected


def test_invalid_pairs_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        capeval.prefer(tmp_path / "none.jsonl")
    with pytest.raises(TypeError, match=r"pairs \(record 1\): expected a dictionary"):
        capeval.prefer([1])
    with pytest.raises(ValueError, match="no pair"):
        capeval.prefer([])
    with pytest.raises(ValueError, match="references"):
        capeval.prefer([{"image_id": 1, "captions": ["a", "b"], "votes": [1, 0]}], metrics="rouge-l")
    with pytest.raises(ValueError, match="half, wrong, first"):
        capeval.prefer(PAIRS, metrics="rouge-l", metric_ties="never")


def test_measures_are_iterated_and_looked_up():
    found = capeval.prefer(PAIRS, metrics=["rouge-l", "ter"])
    assert list(found) == ["rouge-l", "ter"] and "ter" in found and "bleu-4" not in found and 0 not in found
    with pytest.raises(KeyError, match="there are rouge-l, ter"):
        found["bleu-4"]
    rated = [{"image_id": k, "caption": f"a {k}", "rating": k} for k in range(4)]
    found = capeval.correlate(rated, {k: [f"a {k // 2}"] for k in range(4)}, ["rouge-l"])
    assert list(found) == ["rouge-l"] and "rouge-l" in found and "ter" not in found


def test_missing_cells_of_frames_are_absent():
    pandas = pytest.importorskip("pandas")
    rows = [dict(pair, image_id=k) for k, pair in enumerate(PAIRS)]
    rows[0].pop("votes")
    rows[0]["winner"] = "a"
    rows[1]["category"] = None
    rows[2]["category"] = pandas.NA
    rows.append({"captions": ["a", "b"], "image_id": 9, "references": POOL})
    frame = pandas.DataFrame(rows)
    assert frame["votes"].isna().any() and frame["winner"].isna().any()
    frame["image_id"] = frame["image_id"].astype(float)
    found = capeval.prefer(frame, metrics=["rouge-l"])
    assert found.pairs["pairs"] == 4 and [row["image_id"] for row in found.rows()] == [0, 1, 2, 3]
    clean = [{key: cell for key, cell in row.items() if cell is not None and cell is not pandas.NA} for row in rows]
    assert found.accuracies == capeval.prefer(clean, metrics=["rouge-l"]).accuracies


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"references": set(POOL)}, TypeError, "references: a record cannot contain a value of type set"),
        ({"captions": ["a \ud800", "b"]}, ValueError, "captions: .* lone surrogate"),
        ({"votes": [float("nan"), 1.0]}, ValueError, "votes: nan is not a finite number"),
        ({"category": b"HC"}, TypeError, "category: a record cannot contain a value of type bytes"),
        ({"image_id": 1.5}, ValueError, "'1.5' is not an image id; write it as a string"),
        ({"winner": "b"}, ValueError, "winner is 'b', but the votes are 40 and 8"),
        ({7: 1}, TypeError, "a key must be a string, not 7"),
    ],
)
def test_errors_name_the_record_from_1_and_the_field(change, error, words):
    with pytest.raises(error, match=r"^pairs \(record 2\): .*" + words.removeprefix("^")):
        capeval.prefer([PAIRS[1], {**PAIRS[0], **change}], metrics="rouge-l")


@pytest.mark.parametrize("name", ["draws", "draw_seed", "references_per_pair"])
def test_numbers_of_draws_are_checked_by_name(name):
    with pytest.raises(ValueError, match=f"^{name} must be a whole number .*from .*, not -1"):
        capeval.prefer(PAIRS, metrics="rouge-l", **{name: -1})
    for wrong in ("many", 2.5, True):
        with pytest.raises(TypeError, match=f"^{name} must be a whole number"):
            capeval.prefer(PAIRS, metrics="rouge-l", **{name: wrong})


def test_nothing_is_drawn_where_scores_are_given(tmp_path):
    path = tmp_path / "scores.csv"
    rows = {(pair["image_id"], caption) for pair in PAIRS for caption in pair["captions"]}
    path.write_text("image_id,caption,mine\n" + "".join(f"{i},{c},{len(c)}\n" for i, c in sorted(rows)))
    assert list(capeval.prefer(PAIRS, scores=path)) == ["mine"]
    for name, value in {
        "draws": 7,
        "references_per_pair": None,
        "draw_seed": 1,
        "own_reference": "skip",
        "surplus": "ignore",
    }.items():
        with pytest.raises(ValueError, match=f"^{name}: no effect when scores are given"):
            capeval.prefer(PAIRS, scores=path, **{name: value})
    rated = [{"image_id": 1, "caption": "a dog runs", "rating": 1}]
    with pytest.raises(ValueError, match="^own_reference: no effect when scores are given"):
        capeval.correlate(rated, scores=path, own_reference="skip")
