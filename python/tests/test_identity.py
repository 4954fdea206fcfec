"""Which rows of tables describe the same image: never the wrong ones without a word."""

import datetime
import decimal
import uuid
import warnings

import pytest

import capeval

CAPTIONS = ["a man rides a brown horse", "two dogs play in the snow", "a red bus on the street"]
ORDER = [2, 0, 1]

# Columns of ids in data sets; the package knows none of these names.
UNKNOWN = [
    *("question_id", "uid", "idx", "index", "qid", "doc_id", "pid", "clip", "youtube_id", "ytid", "audiocap_id"),
    *("sound_id", "wav", "segment_id", "path", "img_path", "photo", "url", "kennung", "编号"),
]


def rows(columns):
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def tables():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    kinds = {
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "lazy": lambda columns: polars.DataFrame(columns).lazy(),
        "pyarrow": pyarrow.table,
        "dictionaries": rows,
    }
    try:
        import datasets
    except ImportError:
        return kinds
    return {**kinds, "datasets": datasets.Dataset.from_dict}


def cider_d(references, candidates, **options):
    """CIDEr-D, which is 10 where each caption meets itself, and the codes of notices about matching."""
    report = capeval.score(references, candidates, metrics="cider-d", **options)
    told = {"id-column", "labels", "row-numbers", "lists-in-text"}
    # A notice of the reading says which column has the ids, too.
    codes = {"id-column" if notice.code == "reading" else notice.code for notice in report.notices}
    return round(report["cider-d"], 6), sorted(codes & told)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_shared_column_identifies_rows_whatever_it_is_called(name):
    for kind, table in tables().items():
        for ids in ([7, 8, 9], [0, 1, 2], ["x7.wav", "x8.wav", "x9.wav"]):
            references = table({name: ids, "caption": CAPTIONS})
            candidates = table({name: [ids[k] for k in ORDER], "caption": [CAPTIONS[k] for k in ORDER]})
            value, told = cider_d(references, candidates)
            # The name img_path is taken for that of an image, without a word.
            assert (value, set(told) - {"id-column"}) == (10.0, set()), (kind, ids)
            with pytest.raises(ValueError, match="column"):
                cider_d(references, table({"caption": [CAPTIONS[k] for k in ORDER]}))


def test_a_row_number_gives_way_to_the_real_key():
    for table in tables().values():
        references = table({"id": [0, 1, 2], "url": ["a", "b", "c"], "caption": CAPTIONS})
        candidates = table({"id": [0, 1, 2], "url": ["c", "a", "b"], "caption": [CAPTIONS[k] for k in ORDER]})
        assert cider_d(references, candidates)[0] == 10.0
        said = capeval.score(references, candidates, "cider-d").notices
        assert any('"url"' in notice.message for notice in said)


def test_rows_are_matched_in_order_only_where_nothing_identifies_them():
    for table in tables().values():
        assert cider_d(table({"caption": CAPTIONS}), table({"caption": CAPTIONS})) == (10.0, ["row-numbers"])
        with pytest.raises(ValueError, match='"clip" could, and the candidates have no such column; pass ref_id_column='):
            cider_d(table({"clip": ["a", "b", "c"], "caption": CAPTIONS}), table({"caption": CAPTIONS}))
    assert cider_d([[text] for text in CAPTIONS], CAPTIONS) == (10.0, [])


def test_labels_of_an_index_without_a_name_are_ids_if_both_sides_have_the_same():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"caption": CAPTIONS})
    text = pandas.Series(CAPTIONS, index=["a", "b", "c"])
    for references, candidates in (
        (frame, frame.iloc[ORDER]),
        (frame["caption"], frame["caption"].iloc[ORDER]),
        (frame, frame["caption"].iloc[ORDER]),
        (text, text.iloc[ORDER]),
        (dict(text), text.iloc[ORDER]),
        (text, dict(text.iloc[ORDER])),
    ):
        assert cider_d(references, candidates) == (10.0, ["labels"])
    for references, candidates in (
        (frame, frame.iloc[[0, 2]]),
        (text, text.rename({"c": "d"})),
        (CAPTIONS, frame.iloc[ORDER]),
        (dict(text), text.rename({"c": "d"})),
    ):
        with pytest.raises(ValueError, match="labels of its index"):
            cider_d(references, candidates)


