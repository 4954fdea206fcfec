"""Arrow batches: the digits of `score`, from any library, in any number of parts."""

from __future__ import annotations

import pickle

import pytest

import capeval
from capeval.reward import CiderD, Reward

pyarrow = pytest.importorskip("pyarrow")

from capeval.arrow import FrequencyCounter, References, RowScorer, judge, needed_frequencies  # noqa: E402

METRICS = ["bleu", "rouge-l", "cider-d", "chrf", "ter"]


@pytest.fixture
def table(references):
    return capeval.DocumentFrequencies.build(references)


def batch_of(references, candidates, string=None, many=None):
    string = string or pyarrow.string()
    lists = (many or pyarrow.list_)(string)
    return pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array(list(candidates)),
            pyarrow.array(list(candidates.values()), string),
            pyarrow.array([references[key] for key in candidates], lists),
        ],
        names=["image_id", "candidate", "references"],
    )


def test_rows_have_the_digits_of_score(references, candidates, table):
    report = capeval.score(references, candidates, METRICS, document_frequencies=table)
    scorer = RowScorer(METRICS, document_frequencies=table)
    for string in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        for many in (pyarrow.list_, pyarrow.large_list):
            found = scorer.scores(batch_of(references, candidates, string, many), keep=["image_id"])
            assert isinstance(found, pyarrow.RecordBatch)
            assert found.column("image_id").to_pylist() == report.ids
            for key, values in report.segments.items():
                assert found.column(key).to_pylist() == values.tolist(), (key, string)


def test_statistics_of_parts_give_the_corpus_scores(references, candidates, table):
    report = capeval.score(references, candidates, METRICS, document_frequencies=table)
    scorer = pickle.loads(pickle.dumps(RowScorer(METRICS, document_frequencies=table)))
    batch = batch_of(references, candidates)
    whole = scorer.statistics(batch)
    assert whole.schema.field("bleu/matches-1").type == pyarrow.int64()
    assert scorer.corpus(whole) == report.scores
    # Slices of a batch, which begin in the middle of its buffers, in another order.
    parts = [scorer.statistics(batch.slice(k, 1)) for k in (2, 0, 1)]
    assert scorer.corpus(*parts) == report.scores
    assert scorer.corpus(scorer.statistics(pyarrow.Table.from_batches([batch, batch]))) == {
        **scorer.corpus(whole, whole)
    }


def test_polars_frames_are_read(references, candidates, table):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"candidate": list(candidates.values()), "references": [references[key] for key in candidates]}
    )
    found = RowScorer(METRICS, document_frequencies=table).scores(frame)
    assert found.column("chrf").to_pylist() == capeval.score(references, candidates, ["chrf"]).segments["chrf"].tolist()


def test_a_reward_judges_batches_of_ids_and_captions(references, candidates):
    reward = Reward(references, {"cider-d": 1.0, "rouge-l": 1.0}, dtype="float64")
    rows = pyarrow.table({"image_id": [3, 1, 3], "candidate": ["a red bus", candidates[1], candidates[3]]})
    found = judge(reward, rows)
    measures = reward.measures([3, 1, 3], rows["candidate"].to_pylist())
    assert found.column_names == ["image_id", "rouge-l", "cider-d"] or set(found.column_names) == {
        "image_id",
        *measures,
    }
    for key, values in measures.items():
        assert found[key].to_pylist() == values.tolist()
    assert "cider-d/sum" in judge(reward, rows, statistics=True).column_names
    with pytest.raises(KeyError, match="image 9"):
        judge(reward, pyarrow.table({"image_id": [9], "candidate": ["a"]}))


