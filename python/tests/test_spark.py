"""Spark: the digits of `score`, whatever the partitions; run on Sail, which speaks Spark Connect without Java."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import capeval

pytest.importorskip("pyarrow")
pysail = pytest.importorskip("pysail.spark")
pytest.importorskip("pyspark.sql")

from capeval import spark  # noqa: E402

MODELS = Path(os.environ.get("CAPEVAL_ROOT", Path(__file__).parents[2])) / "testdata" / "neural"
# The statistics of rouge155 have a dot in their names.
METRICS = ["bleu", "rouge-l", "cider-d", "chrf", "ter", "sacrebleu", "rouge-score", "rouge155"]
TYPES = "image_id bigint, candidate string, references array<string>"


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    server = pysail.SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()


@pytest.fixture(scope="module")
def corpus():
    """Captions with words in common, of 300 images."""
    nouns = ["dog", "cat", "bus", "kite", "child", "beach", "street", "horse", "boat", "cake"]
    verbs = ["runs", "stands", "waits", "sits", "flies", "sleeps", "jumps"]

    def caption(k):
        return f"A {nouns[k % 10]} {verbs[k % 7]} near the {nouns[k * 3 % 10]} on {k % 4 + 1} {nouns[k // 10 % 10]}s."

    references = {k: [caption(k), caption(k + 3), *([caption(k * 5)] if k % 3 else [])] for k in range(300)}
    return references, {k: caption(k + k % 5).lower() for k in references}


def rows_of(references, candidates):
    return [(key, candidates[key], references[key]) for key in references]


def frame(session, rows, partitions=1):
    return session.createDataFrame(rows, TYPES).repartition(partitions)


def test_partitions_change_no_bit(session, corpus):
    references, candidates = corpus
    table = capeval.DocumentFrequencies.build(references, tokenizer="ptb-each")
    settings = {"tokenizer": "ptb-each", "document_frequencies": table}
    expected = capeval.score(references, candidates, METRICS, **settings)
    rows = rows_of(references, candidates)
    intervals = set()
    for partitions in (1, 7, 64):
        df = frame(session, rows[::-1] if partitions == 7 else rows, partitions)
        assert spark.document_frequencies(df).fingerprint == table.fingerprint
        report = spark.evaluate(df, METRICS, tokenizer="ptb-each", intervals=True, resamples=50)
        assert report.scores == expected.scores
        assert report.signatures == expected.signatures
        assert (report.systems["candidates"].n_images, report.systems["candidates"].n_references) == (300, 800)
        intervals.add(str(report.intervals))
    assert len(intervals) == 1, "intervals depend on seed and ids only"
    found = {row["image_id"]: row for row in spark.score(df, METRICS, tokenizer="ptb-each").collect()}
    for key, values in expected.segments.items():
        assert [found[id][key] for id in expected.ids] == values.tolist(), key


@pytest.mark.parametrize("group_df", ["own", "all"])
def test_groups_have_the_scores_of_one_machine(session, corpus, group_df):
    references, candidates = corpus
    groups = {"domain": {k: ["in", "out"][k % 2] for k in references if k % 5}, "tags": {k: [k % 3, k % 4] for k in references}}
    expected = capeval.score(references, candidates, METRICS, tokenizer="ptb-each", groups=groups, group_df=group_df)
    rows = [(*row, groups["domain"].get(row[0]), groups["tags"][row[0]]) for row in rows_of(references, candidates)]
    for partitions in (1, 3, 7):
        df = session.createDataFrame(rows, TYPES + ", domain string, tags array<bigint>").repartition(partitions)
        report = spark.evaluate(df, METRICS, tokenizer="ptb-each", groups=["domain", "tags"], group_df=group_df)
        assert report.scores == expected.scores
        assert report.groups == expected.groups
    report = spark.evaluate(df, "rouge-l", groups="domain", intervals=True, resamples=50)
    assert list(report.groups) == ["domain"]
    with pytest.raises(ValueError, match="no column 'domian'"):
        spark.evaluate(df, METRICS, groups=["domian"])


def test_intervals_by_blocks_are_about_as_wide_as_those_by_images(session, corpus):
    references, candidates = corpus
    options = {"intervals": True, "resamples": 2000}
    one = capeval.score(references, candidates, ["bleu", "rouge-l"], **options).intervals
    many = spark.evaluate(frame(session, rows_of(references, candidates)), ["bleu", "rouge-l"], **options).intervals
    for key, (low, high) in one.items():
        assert many[key][0] < high and low < many[key][1]
        assert 0.8 < (many[key][1] - many[key][0]) / (high - low) < 1.25, key


BAD = [
    (1, "A dog runs.", ["a dog runs", None, "the dog ran"]),
    (2, None, ["two cats"]),
    (3, "a bus", None),
    (4, "a kite", []),
    (5, "", ["a boat"]),
    (6, "a horse", ["a horse stands"]),
    (6, "a cow", ["a horse stands"]),
    (None, "a cat", ["a cat sits"]),
    (None, "a bird", ["a bird sings"]),
]


def test_bad_rows_are_left_out_and_reported(session):
    for partitions in (1, 7):
        report = spark.evaluate(frame(session, BAD, partitions), ["bleu", "cider-d"])
        found = {notice.code: (notice.number, notice.ids) for notice in report.notices}
        assert found["missing:skip"] == (1, [2])
        assert found["surplus:ignore"] == (2, [3, 4])
        assert found["empty:keep"] == (1, [5])
        assert found["several:first"] == (1, [6])
        assert found["null-references"] == (1, [1])
        assert found["null-id"] == (2, [])
        kept = {1: ["a dog runs", "the dog ran"], 5: ["a boat"], 6: ["a horse stands"], 7: ["a cat sits"], 8: ["a bird sings"]}
        candidates = {1: "A dog runs.", 5: "", 6: "a cow", 7: "a cat", 8: "a bird"}
        expected = capeval.score(kept, candidates, ["bleu", "cider-d"], empty="keep", tokenizer="ptb-each")
        assert report.scores == expected.scores
        assert "missing:skip(1)" in report.signatures["bleu"]
    last = spark.evaluate(frame(session, BAD), ["bleu"], several="last", empty="skip", missing="empty")
    assert last.systems["candidates"].n_images == 5
    scored = [row["image_id"] for row in spark.score(frame(session, BAD), ["bleu"]).collect()]
    assert sorted(scored, key=lambda id: id or 0) == [None, None, 1, 5, 6, 6]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"missing": "error"}, "image 2: null instead of a caption"),
        ({"surplus": "error"}, "image 1: null instead of a reference"),
        ({"empty": "error"}, "image 5: the caption is empty"),
        ({"several": "error"}, "1 ids have several rows, such as 6"),
    ],
)
def test_bad_rows_are_errors_if_asked(session, policy, words):
    with pytest.raises(Exception, match=words):
        spark.evaluate(frame(session, BAD), ["bleu"], **policy)


def test_references_come_from_a_table_a_file_or_memory(session, corpus, tmp_path):
    references, candidates = corpus
    expected = capeval.score(references, candidates, ["bleu", "cider-d"], tokenizer="ptb-each").scores
    captions = session.createDataFrame(list(candidates.items()), "image_id bigint, candidate string").repartition(3)
    table = session.createDataFrame(list(references.items()), "image_id bigint, references array<string>")
    path = tmp_path / "references.capeval"
    capeval.Evaluator(references, ["bleu"]).save(path)
    for source in (table, path, str(path), references):
        assert spark.evaluate(captions, ["bleu", "cider-d"], references=source).scores == expected, type(source)
    frequencies = tmp_path / "references.df"
    spark.document_frequencies(captions, references=references, id="image_id").save(frequencies)
    scores = spark.score(captions, ["cider-d"], references=path, document_frequencies=frequencies).collect()
    assert len(scores) == 300


def test_ngram_counts_stay_a_table(session, corpus):
    references, candidates = corpus
    df = frame(session, rows_of(references, candidates), 3)
    rows = [(tuple(row["ngram"]), row["images"]) for row in spark.ngram_counts(df, parts=4).collect()]
    counted = {ngram: images for ngram, images in rows if ngram}
    assert counted == capeval.DocumentFrequencies.build(references).to_dict()
    assert {images for ngram, images in rows if not ngram} == {300}


def test_what_cannot_run_is_refused_before_it_starts(session):
    df = frame(session, BAD)
    with pytest.raises(ValueError, match="there is no column 'caption'"):
        spark.evaluate(df, ["bleu"], candidate="caption")
    with pytest.raises(ValueError, match="rouge155 needs the statistics of every row"):
        spark.evaluate(df, ["rouge155:average=resampled"])
    with pytest.raises(ValueError, match="intervals need ids"):
        spark.evaluate(df, ["bleu"], id=None, intervals=True)
    with pytest.raises(ValueError, match="no row is left"):
        spark.evaluate(df.where("image_id = 3"), ["bleu"])


def test_rows_of_references_are_put_together_by_id(session):
    captions = session.createDataFrame([(1, "a dog runs"), (2, "two cats")], "image_id bigint, candidate string")
    expected = capeval.score({1: ["a big dog", "the dog runs"], 2: ["the cats"]}, {1: "a dog runs", 2: "two cats"}, ["bleu", "rouge-l"])
    rows = [(1, "the dog runs"), (2, "the cats"), (1, "a big dog"), (2, None)]
    table = session.createDataFrame(rows, "image_id bigint, references string").repartition(4)
    lists = [(1, ["the dog runs"]), (2, ["the cats"]), (1, ["a big dog"]), (2, None)]
    for source in (table, session.createDataFrame(lists, "image_id bigint, references array<string>").repartition(4)):
        report = spark.evaluate(captions, ["bleu", "rouge-l"], references=source)
        assert report.scores == expected.scores
        assert report.systems["candidates"].n_images == 2 and not report.notices
        assert len(spark.score(captions, ["bleu"], references=source).collect()) == 2


def test_the_last_row_of_an_id_is_no_null(session):
    rows = [(1, "a dog", ["a dog"]), (1, None, ["a dog"]), (2, None, ["a cat"]), (2, "a cat", ["a cat"])]
    for which in ("first", "last"):
        report = spark.evaluate(frame(session, rows), ["bleu"], several=which)
        assert (report.systems["candidates"].n_images, report["bleu-1"]) == (2, pytest.approx(1, abs=1e-9))


def test_columns_may_have_any_name(session):
    rows = [(1, "a dog", ["a dog"]), (1, "a big dog", ["a dog"]), (2, "a cat", ["a cat"])]
    df = session.createDataFrame(rows, "count bigint, row string, references array<string>")
    report = spark.evaluate(df, ["bleu"], id="count", candidate="row")
    assert report.systems["candidates"].n_images == 2


def test_an_image_is_counted_once_though_several_rows_describe_it(session, corpus):
    references, candidates = corpus
    rows = rows_of(references, candidates)
    twice = [*rows, *((key, "a dog", texts) for key, _, texts in rows[::2]), (0, None, references[0])]
    found = {row["image_id"]: row["cider-d"] for row in spark.score(frame(session, rows), ["cider-d"]).collect()}
    again = spark.score(frame(session, twice, 3), ["cider-d"], keep=["image_id", "candidate"]).collect()
    assert len(again) == 450
    mine = {row["image_id"]: row["cider-d"] for row in again if row["candidate"] != "a dog"}
    assert mine == found


def test_the_default_suite_runs_without_third_party_data(session, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    report = spark.evaluate(frame(session, BAD))
    assert [notice.code for notice in report.notices][:2] == ["no-meteor", "no-spice"]
    assert "cider-d" in report.scores and "cider-d" in spark.score(frame(session, BAD)).columns


def test_a_metric_may_ask_for_the_table(session):
    df = frame(session, BAD)
    table = spark.document_frequencies(df)
    given = spark.evaluate(df, ["cider-d:idf=table"], document_frequencies=table)
    assert given.scores == spark.evaluate(df, ["cider-d"], document_frequencies=table).scores
    assert spark.evaluate(df, ["cider-d:idf=table"]).scores == spark.evaluate(df, ["cider-d"]).scores


def test_wrong_columns_and_files_are_named(session):
    df = frame(session, BAD)
    with pytest.raises(ValueError, match="no column or file 'refs' of references; the columns are image_id, candidate, references"):
        spark.evaluate(df, ["bleu"], references="refs")
    with pytest.raises(TypeError, match="keep must be a list, not the string 'image_id'"):
        spark.score(df, ["bleu"], keep="image_id")
    with pytest.raises(ValueError, match="there is no column 'score'; the columns are"):
        spark.score(df, ["bleu"], keep=["score"])
    with pytest.raises(ValueError, match="there is no column 'references'; the columns are image_id, candidate"):
        spark.evaluate(df, ["bleu"], references=df.drop("references"))
    with pytest.raises(FileNotFoundError, match="nowhere/table.df is not on this machine"):
        spark.evaluate(df, ["cider-d"], document_frequencies="nowhere/table.df")


MADE = []


def make(number):
    time.sleep(0.005)
    MADE.append(number)
    return number


def test_threads_of_a_worker_make_a_value_once():
    with ThreadPoolExecutor(8) as pool:
        for number in range(4):
            assert set(pool.map(lambda _: spark._Once(make, number)(), range(8))) == {number}
        assert MADE == [0, 1, 2, 3]
        # More values than are kept.
        numbers = [k % 12 for k in range(240)]
        assert list(pool.map(lambda number: spark._Once(make, number)(), numbers)) == numbers


def test_functions_and_programs_run_on_the_executors(session, corpus, length_ratio):
    references, candidates = corpus

    def words(captions, _):
        # A function of a test is not in a module that executors have.
        return [len(caption.split()) for caption in captions]

    metrics = ["cider-d", capeval.metric("words", words, range=(0, 100), lower_is_better=True), str(length_ratio)]
    table = capeval.DocumentFrequencies.build(references, tokenizer="ptb-each")
    expected = capeval.score(references, candidates, metrics, tokenizer="ptb-each", document_frequencies=table)
    for partitions in (1, 7):
        df = frame(session, rows_of(references, candidates), partitions)
        report = spark.evaluate(df, metrics, intervals=True, resamples=50)
        assert (report.scores, report.signatures) == (expected.scores, expected.signatures)
        found = {row["image_id"]: row for row in spark.score(df, metrics).collect()}
        for key, values in expected.segments.items():
            assert [found[id][key] for id in expected.ids] == values.tolist(), key


@pytest.mark.skipif(not MODELS.is_dir(), reason="the tiny models are not here; set CAPEVAL_ROOT to a checkout")
def test_models_and_vectors_are_opened_on_the_executors(session, corpus):
    references, candidates = corpus
    metrics = ["cider-d", "bert-score:layer=2", "ref-clip-s"]
    table = capeval.DocumentFrequencies.build(references, tokenizer="ptb-each")
    texts = list(dict.fromkeys([*candidates.values(), *(text for some in references.values() for text in some)]))
    vectors = {
        "texts": capeval.embed(lambda some: [[len(text), text.count("a"), 5.0] for text in some], texts=texts),
        "images": {image: [float(image % 7), 1.0, 2.0] for image in references},
    }
    given = {"model": MODELS / "roberta", "vectors": vectors}
    expected = capeval.score(references, candidates, metrics, tokenizer="ptb-each", document_frequencies=table, segments=True, **given)
    df = frame(session, rows_of(references, candidates), 5)
    report = spark.evaluate(df, metrics, **given)
    assert (report.scores, report.signatures) == (expected.scores, expected.signatures)
    found = {row["image_id"]: row for row in spark.score(df, metrics, **given).collect()}
    for key, values in expected.segments.items():
        assert [found[id][key] for id in expected.ids] == values.tolist(), key


def test_what_goes_wrong_with_them_is_told(session, tmp_path):
    df = frame(session, BAD)

    def failing(captions, references):
        raise KeyError("weights")

    with pytest.raises(Exception, match="bad failed on captions 1 to .*KeyError"):
        spark.evaluate(df, [capeval.metric("bad", failing)])
    lock = threading.Lock()
    with pytest.raises(TypeError, match="a metric cannot be sent to the executors: cannot pickle '_thread.lock' object"):
        spark.evaluate(df, [capeval.metric("locked", lambda captions, references: [lock] * len(captions))])
    with pytest.raises(FileNotFoundError, match="m.toml is not on this machine; use a path that the driver and all"):
        spark.evaluate(df, [str(tmp_path / "m.toml")])
    model = bytes(range(256)) * (1 << 19)
    with pytest.raises(ValueError, match="functions of 128 MB are too large to send with the tasks"):
        spark.evaluate(df, [capeval.metric("large", lambda captions, references: [len(model)] * len(captions))])