def test_lists_that_are_written_as_text_are_read_as_lists():
    pandas = pytest.importorskip("pandas")
    arrays = lambda captions: f"array({captions}, dtype=object)"  # noqa: E731
    for written in (str, lambda captions: '["' + '", "'.join(captions) + '"]', arrays):
        both = written(CAPTIONS[:2])
        references = pandas.DataFrame({"image_id": [1, 2], "caption": [both, written(CAPTIONS[2:])]})
        candidates = {1: written(CAPTIONS[:1]), 2: CAPTIONS[2]}
        expected = cider_d({1: CAPTIONS[:2], 2: CAPTIONS[2:]}, {1: CAPTIONS[0], 2: CAPTIONS[2]})[0]
        for given in (references, rows(references.to_dict("list")), {1: both, 2: written(CAPTIONS[2:])}):
            assert cider_d(given, candidates) == (expected, ["lists-in-text"])


def test_the_drop_in_classes_read_lists_that_are_written_as_text():
    from capeval.compat.pycocoevalcap.cider.cider import Cider
    from capeval.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    plain = {1: CAPTIONS[:2], 2: CAPTIONS[2:]}
    written = {1: [str(CAPTIONS[:2])], 2: [str(CAPTIONS[2:])]}
    results = {1: CAPTIONS[:1], 2: CAPTIONS[2:]}
    with pytest.warns(UserWarning, match="is a list written as text"):
        assert Cider().compute_score(written, results)[0] == Cider().compute_score(plain, results)[0]
    dictionaries = {key: [{"caption": caption} for caption in captions] for key, captions in written.items()}
    with pytest.warns(UserWarning, match="is a list written as text"):
        assert PTBTokenizer().tokenize(dictionaries) == plain
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PTBTokenizer().tokenize({1: [{"caption": "[Music] (loud)"}]}) == {1: ["-lsb- music -rsb- -lrb- loud -rrb-"]}


def test_words_of_a_caption_are_not_captions():
    with pytest.raises(ValueError, match="single word.*; join the words of a caption by spaces"):
        cider_d({1: CAPTIONS[:1], 2: CAPTIONS[1:2]}, {1: CAPTIONS[0].split(), 2: CAPTIONS[1].split()})
    report = capeval.score({1: CAPTIONS[0].split(), 2: CAPTIONS[1].split()}, {1: CAPTIONS[0], 2: CAPTIONS[1]}, "bleu")
    assert "words-as-references" in [notice.code for notice in report.notices]


def test_captions_that_repeat_each_other_look_like_those_of_a_system():
    people = {k: f"caption number {k} of many" for k in range(200)}
    system = {k: f"a man riding horse {k % 20}" for k in range(200)}
    codes = [notice.code for notice in capeval.score(system, people, "bleu").notices]
    assert "swapped" in codes
    assert "swapped" not in [notice.code for notice in capeval.score(people, system, "bleu").notices]


def test_names_of_files_find_the_numbers_of_images_when_asked_for():
    references = {391895: CAPTIONS[:1], 522418: CAPTIONS[1:2]}
    names = [
        ("COCO_val2014_000000391895.jpg", "COCO_val2014_000000522418.jpg"),
        ("val2014/COCO_val2014_000000391895.jpg", "val2014/COCO_val2014_000000522418.jpg"),
        ("000000391895", "000000522418"),
        ("391895.jpg", "522418.jpg"),
    ]
    for first, second in names:
        candidates = {second: CAPTIONS[1], first: CAPTIONS[0]}
        assert cider_d(references, candidates, ids="file-name")[0] == 10.0
        with pytest.raises(ValueError, match='is 522418 there, .* pass ids="file-name" to compare the names of files'):
            cider_d(references, candidates)
    with pytest.raises(ValueError, match="name the same file"):
        cider_d({"a/1.jpg": ["x"], "b/1.jpg": ["y"]}, {"1": "x"}, ids="file-name")


def turned(values):
    return [values[k] for k in ORDER]


def framed(ids, name="clip", other=None, other_name=None):
    """Two frames of the same captions in different orders, with ids of any kind."""
    pandas = pytest.importorskip("pandas")
    there = turned(ids) if other is None else other
    references = pandas.DataFrame({name: ids, "caption": CAPTIONS})
    return references, pandas.DataFrame({other_name or name: there, "caption": turned(CAPTIONS)[: len(there)]})