def test_what_cannot_be_scored_row_by_row_is_refused(references, candidates, table):
    with pytest.raises(ValueError, match="pass document_frequencies="):
        RowScorer(["cider-d"])
    scorer = RowScorer(["bleu"])
    batch = batch_of(references, candidates)
    with pytest.raises(ValueError, match="no column 'caption'; the columns are image_id, candidate, references"):
        scorer.scores(batch, candidate="caption")
    with pytest.raises(TypeError, match="must contain strings, not Int64"):
        scorer.scores(batch, candidate="image_id")
    with pytest.raises(TypeError, match="not dict"):
        scorer.scores({})
    with pytest.raises(ValueError, match="row 0 .from 0.: null"):
        scorer.scores(pyarrow.table({"candidate": [None, "a"], "references": [["a"], ["a"]]}))


def test_empty_batches_give_empty_batches(references, candidates, table):
    scorer = RowScorer(["bleu"])
    assert scorer.scores(batch_of(references, candidates).slice(0, 0)).num_rows == 0
    assert CiderD(references)([], []).shape == (0,)


def test_two_settings_of_one_metric_have_different_columns(references, candidates):
    metrics = ["bleu:reflen=closest", "bleu:reflen=shortest"]
    references[3].append("A long red bus stands at a stop on the street.")
    candidates[3] = "a bus of the town on the street by a stop"
    report = capeval.score(references, candidates, metrics)
    assert len(set(report.scores)) == 8 and len(set(report.scores.values())) > 4
    scorer = RowScorer(metrics)
    batch = batch_of(references, candidates)
    found = scorer.scores(batch)
    assert found.column_names == list(report.scores)
    for key, values in report.segments.items():
        assert found.column(key).to_pylist() == values.tolist()
    assert scorer.corpus(scorer.statistics(batch)) == report.scores
    reward = Reward(references, {key: 1.0 for key in ("cider-d:sigma=4", "cider-d")})
    names = judge(reward, pyarrow.table({"image_id": [1], "candidate": ["a dog"]})).column_names
    assert names == ["image_id", "cider-d", "cider-d:sigma=4"]


def test_no_column_is_taken_for_another_of_its_name(references, candidates):
    scorer = RowScorer(["rouge-l"])
    batch = batch_of(references, candidates)
    named = batch.append_column("rouge-l", pyarrow.array(list(candidates)))
    with pytest.raises(ValueError, match="two columns would be called 'rouge-l'"):
        scorer.scores(named, keep=["rouge-l"])
    twice = batch.append_column("candidate", batch.column("candidate"))
    with pytest.raises(ValueError, match="2 columns are called 'candidate'"):
        scorer.scores(twice)


def test_sums_of_parts_give_the_report_of_all(references, candidates, table):
    settings = {"tokenizer": "ptb-each", "document_frequencies": table}
    expected = capeval.score(references, candidates, METRICS, **settings)
    scorer = RowScorer(METRICS, **settings)
    batch = batch_of(references, candidates)
    found = []
    for cuts in ([0, 3], [0, 1, 2, 3], [0, 0, 2, 3]):
        parts = [batch.slice(start, end - start) for start, end in zip(cuts, cuts[1:])]
        sums = [pickle.loads(pickle.dumps(scorer)).sums(part, id="image_id", blocks=8) for part in reversed(parts)]
        assert all(part.schema.equals(scorer.schema("sums"), check_metadata=False) for part in sums)
        report = scorer.report(scorer.merge(*sums), intervals=True, resamples=20)
        assert report.scores == expected.scores == scorer.report(*sums).scores
        assert report.signatures == expected.signatures
        found.append(report.intervals)
    assert found[0] == found[1] == found[2]
    with pytest.raises(ValueError, match="no row is left"):
        scorer.report(scorer.sums(batch.slice(0, 0)))


