"""capeval.meta: benchmarks by name, on small files of their forms."""

import importlib.util
import json

import pytest

import capeval

RATED = [
    ("a", "a brown dog runs on the sand", 5.0),
    ("a", "a cat sleeps", 1.0),
    ("b", "two children fly a kite", 4.0),
    ("b", "a man rides a horse", 2.0),
]
REFERENCES = {"a": ["A dog runs along the beach.", "a dog on the sand"], "b": ["two children fly a kite in a park"]}


@pytest.fixture
def folder(tmp_path):
    rows = [
        {"image": image, "caption": caption, "references": REFERENCES[image], "human": rating}
        for image, caption, rating in RATED
    ]
    (tmp_path / "composite.json").write_text(json.dumps({"flickr8k": rows[:2], "coco": rows[2:]}))
    lines = [f"{image},{caption},\"{REFERENCES[image]!r}\",{rating}" for image, caption, rating in RATED]
    (tmp_path / "polaris_test.csv").write_text("\n".join(["imgid,mt,refs,score", *lines]).replace("A dog runs along the beach.", "x"))
    return tmp_path


def test_benchmarks_are_listed_and_shown():
    names = capeval.meta.list()
    assert {"flickr8k-expert", "flickr8k-cf", "composite", "pascal-50s"} < set(names)
    shown = capeval.meta.show("flickr8k-cf")
    assert shown["coefficient"] == "tau-b"
    assert shown["published"][0]["values"]["cider-d"] == "24.6"
    with pytest.raises(ValueError, match="did you mean composite"):
        capeval.meta.show("compsite")


def test_metrics_and_scores_are_run_and_compared_with_published_values(folder):
    clip = [{"image_id": image, "caption": caption, "CLIPScore": rating / 5} for image, caption, rating in RATED]
    report = capeval.meta.run(
        ["composite", "polaris"], folder, "rouge-l,cider-d", scores={"composite": clip}, subset=True, resamples=50
    )
    assert [*report] == ["composite", "polaris"]
    assert "polaris" in report
    assert [*report["composite"]] == ["rouge-l", "cider-d", "CLIPScore"]
    assert [*report["polaris"]] == ["rouge-l", "cider-d"]
    agreement = report["composite"]["CLIPScore"]
    assert agreement.value == 1.0
    assert agreement.interval is not None
    assert agreement.published[0].value == "53.8"
    assert agreement.published[0].verdict == "differs"
    assert any("composite" in words and "53.8" in words for words in report.unmet)
    assert "100.0" in str(report)
    assert report.to_latex().count("\\begin{tabular}") == 2
    assert "<svg" in report.to_html()
    assert report.to_dict()["benchmarks"]["polaris"]["images"] == 2
    assert report._repr_markdown_() == report.to_markdown() and "100.0" in report.to_markdown()
    if importlib.util.find_spec("polars"):
        frame = report.to_polars()
        assert frame["benchmark"].to_list() == ["composite"] * 3 + ["polaris"] * 2
        assert (frame["value"][2], frame["low"][2]) == (1.0, agreement.interval[0])
    with pytest.raises(KeyError, match="nebula"):
        report["nebula"]


def test_what_cannot_be_run_raises(folder, tmp_path):
    with pytest.raises(ValueError, match="composite.json holds 4 ratings, and the real file 11985 ratings.*subset=True"):
        capeval.meta.run("composite", folder, "rouge-l")
    with pytest.raises(ValueError, match="get them from Hugging Face Ka2ukiMatsuda/Nebula"):
        capeval.meta.run("nebula", folder, "rouge-l", subset=True)
    with pytest.raises(FileNotFoundError):
        capeval.meta.run("composite", tmp_path / "none", "rouge-l")
    with pytest.raises(ValueError, match="no benchmark is called"):
        capeval.meta.run("x", folder)
    with pytest.raises(ValueError, match="no benchmark is named"):
        capeval.meta.run([], folder)
    with pytest.raises(ValueError, match="level"):
        capeval.meta.run("composite", folder, level=0, subset=True)
    with pytest.raises(ValueError, match="tokenizer"):
        capeval.meta.run("composite", folder, scores={"x": 1.0}, tokenizer="13a", subset=True)


def test_a_function_stands_beside_metrics(folder):
    ratio = capeval.metric("ratio", lambda candidates, references: [len(c) / len(r[0]) for c, r in zip(candidates, references)])
    report = capeval.meta.run("polaris", folder, ["rouge-l", ratio], subset=True, resamples=50)
    assert [*report["polaris"]] == ["rouge-l", "ratio"]
    assert report["polaris"]["ratio"].interval is not None