def kinds_of_ids():
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    return {
        "uuid": [uuid.UUID(int=k) for k in (5, 6, 7)],
        "dates": [datetime.datetime(2020, 1, k) for k in (1, 2, 3)],
        "categories": pandas.Categorical(["a", "b", "c"]),
        "nullable": pandas.array([7, 8, 9], dtype="Int64"),
        "floats": [7.0, 8.0, 9.0],
        "bytes": [b"a", b"b", b"c"],
        "numpy": numpy.array(["a", "b", "c"]),
        "decimals": [decimal.Decimal(k) for k in (7, 8, 9)],
        "long texts": ["what is it?", "who is there?", "where does it go?"],
        "other scripts": ["猫", "狗", "кот"],
        "paths": ["a/1.jpg", "b/1.jpg", "a/2.jpg"],
        "great numbers": [2**62, 2**62 + 1, 2**62 + 2],
        "negative numbers": [-1, -2, -3],
    }


@pytest.mark.parametrize("kind", kinds_of_ids())
def test_ids_of_any_kind_identify_rows(kind):
    assert cider_d(*framed(kinds_of_ids()[kind])) == (10.0, ["id-column"])


@pytest.mark.parametrize(("pair", "words"), [
    (lambda: framed(["7", "8", "9"], other=[9, 7, 8]), 'is on both sides, but with other values: .*; pass ids="text"'),
    (lambda: framed(["a.jpg", "b.jpg", "c.jpg"], other=["c", "a", "b"]), 'written in another way; pass ids="file-name"'),
    (lambda: framed(["a ", "b ", "c "], other=["c", "a", "b"]), 'written in another way; pass ids="loose"'),
    (lambda: framed(["A", "B", "C"], other=["c", "a", "b"]), 'written in another way; pass ids="loose"'),
    (lambda: framed(["a", "b", "c"], other=["c", "a", "a"]), "rows share its values"),
    (lambda: framed([7, 8, 9], name="image_id", other_name="qid"), 'pass id_column="qid" to use "qid", whose values are ids'),
    (lambda: framed([7, 8, 9], other_name="image_id"), 'pass ref_id_column="clip" to use "clip", whose values are ids'),
    (lambda: framed([7, 8, 9], name="image_id", other=[0, 1, 2], other_name="id"), "none of its image ids"),
    (lambda: framed(["a", "b", "c"], name="name", other=[0, 1, 2], other_name="id"), "none of its image ids"),
    (lambda: ({"a": CAPTIONS[:1], "b": CAPTIONS[1:2]}, CAPTIONS[:2]), "none of its image ids"),
    (lambda: ([[text] for text in CAPTIONS], dict(enumerate(CAPTIONS, 1))), "no reference"),
    (lambda: (dict(enumerate([[text] for text in CAPTIONS], 1)), rows({"caption": CAPTIONS})), "the references have ids"),
])  # fmt: skip
def test_rows_that_cannot_be_matched_are_refused(pair, words):
    with pytest.raises(ValueError, match=words):
        cider_d(*pair())


def test_keys_of_one_side_are_values_of_the_other():
    assert cider_d(*framed(["a", "b", "c"], other_name="qid"))[0] == 10.0
    assert cider_d(rows({"url": ["a", "b", "c"], "caption": CAPTIONS}), dict(zip("cab", turned(CAPTIONS))))[0] == 10.0


def test_other_shapes_are_matched_by_what_they_share():
    pandas = pytest.importorskip("pandas")
    references, candidates = framed(["a", "b", "c"])
    levels = pandas.MultiIndex.from_tuples([("a", 0), ("a", 1), ("b", 0)])
    series = pandas.Series(CAPTIONS, index=levels)
    for given, described in (
        (references.set_index("clip"), candidates),
        (references, candidates.rename(columns={"clip": "Clip"})),
        (references.assign(caption_2=CAPTIONS).rename(columns={"caption": "caption_1"}), candidates),
        (pandas.concat([references, references]), candidates),
        (references.assign(id=[5, 6, 7]), candidates.assign(id=[0, 1, 2])),
        (references.assign(split="test"), candidates.assign(model="m", score=[0.5, 0.25, 0.75])),
        (series, series.iloc[ORDER]),
    ):
        value, told = cider_d(given, described)
        assert value == 10.0 and told in (["id-column"], ["labels"])
    assert cider_d(pandas.Series(CAPTIONS, index=pandas.Index([*"abc"], name="x")), dict(zip("cab", turned(CAPTIONS))))[0] == 10.0
    report = capeval.score({2: CAPTIONS[2:], 0: CAPTIONS[:1], 1: CAPTIONS[1:2]}, turned(CAPTIONS), "bleu")
    assert "line-numbers" in [notice.code for notice in report.notices]
