"""Captions in all shapes that people have, and words for those that cannot be read."""

from __future__ import annotations

import io
import json
import pickle

import numpy as np
import pytest

import capeval
from capeval.arrow import RowScorer
from capeval.reward import CiderD, Reward

REFERENCES = {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}
CANDIDATES = {1: "a dog runs", 2: "two dogs"}
LIST = [REFERENCES[1], REFERENCES[2]]


def score(references=REFERENCES, candidates=CANDIDATES, **options):
    return capeval.score(references, candidates, "cider-d", **options)["cider-d"]


EXPECTED = score()


def backwards(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({**columns, "caption": ["two dogs", "a dog runs"]})


@pytest.mark.parametrize("name", ["img_id", "imgid", "Image ID", "video_id", "cocoid", "key", "sample_id", "filename"])
def test_columns_of_ids_are_known_by_name(name):
    assert score(candidates=backwards(**{name: [2, 1]})) == EXPECTED


def test_the_named_index_of_a_frame_is_the_id():
    for name in ("image_id", "anything"):
        assert score(candidates=backwards(**{name: [2, 1]}).set_index(name)) == EXPECTED
    by_text = {str(key): captions for key, captions in REFERENCES.items()}
    frame = backwards()
    frame.index = ["2", "1"]
    assert score(by_text, frame) == EXPECTED
    # A known column comes before an index under another name.
    assert score(candidates=backwards(image_id=[2, 1], row=[8, 9]).set_index("row")) == EXPECTED


def test_a_frame_without_a_known_id_column_is_not_matched_by_row_number():
    pandas = pytest.importorskip("pandas")
    frame = backwards(foo=[2, 1])
    with pytest.raises(ValueError, match="candidates: no column is known to hold image ids.* pass id_column="):
        score(candidates=frame)
    with pytest.raises(ValueError, match="pass id_column="):
        capeval.Evaluator(REFERENCES, "cider-d").score(frame)
    assert score(candidates=frame, id_column="foo") == EXPECTED
    with pytest.raises(ValueError, match='no column "fo"; the columns are "foo", "caption"'):
        score(candidates=frame, id_column="fo")
    references = pandas.DataFrame({"foo": [2, 1], "references": [LIST[1], LIST[0]]})
    with pytest.raises(ValueError, match="references: no column is .* pass ref_id_column="):
        score(references)
    assert score(references, ref_id_column="foo") == EXPECTED
    assert score(LIST, backwards()[::-1].reset_index(drop=True)) == EXPECTED
    named = frame.rename(columns={"caption": "said"})
    assert score(candidates=named, id_column="foo", caption_column="said") == EXPECTED


def test_columns_and_arrays_are_captions_by_position_or_by_index():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    texts = list(CANDIDATES.values())
    for column in (pandas.Series(texts), polars.Series(texts), pyarrow.chunked_array([texts]), np.array(texts), tuple(texts)):
        assert score(LIST, column) == EXPECTED
    assert score(candidates=pandas.Series(CANDIDATES)) == EXPECTED
    table = pyarrow.table({"image_id": [1, 2], "caption": texts})
    for source in (table, table.to_reader(), table.to_batches()[0], polars.from_arrow(table).lazy()):
        assert score(candidates=source) == EXPECTED


def test_records_and_coco_objects():
    assert score([{"image_id": key, "references": texts} for key, texts in REFERENCES.items()]) == EXPECTED
    assert score([{"image_id": key, "sentences": [{"raw": text} for text in texts], "captions": texts}
                  for key, texts in REFERENCES.items()]) == EXPECTED

    class Coco:
        """As pycocotools' COCO."""

        def __init__(self, annotations):
            self.dataset = {"annotations": annotations}
            self.imgToAnns = {}

    references = Coco([{"image_id": key, "caption": text} for key, texts in REFERENCES.items() for text in texts])
    assert score(references, Coco([{"image_id": key, "caption": text} for key, text in CANDIDATES.items()])) == EXPECTED


class Picture:
    """As a picture of PIL."""


class Dataset:
    """As a datasets.Dataset in Flickr30k's shape; reading its pictures is an error."""

    columns = {
        "image": None,
        "caption": [*LIST, ["not of this split"]],
        "split": ["test", "test", "train"],
        "img_id": ["1", "2", "3"],
        "filename": ["1.jpg", "2.jpg", "3.jpg"],
    }
    column_names = list(columns)
    features = {"image": type("Image", (), {})()}

    def __getitem__(self, name):
        assert name != "image"
        return self.columns[name]


def test_datasets_have_splits_and_pictures_that_are_not_ids():
    by_file = {f"{key}.jpg": text for key, text in CANDIDATES.items()}
    by_id = {str(key): text for key, text in CANDIDATES.items()}
    assert score(Dataset(), by_file, split="test") == EXPECTED
    assert score(Dataset(), by_id, split=["test"], ref_id_column="img_id") == EXPECTED
    with pytest.raises(ValueError, match="no row is of the split val; there are 'test', 'train'"):
        score(Dataset(), by_id, split="val")

    class Splits(dict):
        """As a datasets.DatasetDict."""

        column_names = {"test": Dataset.column_names}

    with pytest.raises(ValueError, match=r"several splits \('test', 'val'\); pass one of them, as in references\['test'\]"):
        score(Splits(test=1, val=2))
    rows = [{"image": Picture(), "image_id": key, "caption": text} for key, text in CANDIDATES.items()]
    assert score(candidates=rows) == EXPECTED
    rows = [{"image": np.zeros((2, 2)), "img_id": key, "caption": text} for key, text in CANDIDATES.items()]
    assert score(candidates=rows) == EXPECTED
    rows = [{"image": Picture(), "img_id": key, "caption": text} for key, text in CANDIDATES.items()]
    assert score(candidates=rows) == EXPECTED
    pandas = pytest.importorskip("pandas")
    assert score(candidates=pandas.DataFrame(rows)) == EXPECTED


def test_files_are_read_by_the_same_options_as_on_the_command_line(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("foo,said\n2,two dogs\n1,a dog runs\n")
    assert score(candidates=path, id_column="foo", caption_column="said", input_format="csv") == EXPECTED
    references = tmp_path / "references.csv"
    references.write_text("foo,said\n" + "".join(f"{key},{text}\n" for key, texts in REFERENCES.items() for text in texts))
    options = {"ref_id_column": "foo", "ref_caption_columns": "said", "ref_format": "csv"}
    assert score(references, **options) == EXPECTED
    evaluator = capeval.Evaluator(references, "cider-d", **options)
    assert evaluator.score(CANDIDATES)["cider-d"] == EXPECTED
    table = capeval.DocumentFrequencies.build(references, **options)
    assert score(document_frequencies=table) == EXPECTED
    with pytest.raises(ValueError, match="split"):
        score(references, split="test", **options)


def test_tokenizer_and_language_model_have_names_of_their_own(tmp_path):
    assert capeval.score(REFERENCES, CANDIDATES, "cider-d", tokenizer="13a").signatures["cider-d"].count("tok:13a") == 1
    with pytest.raises(FileNotFoundError, match=r"none\.arpa"):
        capeval.score(REFERENCES, CANDIDATES, "perplexity", lm=tmp_path / "none.arpa")
    report = capeval.diversity(REFERENCES, train=["two cats"])
    assert report["div-1"] > 0 and "novel" in report.scores
    measures = pickle.loads(pickle.dumps(report)).measures
    assert (measures["div-1"].higher_is_better, measures["mean-length"].higher_is_better) == (True, None)


ROWS = {"candidate": ["a", "b", "c"], "references": [["a", "b"], ["c", "d"], ["x", "y"]]}


def rows(**changes):
    return pytest.importorskip("pyarrow").table({**ROWS, **changes})


WRONG = [
    (lambda: score(settings={"sigmma": 4}), ValueError, "no metric has a setting 'sigmma'; did you mean sigma"),
    (lambda: score(settings={"beta": 3}), ValueError, "no chosen metric has the setting 'beta', only rouge-l, chrf, .*leave"),
    (lambda: score({1: {"a", "b"}}), TypeError, "references: image 1: .* not set, which has no order; pass a list"),
    (lambda: score(candidates={"a", "b"}), TypeError, "candidates: a set has no order; pass a list"),
    (lambda: score(io.StringIO("a")), TypeError, "references: pass the path of the file, not an open file"),
    (lambda: score(candidates=b"a"), TypeError, "captions must be a path, .* not bytes"),
    (lambda: score(images="391"), TypeError, r"images must be a list, not the string '391'; write \['391'\]"),
    (lambda: capeval.score(REFERENCES, systems=["a"]), TypeError, "systems must be a dictionary"),
    (lambda: capeval.score(REFERENCES, CANDIDATES, 5), TypeError, "metrics must be names in a list"),
    (lambda: capeval.score(REFERENCES, CANDIDATES, {"bleu": 1}), TypeError, "metrics must be names in a list.*dict"),
    (lambda: score(document_frequencies=[1]), TypeError, "document_frequencies must be a capeval.DocumentFrequencies or the path"),
    (lambda: score(threads="2"), TypeError, "threads must be a whole number, not '2'"),
    (lambda: score(intervals="yes"), TypeError, "intervals must be True, False or a level"),
    (lambda: score(intervals=True, resamples="x"), TypeError, "resamples must be a whole number, not 'x'"),
    (lambda: score(intervals=True, resamples=-1), ValueError, "resamples must be a whole number from 1 to 10000000, not -1"),
    (lambda: score(intervals=True, seed=-1), ValueError, "seed must be a whole number from 0"),
    (lambda: score(progress="yes"), TypeError, "progress must be True, False or a function, not 'yes'"),
    (lambda: score(progress=1), TypeError, "progress must be True, False or a function, not 1"),
    (lambda: score(candidates=[{"image_id": 1, "caption": "a"}, {"image_id": None, "caption": "b"}]), TypeError,
     r"candidates: item 1 \(from 0\): an image id must be"),
    (lambda: score([{"image_id": 1, "said": "a"}]), ValueError, "item 0 .* has no 'caption'; pass ref_caption_columns=… to name"),
    (lambda: score(candidates=[{"caption": "a"}]), ValueError, "candidates: no column is known to hold image ids, but the references have ids: 1, 2; pass id_column="),
    (lambda: score(settings="tok=13a"), TypeError, "settings must be a dictionary"),
    (lambda: score({1.0: ["a"]}), TypeError, "not float 1.0; convert the ids to integers or strings"),
    (lambda: capeval.score({1: ["a"]}, systems={5: {1: "a"}}), TypeError, "a system is named by a string, not 5"),
    (lambda: capeval.score({1: ["a"]}, systems={"": {1: "a"}}), ValueError, "the name of a system is empty"),
    (lambda: capeval.DocumentFrequencies.from_counts({"a dog": 3}, 5), TypeError, "a tuple of words, not 'a dog'; split"),
    (lambda: capeval.DocumentFrequencies.from_counts({5: 3}, 5), TypeError, "a tuple of words, not 5"),
    (lambda: capeval.DocumentFrequencies.from_counts({("a",): "3"}, 5), TypeError, "must be a number, not str"),
    (lambda: capeval.score(REFERENCES, CANDIDATES, "bleu").to_html(digits=-1), ValueError, "digits must be a whole number from 0"),
    (lambda: capeval.score(REFERENCES, CANDIDATES, "bleu").to_markdown("3"), TypeError, "digits must be a whole number"),
    (lambda: capeval.tokenize(5), TypeError, "tokenize takes a text or a list of texts, not int"),
    (lambda: CiderD(REFERENCES).score([1], "a dog"), TypeError, r"captions must be a list.* write \['a dog'\]"),
    (lambda: CiderD({1: ["1 2"]}, tokens=True).score([1], ["a dog"]), TypeError, "made for token ids, but captions are texts"),
    (lambda: CiderD(REFERENCES, tokens=True), ValueError, "references are token ids, but 'a dog runs' is a text"),
    (lambda: CiderD(REFERENCES, words="abc"), TypeError, "words must be a list"),
    (lambda: Reward(REFERENCES, ["cider-d"]), TypeError, "weights must map measures to numbers"),
    (lambda: RowScorer("bleu").scores(rows(), keep="id"), TypeError, r"keep must be a list.* write \['id'\]"),
    (lambda: RowScorer("bleu").scores(rows(references=[["a"], [], ["b"]])), ValueError,
     r"column 'references', row 1 \(from 0\): no references; pass surplus=\"ignore\" to leave such rows out"),
    (lambda: RowScorer("bleu").scores(rows(references=[["a", "b"], ["c", "d"], ["x", None]])), ValueError,
     r"column 'references', row 2 \(from 0\): null instead of a reference"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), WRONG, ids=[str(k) for k in range(len(WRONG))])
def test_what_cannot_be_read_is_refused_with_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_rows_of_errors_count_over_all_batches():
    pyarrow = pytest.importorskip("pyarrow")
    first, second = rows(), rows(candidate=pyarrow.array(["a", None, "b"]))
    with pytest.raises(ValueError, match=r"column 'candidate', row 4 \(from 0\): null"):
        RowScorer("bleu").scores(pyarrow.concat_tables([first, second]))
    # Records of several captions count once.
    twice = [{"image_id": 1, "caption": ["a", "b"]}, {"image_id": 2, "caption": "b"}, {"image_id": 2, "caption": "c"}]
    with pytest.raises(ValueError, match="image 1|several candidates"):
        score(candidates=twice)


def test_empty_tables_keep_their_columns_and_have_no_corpus_score():
    scorer = RowScorer(["bleu"])
    empty = rows().slice(0, 0)
    assert scorer.scores(empty, keep=["candidate"]).column_names == ["candidate", "bleu-1", "bleu-2", "bleu-3", "bleu-4"]
    none = scorer.scores(rows().schema.empty_table())
    assert none.num_rows == 0 and none.column_names == ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]
    with pytest.raises(ValueError, match="no rows of statistics.* at least one row"):
        scorer.corpus(scorer.statistics(empty))


KARPATHY = {
    "images": [
        {"split": "test", "cocoid": 9, "filename": "a.jpg", "sentences": [{"raw": "a dog runs"}, {"raw": "dogs"}]},
        {"split": "train", "cocoid": 10, "filename": "b.jpg", "sentences": [{"raw": "a cat"}]},
    ]
}


def test_karpathys_file_may_be_loaded_before(tmp_path):
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(KARPATHY))
    expected = capeval.score(path, {9: "a dog runs"}, "bleu", split="test")
    assert capeval.score(KARPATHY, {9: "a dog runs"}, "bleu", split="test").scores == expected.scores
    with pytest.raises(ValueError, match="no row is of the split val; there are 'test', 'train'"):
        capeval.score(KARPATHY, {9: "a dog runs"}, "bleu", split="val")


@pytest.mark.parametrize("name", ["sentences", "sentences_raw"])
def test_lists_of_sentences_are_references(name):
    rows = [{"cocoid": 9, name: ["a dog runs", "dogs"]}]
    expected = capeval.score({9: ["a dog runs", "dogs"]}, {9: "a dog runs"}, "bleu")
    assert capeval.score(rows, {9: "a dog runs"}, "bleu").scores == expected.scores


def test_a_row_without_an_id_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"image_id": [1, 2, None], "caption": ["a dog", "a cat", "a bus"]})
    with pytest.raises(TypeError, match=r"candidates: row 2 \(from 0\) has no id in the column 'image_id'; leave it out"):
        score(candidates=frame)
