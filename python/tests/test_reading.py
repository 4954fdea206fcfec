"""Frames and other values in memory, read by what is in them: as files are."""

import math

import pytest

import capeval

WHO = ["dog", "woman", "red train", "surfer", "clock tower"]
PLACES = ["on the beach", "in a kitchen", "near a bridge", "under tall trees"]
IDS = [f"im_{100 + 7 * k}" for k in range(20)]
CAPTIONS = [f"there is a {WHO[k % 5]} {PLACES[k % 4]}" for k in range(20)]
REFERENCES = [[f"one {WHO[k % 5]} is {PLACES[k % 4]} today", f"the {WHO[k % 5]} waits {PLACES[k % 4]}"] for k in range(20)]


def libraries():
    """The libraries of tables that are installed, as functions from columns."""
    found = {"columns": lambda columns: columns, "rows": lambda columns: [dict(zip(columns, row)) for row in zip(*columns.values())]}
    try:
        import pandas

        found["pandas"] = pandas.DataFrame
        found["pandas index"] = lambda columns: pandas.DataFrame(columns).set_index(next(iter(columns)))
    except ImportError:
        pass
    try:
        import polars

        found["polars"] = polars.DataFrame
        found["lazy polars"] = polars.LazyFrame
    except ImportError:
        pass
    try:
        import pyarrow

        found["pyarrow"] = pyarrow.table
    except ImportError:
        return found
    try:
        import duckdb
    except ImportError:
        return found

    def relation(columns):
        cells = pyarrow.table(columns)  # noqa: F841 (DuckDB finds it by its name)
        return duckdb.connect().sql("select * from cells")

    found["duckdb"] = relation
    return found


CANDIDATE_COLUMNS = [
    {"picture": IDS, "said": CAPTIONS},
    {"picture": IDS, "text": ["Describe the picture."] * 20, "said": CAPTIONS, "score": [0.5] * 20},
    {"n": list(range(20)), "picture": IDS, "truth": [texts[0] for texts in REFERENCES], "said": CAPTIONS},
    {"image_id": IDS, "caption": CAPTIONS},
]
REFERENCE_FORMS = {
    "dictionary": dict(zip(IDS, REFERENCES)),
    "lists": {"file": IDS, "people": REFERENCES},
    "numbered": {"file": IDS, "caption_1": [texts[0] for texts in REFERENCES], "caption_2": [texts[1] for texts in REFERENCES]},
    "rows": {"id": [key for key in IDS for _ in range(2)], "human": [text for texts in REFERENCES for text in texts]},
}
EXPECTED = capeval.score(dict(zip(IDS, REFERENCES)), dict(zip(IDS, CAPTIONS)), "cider-d").scores


@pytest.mark.parametrize("library", libraries())
@pytest.mark.parametrize("form", REFERENCE_FORMS)
def test_frames_are_read_beside_every_other_form(library, form):
    table = libraries()[library]
    columns = REFERENCE_FORMS[form]
    references = columns if form == "dictionary" else table(columns)
    for candidates in CANDIDATE_COLUMNS:
        report = capeval.score(references, table(candidates), "cider-d")
        assert report.scores == EXPECTED, list(candidates)


@pytest.mark.parametrize("library", libraries())
def test_two_systems_in_one_frame_are_refused_with_both_named(library):
    table = libraries()[library]({"picture": IDS, "first": CAPTIONS, "second": [f"{text} here" for text in CAPTIONS]})
    with pytest.raises(ValueError, match='"first" and "second" could both hold captions; pass caption_column'):
        capeval.score(REFERENCE_FORMS["dictionary"], table, "cider-d")
    report = capeval.score(REFERENCE_FORMS["dictionary"], table, "cider-d", caption_column="first")
    assert report.scores == EXPECTED


def test_values_that_are_no_captions_are_refused_as_before():
    for candidates in ({1: ["a dog", 3]}, {1: {"a dog"}}, [{"image_id": 1, "caption": 5}]):
        with pytest.raises((TypeError, ValueError)):
            capeval.score({1: ["a dog"]}, candidates, "bleu")


def test_ids_are_made_of_columns():
    rows = [{"scene": f"s{k // 2}", "object": k % 2, "said": text} for k, text in enumerate(CAPTIONS)]
    references = {f"s{k // 2}|{k % 2}": texts for k, texts in enumerate(REFERENCES)}
    with pytest.raises(ValueError, match=r'pass id_column="\{scene\}\|\{object\}" to join them'):
        capeval.score(references, rows, "cider-d")
    assert capeval.score(references, rows, "cider-d", id_column="{scene}|{object}").scores == EXPECTED
    with pytest.raises(ValueError, match=r'pass ref_id_column="v_\{\}"'):
        capeval.score(dict(zip(IDS, REFERENCES)), {f"v_{key}": text for key, text in zip(IDS, CAPTIONS)}, "cider-d")
    prefixed = {f"v_{key}": text for key, text in zip(IDS, CAPTIONS)}
    assert capeval.score(dict(zip(IDS, REFERENCES)), prefixed, "cider-d", ref_id_column="v_{}").scores == EXPECTED


def test_an_inspection_says_what_is_read_and_why():
    found = capeval.inspect(CANDIDATE_COLUMNS[1] | {"other": CAPTIONS[::-1]}, REFERENCE_FORMS["dictionary"])
    ground, candidates = found.sources
    assert (ground["captions"], ground["images"]) == (40, 20)
    assert (candidates["id"]["columns"], candidates["id"]["because"]) == (["picture"], "shared")
    assert (candidates["caption"]["columns"], candidates["caption"]["because"]) == (["said"], "words")
    assert candidates["pairing"]["by"] == "ids" and candidates["pairing"]["t"] > 3 and math.isfinite(candidates["pairing"]["t"])
    assert candidates["examples"][0] == [IDS[0], CAPTIONS[0]] and found.refusals == []
    assert 'pass caption_column="other"' in str(found)
    refused = capeval.inspect(dict(zip("abc", CAPTIONS)), REFERENCE_FORMS["dictionary"])
    assert "none of its image ids" in refused.refusals[0]
    with pytest.raises(ValueError, match="nothing to inspect"):
        capeval.inspect()


def test_pairs_are_looked_at_unless_that_is_off():
    shifted = CAPTIONS[1:] + CAPTIONS[:1]
    many = [f"{text} w{k} v{k * 7 % 89}" for k, text in enumerate(CAPTIONS * 5)]
    references = [[f"{text} u{k}"] for k, text in enumerate(many)]
    turned = many[::-1]
    said = capeval.score(references, turned, "bleu").notices
    assert any(notice.code == "pairing" for notice in said)
    assert not any(notice.code == "pairing" for notice in capeval.score(references, turned, "bleu", pairing="off").notices)
    report = capeval.score(references, many, "bleu")
    assert report.to_dict()["reading"][1]["pairing"]["by"] == "position" if hasattr(report, "to_dict") else True
    assert "paired by position" in str(report)
    assert "paired by position" not in str(capeval.score(dict(zip(IDS, REFERENCES)), dict(zip(IDS, shifted)), "bleu"))
