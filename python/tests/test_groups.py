"""Scores of groups of images, and numbers made of measures."""

from __future__ import annotations

from pathlib import Path

import pytest

import capeval

REFERENCES = {
    1: ["a dog runs on a hill", "the dog ran"],
    2: ["two cats sit", "cats on a sofa"],
    3: ["a red bus stops", "the bus is red"],
    4: ["a kite in the sky", "one kite"],
}
MINE = {1: "a dog runs", 2: "two dogs sit", 3: "a red bus", 4: "a kite in a hand"}
KINDS = {1: "animal", 2: "animal", 3: "thing", 4: "thing"}
METRICS = ["bleu", "rouge-l", "cider-d"]


def alone(ids: list[int]) -> dict[str, float]:
    """The scores of some images by a run of their own."""
    return dict(capeval.score({id: REFERENCES[id] for id in ids}, {id: MINE[id] for id in ids}, METRICS).scores)


def test_each_form_of_groups_gives_the_same_scores(tmp_path: Path) -> None:
    expected = {"animal": {"candidates": alone([1, 2])}, "thing": {"candidates": alone([3, 4])}}
    by_group = {"animal": [1, 2], "thing": [3, 4]}
    file = tmp_path / "kinds.csv"
    file.write_text("id,kind\n" + "".join(f"{id},{kind}\n" for id, kind in KINDS.items()))
    for groups in (KINDS, by_group, {"kind": KINDS}, file, str(file), f"{file}:kind", [KINDS]):
        report = capeval.score(REFERENCES, MINE, METRICS, groups=groups)
        assert list(report.groups.values()) == [expected], groups
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"image_id": list(MINE), "caption": list(MINE.values()), "kind": list(KINDS.values())})
    for groups in (pandas.Series(KINDS, name="kind"), frame[["image_id", "kind"]]):
        assert list(capeval.score(REFERENCES, MINE, METRICS, groups=groups).groups.values()) == [expected]
    assert capeval.score(REFERENCES, frame, METRICS, groups="kind").groups == {"kind": expected}


def test_both_rules_and_built_in_properties() -> None:
    own = capeval.score(REFERENCES, MINE, METRICS, groups=KINDS)
    all = capeval.score(REFERENCES, MINE, METRICS, groups=KINDS, group_df="all", segments=True)
    assert own.scores == all.scores
    assert "<p>by groups</p>" in own._repr_html_()
    segments = all.segments["cider-d"]
    assert all.groups["groups"]["animal"]["candidates"]["cider-d"] == pytest.approx(float(segments[:2].mean()), abs=1e-12)
    assert all.groups["groups"] != own.groups["groups"]
    prepared = capeval.Evaluator(REFERENCES, METRICS).score(MINE, groups=KINDS)
    assert prepared.groups == own.groups
    lengths = capeval.score(REFERENCES, MINE, "bleu", groups=["words:candidate=3", "references:count"])
    assert {by: list(groups) for by, groups in lengths.groups.items()} == {
        "words:candidate=3": ["0-3", "4+"],
        "references:count": ["2"],
    }
    comparison = capeval.compare(REFERENCES, {"a": MINE, "b": {**MINE, 1: "a cat"}}, METRICS, groups=KINDS)
    assert list(comparison.report.groups["groups"]["animal"]) == ["a", "b"]


def test_what_groups_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing groups images by 'domain'"):
        capeval.score(REFERENCES, MINE, METRICS, groups="domain")
    with pytest.raises(ValueError, match="is the id of an image"):
        capeval.score(REFERENCES, MINE, METRICS, groups={71: "a"})
    with pytest.raises(TypeError, match="groups must be the name of a column"):
        capeval.score(REFERENCES, MINE, METRICS, groups=5)
    with pytest.raises(ValueError, match="group_df|own"):
        capeval.score(REFERENCES, MINE, METRICS, groups=KINDS, group_df="some")  # type: ignore[arg-type]


def test_derived_numbers() -> None:
    report = capeval.score(REFERENCES, MINE, METRICS, derive={"sm": "mean(bleu-4, rouge-l)", "twice": "2*sm"}, intervals=True)
    assert report["sm"] == pytest.approx((report["bleu-4"] + report["rouge-l"]) / 2, abs=1e-15)
    assert report["twice"] == pytest.approx(2 * report["sm"], abs=1e-15)
    assert set(report.intervals) == set(report)
    with pytest.raises(ValueError, match="nothing is called 'meteor'"):
        capeval.score(REFERENCES, MINE, METRICS, derive={"sm": "mean(bleu-4, meteor)"})
    with pytest.raises(TypeError, match="derive must be a dictionary"):
        capeval.score(REFERENCES, MINE, METRICS, derive="sm = bleu-4")  # type: ignore[arg-type]


def test_other_functions_treat_a_group_as_if_it_were_alone() -> None:
    ratings = [
        {"image_id": image, "caption": caption, "rating": (image * 3 + k) % 5}
        for image in REFERENCES
        for k, caption in enumerate(["a dog runs", "two cats", "a red bus"])
    ]
    pairs = [
        {"image_id": image, "captions": ["a dog runs", "two cats"], "votes": [image, 2]} for image in REFERENCES
    ]
    animals = {image for image, kind in KINDS.items() if kind == "animal"}
    references = {image: REFERENCES[image] for image in animals}

    def some(rows: list[dict[str, object]]) -> list[dict[str, object]]:
        return [row for row in rows if row["image_id"] in animals]

    found = capeval.correlate(ratings, REFERENCES, METRICS, groups=KINDS)
    alone = capeval.correlate(some(ratings), references, METRICS)
    assert found.groups["groups"]["animal"] == alone.agreements
    chosen = capeval.prefer(pairs, REFERENCES, METRICS, groups={"kind": KINDS}, human_ties="half")
    assert chosen.groups["kind"]["animal"] == capeval.prefer(some(pairs), references, METRICS).accuracies
    tagged = [{**row, "kind": KINDS[row["image_id"]]} for row in ratings]
    assert capeval.correlate(tagged, REFERENCES, METRICS, groups="kind").groups == {"kind": found.groups["groups"]}
    varied = capeval.diversity(REFERENCES, REFERENCES, ["div", "self-cider"], groups=KINDS)
    expected = capeval.diversity(references, references, ["div", "self-cider"])
    assert varied.groups["groups"]["animal"]["candidates"] == dict(expected.scores)
    human = capeval.score(REFERENCES, metrics=METRICS, human=True, groups=KINDS)
    expected = capeval.score(references, metrics=METRICS, human=True)
    assert human.groups["groups"]["animal"]["human"] == dict(expected.scores)
