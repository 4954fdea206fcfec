"""`capeval.score`: inputs, outputs and errors."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Mapping

import numpy as np
import pytest

import capeval
from capeval.reward import Reward

METRICS = ["bleu", "rouge-l", "cider-d"]


def scores(references, candidates, **options):
    return capeval.score(references, candidates, METRICS, **options).scores


def test_ten_of_eleven_words_are_in_a_reference(references, candidates):
    del references[3], candidates[3]
    assert scores(references, candidates)["bleu-1"] == pytest.approx(10 / 11, abs=1e-9)


def test_every_form_of_captions_gives_the_same_digits(references, candidates):
    expected = scores(references, candidates)
    rows = [{"image_id": key, "caption": text} for key, texts in references.items() for text in texts]
    results = [{"image_id": key, "caption": text} for key, text in candidates.items()]
    assert scores({"annotations": rows, "images": []}, results) == expected
    assert scores(rows, results) == expected
    assert scores(list(references.values()), list(candidates.values())) == expected
    assert scores({k: tuple(v) for k, v in references.items()}, {k: [v] for k, v in candidates.items()}) == expected
    as_dicts = {k: [{"caption": t} for t in v] for k, v in references.items()}
    assert scores(as_dicts, list(candidates.items())) == expected
    assert scores(references, [(np.int64(k), v) for k, v in candidates.items()]) == expected


def test_cocos_list_of_images_is_their_order_for_ptb(tmp_path):
    captions = [(7, "a t."), (3, "The b t."), (5, "a t.")]
    annotations = [{"image_id": key, "caption": caption} for key, caption in captions]
    coco = {"images": [{"id": key} for key in (5, 3, 7)], "annotations": annotations}
    (tmp_path / "refs.json").write_text(json.dumps(coco))
    for references in (coco, str(tmp_path / "refs.json")):
        report = capeval.score(references, {key: "one t" for key, _ in captions}, ["rouge-l"])
        # Only image 5 is followed by the beginning of a sentence, and its reference loses the full stop.
        assert [value > 0 for value in report.segments["rouge-l"]] == [False, False, True]


def test_tables_of_pandas_polars_and_pyarrow_give_the_same_digits(references, candidates):
    expected = scores(references, candidates)
    ids = [key for key, texts in references.items() for _ in texts]
    texts = [text for texts in references.values() for text in texts]
    flat = {"image_id": ids, "caption": texts}
    nested = {"image_id": list(references), "captions": list(references.values())}
    hyps = {"id": list(candidates), "prediction": list(candidates.values())}
    pandas = pytest.importorskip("pandas")
    assert scores(pandas.DataFrame(flat), pandas.DataFrame(hyps)) == expected
    assert scores(pandas.DataFrame(nested), pandas.DataFrame(hyps)) == expected
    polars = pytest.importorskip("polars")
    assert scores(polars.DataFrame(flat), polars.DataFrame(hyps).lazy()) == expected
    assert scores(polars.DataFrame(nested), polars.DataFrame(hyps)) == expected
    pyarrow = pytest.importorskip("pyarrow")
    assert scores(pyarrow.table(nested), pyarrow.RecordBatch.from_pydict(hyps)) == expected


def test_names_of_columns_and_keys_are_those_of_files(references, candidates):
    first = {key: texts[:2] for key, texts in references.items()}
    expected = scores(first, candidates)
    rows = [{"img_id": k, "caption_1": texts[0], "caption_2": texts[-1]} for k, texts in first.items()]
    results = [{"Image ID": key, "cand": text, "references": ["x"]} for key, text in candidates.items()]
    doubled = scores({key: [texts[0], texts[-1]] for key, texts in first.items()}, candidates)
    assert scores(rows, results) == doubled
    pandas = pytest.importorskip("pandas")
    assert scores(pandas.DataFrame(rows), pandas.DataFrame(results)) == doubled
    missing = [{"id": k, "ref_1": texts[0], "ref_2": texts[1] if len(texts) > 1 else None} for k, texts in first.items()]
    assert scores(missing, results) == expected
    assert scores(pandas.DataFrame(missing), results) == expected
    with pytest.raises(ValueError, match=r"item 0 \(from 0\) has no 'caption'"):
        capeval.score([{"image_id": 1, "words": "a"}], ["a"])
    with pytest.raises(ValueError, match=r"item 1 \(from 0\) has no 'image_id'"):
        capeval.score([{"image_id": 1, "caption": "a"}, {"caption": "b"}], ["a"])


def test_a_table_without_captions_names_its_columns():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="the columns are .image_id., .words.; pass ref_caption_columns="):
        capeval.score(pandas.DataFrame({"image_id": [1], "words": ["a"]}), ["a"])


def test_files_give_the_digits_of_the_program(quickstart):
    report = capeval.score(
        quickstart / "references.json",
        systems={name: quickstart / f"{name}.json" for name in ("good", "weak")},
        metrics="bleu,rouge-l,cider-d",
    )
    assert list(report.systems) == ["good", "weak"]
    assert report.systems["good"]["cider-d"] > report.systems["weak"]["cider-d"]
    with pytest.raises(ValueError, match="2 systems"):
        report.scores


def test_segments_are_arrays_in_the_order_of_ids(references, candidates):
    report = capeval.score(references, candidates, METRICS)
    assert report.ids == [1, 2, 3]
    assert set(report.segments) == {"bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"}
    cider = report.segments["cider-d"]
    assert cider.dtype == np.float64 and cider.shape == (3,) and cider.flags.writeable
    assert cider.mean() == pytest.approx(report["cider-d"], rel=1e-15)
    alone = capeval.score(references, candidates, ["rouge-l"], images=[2])
    assert alone.segments["rouge-l"][0] == report.segments["rouge-l"][1]
    assert capeval.score(references, candidates, METRICS, segments=False).segments == {}


def test_signatures_name_what_can_change_a_digit(references, candidates):
    report = capeval.score(references, candidates, ["cider-d:sigma=4"], settings={"tok": "13a"})
    signature = report.signatures["cider-d"]
    assert "sigma:4" in signature and "tok:13a" in signature and f"capeval:{capeval.__version__}" in signature


def test_a_report_shows_and_converts(references, candidates):
    report = capeval.score(references, candidates, METRICS)
    assert "ROUGE-L" in str(report)
    html = report._repr_html_()
    assert html.startswith("<table>") and "CIDEr-D" in html and "signatures" in html
    with_intervals = capeval.score(references, candidates, METRICS, intervals=True, resamples=50)
    low, high = with_intervals.intervals["cider-d"]
    assert f"{with_intervals['cider-d']:.3f} [{low:.3f}, {high:.3f}]" in with_intervals._repr_html_()
    data = report.to_dict()
    assert data == json.loads(report.to_json())
    assert data["systems"][0]["scores"]["cider-d"] == report["cider-d"]
    assert "bleu-1" in report.to_csv() and "|" in report.to_markdown() and "tabular" in report.to_latex()
    pytest.importorskip("pandas")
    assert report.to_pandas().loc["candidates", "bleu-1"] == report["bleu-1"]
    assert list(report.to_pandas(segments=True)["image_id"]) == [1, 2, 3]


def test_names_in_html_are_escaped(references, candidates):
    report = capeval.score(references, systems={"<b>me</b>": candidates}, metrics=["bleu"])
    assert "<b>me</b>" not in report._repr_html_()


def test_mismatches_are_refused_with_the_engines_messages(references, candidates):
    del candidates[2]
    with pytest.raises(ValueError, match='has no candidate: 2; pass missing="skip"'):
        capeval.score(references, candidates, METRICS)
    report = capeval.score(references, candidates, METRICS, missing="skip")
    assert report.ids == [1, 3]
    assert any(notice.code.startswith("missing") and 2 in notice.ids for notice in report.notices)


@pytest.mark.parametrize(
    ("refs", "hyps", "options", "error", "words"),
    [
        ({1: ["a"]}, {1: 5}, {}, TypeError, "image 1: a caption must be a string"),
        ({1: ["a"]}, {1: None}, {}, TypeError, "NoneType"),
        ({1.5: ["a"]}, {1: "a"}, {}, TypeError, "references: an image id must be a string or a 64-bit integer, not float 1.5"),
        ({True: ["a"]}, {1: "a"}, {}, TypeError, "bool"),
        ({1: ["a"]}, {1: ["a", "b"]}, {}, ValueError, "1 image has several candidates: 1"),
        ({1: ["a"]}, {"1": "a"}, {}, ValueError, "ids"),
        ({1: []}, {1: "a"}, {}, ValueError, "reference"),
        ({}, {1: "a"}, {}, ValueError, "reference"),
        ({1: ["a"]}, {1: "a"}, {"metrics": ["blue"]}, ValueError, "no metric is called 'blue'"),
        ({1: ["a"]}, {1: "a"}, {"metrics": ["bleu:n=0"]}, ValueError, "1 to 9"),
        ({1: ["a"]}, {1: "a"}, {"metrics": []}, ValueError, "empty"),
        ({1: ["a"]}, {1: "a"}, {"missing": "maybe"}, ValueError, "skip"),
        ({1: ["a"]}, {1: "a"}, {"threads": 0}, ValueError, "threads"),
        ("no such file.json", {1: "a"}, {}, FileNotFoundError, "no such file.json"),
        ({1: ["a"]}, 7, {}, TypeError, "int"),
        ({1: ["a"]}, None, {}, ValueError, "there are no candidates"),
    ],
)
def test_wrong_input_is_refused_with_pythons_own_exceptions(refs, hyps, options, error, words):
    with pytest.raises(error, match=words):
        capeval.score(refs, hyps, **{"metrics": ["bleu"], **options})


def test_a_key_that_is_not_there_is_a_key_error(references, candidates):
    with pytest.raises(KeyError, match="bleu-1"):
        capeval.score(references, candidates, METRICS)["bleu"]


def test_lone_surrogates_are_refused():
    words = "the text holds a surrogate without its partner, which is not a character; replace it"
    for references, candidates, place in [
        ({1: ["a"]}, {1: "\ud800"}, "candidates: image 1"),
        ({1: ["a", "b \udfff"]}, {1: "a"}, "references: image 1"),
        ({"\ud800": ["a"]}, {1: "a"}, "references"),
    ]:
        with pytest.raises(ValueError, match=f"^{place}: {words}"):
            capeval.score(references, candidates, ["bleu"])
    with pytest.raises(ValueError, match=f"^caption 0: {words}"):
        Reward({1: ["a"]}, {"rouge-l": 1.0})(1, ["\ud800"])


def test_threads_change_no_digit(quickstart):
    def run(threads):
        return capeval.score(quickstart / "references.json", quickstart / "good.json", METRICS, threads=threads)

    one, two = run(1), run(2)
    assert one.scores == two.scores
    assert all((one.segments[key] == two.segments[key]).all() for key in one.segments)


def test_calls_from_many_threads_do_not_disturb_each_other(references, candidates):
    expected = scores(references, candidates)
    found = []

    def work():
        found.extend(scores(references, candidates) == expected for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160 and all(found)


def test_progress_names_every_stage(references, candidates):
    stages = []
    systems = {"a": candidates, "b": candidates}
    capeval.compare(references, systems, METRICS, resamples=20, progress=lambda *args: stages.append(args[0]))
    assert stages[-1] == "resampling" and "writing" not in stages


def test_progress_is_reported_and_may_stop_the_work(references, candidates):
    told = []
    capeval.score(references, candidates, METRICS, progress=lambda *args: told.append(args))
    stage, done, total = told[-1]
    assert stage == "measuring" and done == total == 3

    class Enough(Exception):
        pass

    def stop(stage, done, total):
        raise Enough

    with pytest.raises(Enough):
        capeval.score(references, candidates, METRICS, progress=stop)


def test_meteor_without_data_says_what_to_do(references, candidates, monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    for metrics, file, data in [(["meteor"], "meteor", "meteor"), (["spice", "meteor"], "spice", "spice")]:
        remedy = rf'{file}-1..\.bin is missing\); call capeval.install_data\("{data}"\)'
        with pytest.raises(FileNotFoundError, match=remedy):
            capeval.score(references, candidates, metrics)
    (tmp_path / "spice-1.0.bin").write_bytes(b"a grammar")
    with pytest.raises(FileNotFoundError, match="SPICE's dictionary, .*meteor-1.5.bin is missing"):
        capeval.score(references, candidates, ["spider"])
    (tmp_path / "spice-1.0.bin").unlink()
    report = capeval.score(references, candidates)
    assert any(notice.code == "no-meteor" for notice in report.notices)


def test_data_are_installed_by_name_and_other_names_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path / "data"))
    with pytest.raises(ValueError, match="did you mean spice"):
        capeval.install_data("spise")
    for name in ["meteor", "spice"]:
        with pytest.raises(FileNotFoundError, match="none.whl"):
            capeval.install_data(name, tmp_path / "none.whl")


def test_a_cache_of_parses_without_use_is_refused_and_not_made(references, candidates, tmp_path):
    path = tmp_path / "parses"
    with pytest.raises(ValueError, match="no metric uses this cache of SPICE's parses; leave out spice_cache, or choose"):
        capeval.score(references, candidates, METRICS, spice_cache=path)
    with pytest.raises(ValueError, match="spice_cache"):
        capeval.correlate("ratings.csv", scores="scores.csv", spice_cache=path)
    assert not path.exists()


def test_parses_survive_calls(references, candidates, tmp_path):
    try:
        plain = capeval.score(references, candidates, "spice")
    except FileNotFoundError:
        pytest.skip("SPICE's data are not installed")
    path = tmp_path / "parses"
    evaluator = capeval.Evaluator(references, "spice", spice_cache=path)
    prepared = path.read_bytes()
    assert evaluator.score(candidates, spice_cache=path).scores == plain.scores
    scored = path.read_bytes()
    assert len(scored) > len(prepared)
    capeval.score(references, candidates, "spider", spice_cache=path)
    assert path.read_bytes() == scored
    path.write_bytes(scored[:-1])
    damaged = capeval.score(references, candidates, "spice", spice_cache=path)
    assert damaged.scores == plain.scores and [notice.code for notice in damaged.notices] == ["spice-cache"]
    assert path.read_bytes() == scored
    path.write_text("[]")
    with pytest.raises(ValueError, match="not a SPICE cache; refusing to overwrite it"):
        capeval.score(references, candidates, "spice", spice_cache=path)
    assert path.read_text() == "[]"


def test_parses_are_kept_in_the_folder_for_caches(references, candidates, monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_CACHE", str(tmp_path / "caches"))
    path = tmp_path / "caches" / "spice.parses"
    try:
        plain = capeval.score(references, candidates, "spice", spice_cache="none")
    except FileNotFoundError:
        pytest.skip("SPICE's data are not installed")
    assert not path.exists()
    assert capeval.score(references, candidates, "spice") == plain
    kept = path.read_bytes()
    from capeval.compat.pycocoevalcap.spice.spice import Spice

    gts = {key: [text.lower() for text in texts] for key, texts in references.items()}
    res = {key: [text.lower()] for key, text in candidates.items()}
    first = Spice().compute_score(gts, res)[0]
    both = path.read_bytes()
    assert len(both) > len(kept) and Spice().compute_score(gts, res)[0] == first
    assert path.read_bytes() == both


def test_parquet_is_read_from_files(references, candidates, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = [(key, text) for key, texts in references.items() for text in texts]
    frame = pandas.DataFrame(rows, columns=["image_id", "caption"])
    frame.to_parquet(tmp_path / "references.parquet")
    path = str(tmp_path / "references.parquet")
    assert capeval.score(path, candidates, METRICS).scores == capeval.score(references, candidates, METRICS).scores


def test_a_report_becomes_a_page(references, candidates):
    report = capeval.score(references, candidates, METRICS, gallery=True)
    page = report.to_html(title="A <title>", pictures={1: "one.jpg"})
    assert page.lower().startswith("<!doctype html>") and "A &lt;title&gt;" in page and 'id="browser"' in page
    assert 'id="browser"' not in capeval.score(references, candidates, METRICS).to_html()
    with pytest.raises(ValueError, match="gallery=True"):
        capeval.score(references, candidates, METRICS).to_html(pictures={1: "one.jpg"})


def test_pictures_can_be_part_of_a_page(references, candidates, tmp_path):
    report = capeval.score(references, candidates, METRICS, gallery=True)
    (tmp_path / "1.png").write_bytes(b"\x89PNG\r\n")
    for pictures in (str(tmp_path / "{id}.png"), {1: str(tmp_path / "1.png")}):
        assert "data:image/png;base64,iVBORw0K" in report.to_html(pictures=pictures, embed_pictures=True)
    compared = capeval.compare(references, {"a": candidates, "b": candidates}, METRICS, gallery=True, resamples=10)
    assert "data:image/png;base64,iVBORw0K" in compared.to_html(pictures=pictures, embed_pictures=True)
    assert "pictures/{id}.png" in compared.to_html(pictures="pictures/{id}.png")
    with (tmp_path / "2.png").open("wb") as large:
        large.truncate(500_000_001)
    for result in (report, compared):
        with pytest.raises(ValueError, match=r"501 MB.* 400 MB; leave out embed_pictures .*, or pass images="):
            result.to_html(pictures=str(tmp_path / "{id}.png"), embed_pictures=True)
    with pytest.raises(ValueError, match="needs pictures"):
        report.to_html(embed_pictures=True)
    with pytest.raises(ValueError, match="no picture of any image"):
        report.to_html(pictures="https://example.org/{id}.png", embed_pictures=True)


def test_notebooks_mark_no_best_score_among_different_images(references, candidates):
    fewer = {key: candidates[key] for key in list(candidates)[:2]}
    systems = {"all": candidates, "fewer": fewer}
    apart = capeval.score(references, systems=systems, metrics=["bleu"], missing="skip")
    assert not apart.same_images and "<b>" not in apart._repr_html_()
    together = capeval.score(references, systems={"one": candidates, "other": {**candidates, 1: "a cat"}}, metrics="bleu")
    assert together.same_images and "<b>" in together._repr_html_()


def test_advice_is_given_as_arguments_and_names_stay_as_they_are(references, candidates, tmp_path):
    folder = tmp_path / "run--final --missing.d"
    path = folder / "refs.json"
    with pytest.raises(FileNotFoundError) as found:
        capeval.score(path, candidates)
    assert found.value.filename == str(path)
    folder.mkdir()
    path.write_text("{\"a\": ")
    with pytest.raises(ValueError) as refused:
        capeval.score(path, candidates)
    assert str(path) in str(refused.value)
    with pytest.raises(ValueError) as lacking:
        capeval.score({**references, "a--b": ["a dog"]}, candidates)
    assert "a--b" in str(lacking.value) and 'missing="skip"' in str(lacking.value)


def test_a_report_is_a_mapping_and_has_a_plot(references, candidates):
    report = capeval.score(references, candidates, "bleu", gallery=True)
    assert dict(report) == report.scores and len(report) == 4 and report.get("meteor") is None
    assert isinstance(report, Mapping) and report == report and len({report}) == 1
    assert "<iframe" in report.plot()._repr_html_() and "&lt;svg" in report.plot()._repr_html_()


def test_suites_frequencies_and_people_have_keywords(references, candidates):
    by_name = capeval.score(references, candidates, ["sacrebleu-family"])
    assert dict(capeval.score(references, candidates, suite="sacrebleu-family")) == dict(by_name)
    uniform = capeval.score(references, candidates, ["cider-d"], idf="uniform")
    assert dict(uniform) == dict(capeval.score(references, candidates, ["cider-d:idf=uniform"]))
    with pytest.raises(ValueError, match="idf is given twice"):
        capeval.score(references, candidates, ["cider-d"], idf="uniform", settings={"idf": "corpus"})
    report = capeval.score(references, candidates, ["bleu"], human=True)
    assert list(report.systems) == ["candidates", "human"]
    people = capeval.score(references, metrics=["bleu"], human=True)
    assert people.systems["human"].scores == report.systems["human"].scores
    assert list(people.systems) == ["human"]


def test_an_evaluator_keeps_its_settings_unless_a_call_gives_others(references, candidates):
    evaluator = capeval.Evaluator(references, ["cider-d", "bleu"], idf="uniform")
    assert repr(evaluator).endswith("metrics=['cider-d', 'bleu'])")
    uniform, corpus = (dict(capeval.score(references, candidates, ["cider-d"], idf=idf)) for idf in ("uniform", "corpus"))
    assert dict(evaluator.score(candidates, ["cider-d"])) == uniform
    assert evaluator.score(candidates, idf="corpus")["cider-d"] == corpus["cider-d"]
    assert set(evaluator.score(candidates, suite="sacrebleu-family", settings={"case": "lc"})) >= {"sacrebleu", "chrf", "ter"}


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("measures", lambda rows: rows[:1]),
        ("metrics", lambda rows: [{**row, "measures": row["measures"] + 1} for row in rows]),
        ("systems", lambda rows: [{**row, "scores": {"bleu-1": 1.0}} for row in rows]),
        ("systems", lambda rows: [{**row, "signatures": {}} for row in rows]),
        ("systems", lambda rows: [{**row, "segments": {**row["segments"], "ids": []}} for row in rows]),
        ("systems", lambda rows: [{**row, "intervals": {}} for row in rows]),
    ],
)
def test_a_tampered_report_is_refused(references, candidates, part, damage):
    restore, (data,) = capeval.score(references, candidates, ["bleu"], intervals=True, resamples=50)._found.__reduce__()
    assert restore(data).systems() == ["candidates"]
    whole = json.loads(data)
    with pytest.raises(ValueError, match="the result is damaged: "):
        restore(json.dumps({**whole, part: damage(whole[part])}).encode())


def test_a_page_does_not_depend_on_the_number_of_threads():
    captions = {k: f"a {'dog cat man'.split()[k % 3]} runs {'on ' * (k % 5)}sand" for k in range(300)}
    references = {k: [caption, captions[k * 7 % 300]] for k, caption in captions.items()}
    found = capeval.compare(references, {"a": captions, "b": dict.fromkeys(captions, "a dog")}, METRICS, gallery=True)
    assert found.report.to_html(threads=1) == found.report.to_html(threads=3)
    assert found.to_html(threads=1) == found.to_html(threads=3)
    with pytest.raises(ValueError, match="threads must be a whole number from 1 to 65536, not 0"):
        found.to_html(threads=0)


def test_a_page_tells_its_progress_and_may_be_stopped(references, candidates):
    report = capeval.score(references, candidates, METRICS, gallery=True)
    told = []
    page = report.to_html(progress=lambda *args: told.append(args))
    assert told[-1] == ("writing", 3, 3)
    assert page == report.to_html() == copy.deepcopy(report).to_html()

    # Enough images that the page is not written before the first look at Ctrl-C.
    many = {k: f"a dog {k} runs on the long beach {k % 7} with a red ball" for k in range(4000)}
    report = capeval.score({k: [caption] for k, caption in many.items()}, many, ["bleu", "cider-d"], gallery=True)
    seen = []

    def stop(*args):
        seen.append(args)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report.to_html(progress=stop)
    assert [done < total for _, done, total in seen] == [True]


def test_what_is_no_caption_is_refused_accepted_or_removed():
    references = {k: [f"a dog runs {where}", "the dog ran"] for k, where in enumerate(["here", "there", "away"])}
    plain = {k: f"a dog runs {where}" for k, where in enumerate(["here", "up", "away"])}
    thought = {k: f"<think>so</think> {text}" for k, text in plain.items()}
    with pytest.raises(ValueError, match=r'3 of 3 captions.*thoughts.*clean="thoughts".*accept="thoughts"'):
        capeval.score(references, thought, "bleu")
    with pytest.warns(capeval.CaptionWarning, match="thoughts"):
        accepted = capeval.score(references, thought, "bleu", accept=["thoughts"])
    assert [notice.code for notice in accepted.notices if notice.code.startswith("accept")] == ["accept:thoughts"]
    cleaned = capeval.score(references, thought, "bleu", clean="thoughts")
    assert cleaned["bleu-4"] == capeval.score(references, plain, "bleu")["bleu-4"]
    assert "clean:thoughts(3)" in str(cleaned.signatures)