NOUNS = ["dog", "cat", "bus", "kite", "child", "beach", "street"]
MANY = {
    k: [f"A {NOUNS[k % 7]} near the {NOUNS[k * 3 % 7]}", f"the {NOUNS[k % 7]} and {k % 4} {NOUNS[k // 5 % 7]}s"]
    for k in range(40)
}
MINE = {k: f"a {NOUNS[k % 7]} near a {NOUNS[(k + k % 3) % 7]}" for k in MANY}
DOMAIN = {k: ["in", "near, or so", "out", None][k % 4] for k in MANY}
TAGS = {k: [NOUNS[k % 7], NOUNS[k % 5]] if k % 6 else [] for k in MANY}
FLOOR = {k: k // 4 for k in MANY}


def grouped(order=None):
    keys = list(order or MANY)
    columns = {"image_id": keys, "domain": [DOMAIN[k] for k in keys], "tags": [TAGS[k] for k in keys]}
    columns |= {"floor": [FLOOR[k] for k in keys], "candidate": [MINE[k] for k in keys], "references": [MANY[k] for k in keys]}
    return pyarrow.RecordBatch.from_pydict(columns)


def expected_groups(group_df):
    groups = {"domain": {k: one for k, one in DOMAIN.items() if one}, "tags": {k: all for k, all in TAGS.items() if all}}
    return capeval.score(
        MANY, MINE, METRICS, tokenizer="ptb-each", groups={**groups, "floor": FLOOR}, group_df=group_df
    )


@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("group_df", ["own", "all"])
def test_groups_of_parts_have_the_scores_of_score(shards, group_df):
    expected, names = expected_groups(group_df), ["domain", "tags", "floor"]
    batch = grouped(sorted(MANY, key=lambda k: k * 17 % 40))
    parts = [batch.slice(k * 40 // shards, (k + 1) * 40 // shards - k * 40 // shards) for k in range(shards)]
    counter = FrequencyCounter(tokenizer="ptb-each", parts=2)
    counts = [count for part in parts for count in counter.counts(part, groups=names)]
    tables = counter.group_tables(counter.merge(counts))
    assert counter.group_tables(counts).keys() == tables.keys()
    scorer = RowScorer(
        METRICS,
        tokenizer="ptb-each",
        document_frequencies=counter.table(counts),
        group_frequencies=tables if group_df == "own" else None,
    )
    sums = [pickle.loads(pickle.dumps(scorer)).sums(part, id="image_id", groups=names, blocks=8) for part in parts]
    assert sums[0].schema.equals(scorer.schema("sums", groups=names))
    report = scorer.report(scorer.merge(*sums), intervals=True, resamples=20)
    assert report.scores == expected.scores
    assert report.groups == expected.groups
    assert [list(groups) for groups in report.groups.values()] == [list(groups) for groups in expected.groups.values()]
    assert scorer.report(*sums[::-1]).groups == expected.groups
    for ours, theirs in zip(report.to_dict()["groups"], expected.to_dict()["groups"]):
        assert (ours["df"], ours["without"]) == (theirs["df"], theirs["without"])
        assert [row["images"] for row in ours["groups"]] == [row["images"] for row in theirs["groups"]]


def test_columns_that_cannot_group_rows_are_named():
    scorer = RowScorer(["bleu"])
    with pytest.raises(ValueError, match="no column 'domian' that groups rows; the columns are image_id, domain"):
        scorer.sums(grouped(), groups=["domian"])
    batch = grouped().append_column("place", pyarrow.array([{"x": 1}] * 40))
    with pytest.raises(TypeError, match="column 'place' cannot group rows"):
        scorer.sums(batch, groups="place")
    nothing = scorer.report(scorer.sums(grouped().slice(0, 0), groups="domain"), scorer.sums(grouped(), groups="domain"))
    assert list(nothing.groups["domain"]) == ["in", "near, or so", "out"]


def test_rows_of_many_ngrams_come_in_several_batches(references, candidates, monkeypatch):
    counter = FrequencyCounter(parts=2)
    counts = list(counter.counts(batch_of(references, candidates)))
    (all_rows,) = counter.rows(counts)
    monkeypatch.setattr("capeval.arrow._MOST_NGRAMS", 10)
    batches = list(counter.rows(counts))
    assert len(batches) > 2 and {batch.num_rows for batch in batches[:-1]} == {10}
    assert pyarrow.Table.from_batches(batches).to_pylist() == all_rows.to_pylist()


def test_counts_of_parts_give_the_table_of_all(references, candidates):
    whole = capeval.DocumentFrequencies.build(references, tokenizer="ptb-each")
    batch = batch_of(references, candidates)
    for parts in (1, 3):
        counter = pickle.loads(pickle.dumps(FrequencyCounter(parts=parts)))
        counts = [part for k in (2, 0, 1) for part in counter.counts(batch.slice(k, 1))]
        assert counter.table(counts).fingerprint == whole.fingerprint
        assert counter.table(counter.merge(counts)).fingerprint == whole.fingerprint
        rows = pyarrow.Table.from_batches(counter.rows(counts), counter.schema("rows")).to_pylist()
        assert {tuple(row["ngram"]): row["images"] for row in rows} == {(): 3, **whole.to_dict()}
    assert list(counter.merge([])) == []
    assert needed_frequencies(["bleu", "rouge-l"]) is None
    assert needed_frequencies(["cider:stem=snowball-english"]) == {
        "tokenizer": "ptb-each",
        "stem": "snowball-english",
        "n": 4,
    }
    with pytest.raises(ValueError, match="different tokenizers"):
        needed_frequencies(["cider-d", "cider:tok=13a"])


def test_schemas_are_known_before_anything_is_scored(references, candidates, table):
    scorer = RowScorer(METRICS, document_frequencies=table)
    for batch in (batch_of(references, candidates), batch_of(references, candidates).slice(0, 0)):
        keep = [pyarrow.field("image_id", pyarrow.int64())]
        assert scorer.scores(batch, keep=["image_id"]).schema.equals(scorer.schema(keep=keep))
        assert scorer.statistics(batch).schema.equals(scorer.schema("statistics"))


def test_rows_are_dropped_or_refused_as_the_policies_say(references, candidates):
    types = pyarrow.schema(
        {"image_id": pyarrow.string(), "candidate": pyarrow.string(), "references": pyarrow.list_(pyarrow.string())}
    )
    bad = pyarrow.Table.from_batches(
        [
            pyarrow.record_batch({"image_id": ["a"], "candidate": ["a dog"], "references": [["a dog"]]}, types),
            pyarrow.record_batch(
                {
                    "image_id": ["b", "c", "d", "e", None, None],
                    "candidate": ["a", None, "", "a cat", "a bus", "a kite"],
                    "references": [None, ["b"], ["c"], ["a cat", None], ["a bus"], None],
                },
                types,
            ),
        ]
    )
    lenient = RowScorer(["bleu"], missing="skip", surplus="ignore", empty="keep")
    assert lenient.scores(bad, keep=["image_id"])["image_id"].to_pylist() == ["a", "d", "e", None]
    assert RowScorer(["bleu"], missing="empty", surplus="ignore").scores(bad, keep=["image_id"]).num_rows == 5
    strict = {"missing": "skip", "surplus": "ignore", "empty": "keep"}
    for name, row in (("surplus", 1), ("missing", 2), ("empty", 3)):
        with pytest.raises(ValueError, match=rf'row {row} .from 0., image "{"abcd"[row]}": .*pass '):
            RowScorer(["bleu"], **{**strict, name: "error"}).scores(bad, id="image_id")
    notices = lenient.report(lenient.sums(bad, id="image_id")).notices
    assert {notice.code: notice.ids for notice in notices} == {
        "missing:skip": ["c"],
        "surplus:ignore": ["b"],
        "empty:keep": ["d"],
        "null-references": ["e"],
        "null-id": [],
    }


def test_references_are_looked_up_by_id(references, candidates):
    looked_up = pickle.loads(pickle.dumps(References(references)))
    rows = pyarrow.table({"image_id": list(candidates), "candidate": list(candidates.values())})
    scorer = RowScorer(["bleu", "rouge-l"])
    report = scorer.report(scorer.sums(rows, references=looked_up, id="image_id"))
    assert report.scores == capeval.score(references, candidates, ["bleu", "rouge-l"], tokenizer="ptb-each").scores
    with pytest.raises(ValueError, match="pass id"):
        scorer.scores(rows, references=looked_up)


def engines():
    """Engines that map record batches, each as a function that maps one over a table in parts."""

    def polars(table, work):
        frame = pytest.importorskip("polars").from_arrow(table)
        return [batch for part in frame.iter_slices(2) for batch in work([part.to_arrow()])]

    def duckdb(table, work):
        connection = pytest.importorskip("duckdb").connect()
        connection.register("rows", table)
        rows = connection.sql("SELECT * FROM rows ORDER BY image_id DESC").to_arrow_reader(2)
        return list(work(rows))

    def datafusion(table, work):
        context = pytest.importorskip("datafusion").SessionContext()
        frame = context.from_arrow(table).repartition(3)
        return [batch for stream in frame.execute_stream_partitioned() for batch in work(part.to_pyarrow() for part in stream)]

    return {"polars": polars, "duckdb": duckdb, "datafusion": datafusion}


@pytest.mark.parametrize("name", ["polars", "duckdb", "datafusion"])
def test_engines_that_map_batches_give_the_same_bits(name, references, candidates):
    run = engines()[name]
    rows = pyarrow.Table.from_batches([batch_of(references, candidates)])
    counter = FrequencyCounter(**needed_frequencies(METRICS), parts=2)
    table = counter.table(run(rows, counter.counts))
    scorer = RowScorer(METRICS, document_frequencies=table)
    report = scorer.report(*run(rows, lambda batches: [scorer.sums(batches)]))
    expected = capeval.score(references, candidates, METRICS, tokenizer="ptb-each", document_frequencies=table)
    assert report.scores == expected.scores


def test_the_default_suite_leaves_out_what_is_not_installed(references, candidates, table, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    scorer = RowScorer(document_frequencies=table)
    batch = batch_of(references, candidates)
    assert scorer.scores(batch).column_names == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"]
    codes = [notice.code for notice in scorer.report(scorer.sums(batch)).notices]
    assert codes[:2] == ["no-meteor", "no-spice"]
    assert needed_frequencies()["n"] == 4


def test_a_metric_may_ask_for_the_table(references, candidates, table):
    batch = batch_of(references, candidates)
    metrics = ["cider-d:idf=table"]
    found = RowScorer(metrics, document_frequencies=table).scores(batch)
    assert found.equals(RowScorer(["cider-d"], document_frequencies=table).scores(batch))
    needed = needed_frequencies(metrics)
    assert needed == needed_frequencies(["cider-d"])
    counted = list(FrequencyCounter(**needed, scorer_metrics=metrics, empty="skip").counts(batch, candidate="candidate"))
    assert FrequencyCounter().table(counted).fingerprint == table.fingerprint
    with pytest.raises(ValueError, match="pass document_frequencies="):
        RowScorer(metrics)
    for ask in (needed_frequencies, lambda metrics: RowScorer(metrics, document_frequencies=table)):
        with pytest.raises(ValueError, match="cider-d needs all references.*leave out idf=corpus"):
            ask(["cider-d:idf=corpus"])


def test_only_sums_of_one_scorer_are_merged(references, candidates, table):
    batch = batch_of(references, candidates)
    scorer = RowScorer(["cider-d"], document_frequencies=table)
    mine = scorer.sums(batch)
    other_table = capeval.DocumentFrequencies.build({1: ["a dog"], 2: ["a cat"]})
    others = [
        RowScorer(["cider-d:sigma=4"], document_frequencies=table),
        RowScorer(["cider-d"], document_frequencies=other_table),
        RowScorer(["cider-d"], document_frequencies=table, missing="skip"),
    ]
    for other in others:
        with pytest.raises(ValueError, match="other metrics, settings, policies or document frequencies; merge only"):
            scorer.merge(mine, other.sums(batch))
    dealt = {"id": "image_id", "blocks": 4}
    for part in (scorer.sums(batch, **dealt, seed=1), scorer.sums(batch, id="image_id", blocks=3), mine):
        with pytest.raises(ValueError, match="the parts were dealt into 4 blocks by the seed 12345, and into "):
            scorer.report(scorer.sums(batch, **dealt), part)
    # The seed makes no difference to one block.
    assert scorer.report(mine, scorer.sums(batch, seed=1)).systems["candidates"].n_images == 6


def test_intervals_need_blocks(references, candidates):
    scorer = RowScorer(["rouge-l"])
    batch = batch_of(references, candidates)
    asked = {"intervals": True, "resamples": 50}
    with pytest.raises(ValueError, match="all rows were added up in one block.*pass blocks=1024"):
        scorer.report(scorer.sums(batch, id="image_id"), **asked)
    dealt = scorer.sums(batch, id="image_id", blocks=1024)
    with pytest.raises(ValueError, match="the intervals have the seed 7, but the rows were dealt into 1024 blocks by the seed 12345"):
        scorer.report(dealt, **asked, seed=7)
    report = scorer.report(dealt, **asked)
    low, high = report.intervals["rouge-l"]
    assert low < high
    told = {notice.code: notice.message for notice in report.notices}
    assert told["few-blocks"].startswith("resamples of 3 blocks repeat")
    one = scorer.report(scorer.sums(batch.slice(0, 1), id="image_id", blocks=1024), **asked)
    assert [notice.code for notice in one.notices if "one" in notice.code] == ["interval-of-one-block"]


def test_counts_of_a_lenient_scorer_leave_out_the_rows_that_it_leaves_out():
    rows = pyarrow.table({"candidate": ["a dog", None], "references": [["a dog"], ["a cat"]]})
    counter = FrequencyCounter()
    assert counter.table(counter.counts(rows)).n_images == 2
    assert counter.table(counter.counts(rows, candidate="candidate")).n_images == 1
    scorer = RowScorer(["rouge-l"], missing="skip")
    (notice,) = scorer.report(scorer.sums(rows)).notices
    assert notice.message == "1 row has no candidate and is left out of every metric"


def test_wrong_numbers_and_ids_are_named(references, candidates):
    scorer = RowScorer(["rouge-l"])
    batch = batch_of(references, candidates)
    sums = scorer.sums(batch)
    for call, words in (
        (lambda: scorer.report(sums, intervals=True, resamples=-1), "resamples must be a whole number from 1"),
        (lambda: scorer.report(sums, intervals=True, seed=-1), "seed must be a whole number from 0"),
        (lambda: scorer.report(sums, repeated=-1), "repeated must be a whole number from 0"),
        (lambda: scorer.sums(batch, id="image_id", blocks=-1), "blocks must be a whole number from 1"),
        (lambda: scorer.sums(batch, id="image_id", blocks=8, seed=-1), "seed must be a whole number from 0"),
        (lambda: FrequencyCounter(parts=0), "parts must be a whole number from 1"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    floats = batch.set_column(0, "image_id", pyarrow.array([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match="column 'image_id' must contain whole numbers or strings, not Float64"):
        scorer.sums(floats, id="image_id", blocks=8)


def overlap(candidates, references):
    """The share of the words of a caption that are in a reference, and their number."""
    words = [caption.lower().split() for caption in candidates]
    known = [set(" ".join(texts).lower().split()) for texts in references]
    shares = [sum(word in those for word in mine) / max(1, len(mine)) for mine, those in zip(words, known)]
    return {"share": shares, "words": [len(mine) for mine in words]}


MEASURES = [capeval.Measure("share", (0, 1)), capeval.Measure("words", (0, 100), lower_is_better=True)]


@pytest.mark.parametrize("batch_size", [1, 256])
def test_functions_and_programs_score_rows(references, candidates, table, length_ratio, batch_size):
    overlaps = capeval.metric("overlap", overlap, measures=MEASURES, batch_size=batch_size)
    metrics = ["bleu", overlaps, "cider-d", length_ratio]
    report = capeval.score(references, candidates, metrics, document_frequencies=table, tokenizer="ptb-each")
    scorer = pickle.loads(pickle.dumps(RowScorer(metrics, document_frequencies=table)))
    batch = batch_of(references, candidates)
    found = scorer.scores(batch, keep=["image_id"])
    assert found.schema == scorer.schema("scores", [batch.schema.field("image_id")])
    for key, values in report.segments.items():
        assert found.column(key).to_pylist() == values.tolist(), key
    statistics = scorer.statistics(batch)
    assert statistics.schema == scorer.schema("statistics")
    assert statistics.column("overlap/words").to_pylist() == report.segments["words"].tolist()
    assert scorer.corpus(statistics) == report.scores
    parts = [scorer.sums(batch.slice(k, 1), id="image_id", blocks=1024) for k in (2, 0, 1)]
    merged = scorer.report(scorer.merge(*parts[:2]), parts[2], intervals=True, resamples=100)
    assert merged.scores == report.scores and merged.signatures == report.signatures
    assert merged.intervals["share"][0] <= report["share"] <= merged.intervals["share"][1]
    assert not merged.measures["words"].higher_is_better


def test_functions_see_the_rows_that_are_scored_with_their_ids():
    seen = []

    def f(candidates, references, ids):
        seen.append((candidates, references, ids))
        return [0.5] * len(candidates)

    rows = pyarrow.table(
        {"candidate": ["a dog", None, "a cat", "a bus"], "references": [["a dog"], ["a kite"], None, ["b", "c"]], "id": ["x", "y", "z", None]}
    )
    scorer = RowScorer([capeval.metric("half", f, range=(0, 1))], missing="skip", surplus="ignore")
    assert scorer.scores(rows, id="id").column("half").to_pylist() == [0.5, 0.5]
    assert scorer.scores(rows).num_rows == 2
    captions, texts = ["a dog", "a bus"], [["a dog"], ["b", "c"]]
    assert seen == [(captions, texts, ["x", None]), (captions, texts, [None, None])]
    with pytest.raises(ValueError, match="half: the score by half of a row without id is 0.5, beyond its range from 1 to 2"):
        RowScorer(capeval.metric("half", f, range=(1, 2)), missing="skip", surplus="ignore").scores(rows)


def test_what_goes_wrong_in_a_function_is_told():
    def f(candidates, references):
        raise KeyError("weights")

    rows = pyarrow.table({"candidate": ["a dog"], "references": [["a dog"]], "id": [7]})
    scorer = RowScorer(["bleu", capeval.metric("bad", f)])
    for call in (scorer.scores, scorer.statistics, scorer.sums):
        with pytest.raises(RuntimeError, match=r"bad failed on captions 1 to 1 \(images 7\): KeyError: 'weights'") as raised:
            call(rows, id="id")
        assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(FileNotFoundError):
        RowScorer(["nowhere/m.toml"])


def test_functions_need_no_document_frequencies(length_ratio):
    half = capeval.metric("half", lambda candidates, references: [0.5] * len(candidates))
    assert needed_frequencies([half, length_ratio]) is None
    assert needed_frequencies(["cider-d", half])["n"] == 4
    rows = pyarrow.table({"candidate": ["a dog", "..."], "references": [["a dog"], ["a cat"]]})
    counter = FrequencyCounter(scorer_metrics=["cider-d", half, length_ratio], empty="skip")
    assert counter.table(counter.counts(rows, candidate="candidate")).n_images == 1


def test_rows_have_no_pictures():
    rows = pyarrow.table({"candidate": ["a dog"], "references": [["a dog"]], "id": [7]})
    sees = capeval.metric("sees", lambda candidates, references, images: [0.5] * len(candidates))
    with pytest.raises(ValueError, match="sees .*pictures"):
        RowScorer([sees]).scores(rows, id="id")
    may_see = capeval.metric("may-see", lambda candidates, references, images=None: [float(image is None) for image in images])
    assert RowScorer([may_see]).scores(rows, id="id").column("may-see").to_pylist() == [1.0]
