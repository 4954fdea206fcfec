"""Metrics that compare vectors: by models in a folder, and by vectors in memory and in files."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import capeval

ROOT = Path(os.environ.get("CAPEVAL_ROOT", Path(__file__).parents[2]))
MODELS = ROOT / "testdata" / "neural"
REFERENCES = {1: ["a cat", "two cats"], 2: ["a dog runs"], 3: ["birds", "a lake", "water"]}
CAPTIONS = {1: "a cat sits", 2: "a dog", 3: "birds fly"}

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason="the tiny models are not here; set CAPEVAL_ROOT to a checkout")


def vectors(n: int, seed: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 16)).astype(dtype)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a.astype(float), b.astype(float)))
    return (a * b).sum(1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_give_the_scores_of_numpy(dtype):
    images, candidates = vectors(3, 1, dtype), vectors(3, 2, dtype)
    references = vectors(6, 3, dtype)
    given = {
        "images": ([1, 2, 3], images),
        "candidates": dict(zip([1, 2, 3], candidates)),
        "references": ([1, 1, 2, 3, 3, 3], references),
    }
    report = capeval.score(REFERENCES, CAPTIONS, ["clip-s", "ref-clip-s", "sbert-sim"], vectors=given)
    clip = 2.5 * np.maximum(cosines(candidates, images), 0)
    groups = [[0, 1], [2], [3, 4, 5]]
    pairs = [cosines(candidates[[k] * len(group)], references[group]) for k, group in enumerate(groups)]
    text = np.array([pair.max() for pair in pairs])
    expected = {
        "clip-s": clip,
        "ref-clip-s": 2 * clip * text / (clip + text),
        "sbert-sim": np.array([pair.mean() for pair in pairs]),
    }
    for key, values in expected.items():
        found = np.array([report.segments[key][k] for k in range(3)])
        np.testing.assert_allclose(found, values, atol=2e-7, err_msg=key)
        assert report[key] == pytest.approx(values.mean(), abs=2e-7)


def test_an_id_may_have_a_matrix_with_a_row_for_each_of_its_references():
    given = {"candidates": dict(zip([1, 2, 3], vectors(3, 2)))}
    rows = vectors(6, 3)
    forms = [([1, 1, 2, 3, 3, 3], rows), {1: rows[:2], 2: rows[2], 3: rows[3:].tolist()}]
    listed, by_id = (
        capeval.score(REFERENCES, CAPTIONS, ["sbert-sim"], vectors={**given, "references": references}) for references in forms
    )
    assert list(by_id.segments["sbert-sim"]) == list(listed.segments["sbert-sim"])
    with pytest.raises(ValueError, match="the matrix of 2 has no rows"):
        capeval.score(REFERENCES, CAPTIONS, ["sbert-sim"], vectors={**given, "references": {1: rows[:2], 2: rows[:0]}})


def test_files_are_those_of_numpy(tmp_path):
    images, texts = vectors(3, 1), vectors(9, 2)
    np.save(tmp_path / "images~ViT.npy", images)
    (tmp_path / "images~im2row.json").write_text(json.dumps({f"{k:012}": k - 1 for k in (1, 2, 3)}))
    all_texts = [*CAPTIONS.values(), *(text for group in REFERENCES.values() for text in group)]
    files = {"images": tmp_path / "images~ViT.npy", "texts": (all_texts, texts)}
    held = {"images": ([1, 2, 3], images), "texts": dict(zip(all_texts, texts))}
    reports = [capeval.score(REFERENCES, CAPTIONS, ["ref-clip-s"], vectors=given) for given in (files, held)]
    assert reports[0]["ref-clip-s"] == reports[1]["ref-clip-s"]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_tables_of_parquet_are_files_of_vectors(tmp_path, kind):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    images, candidates = vectors(3, 1, kind), ([1, 2, 3], vectors(3, 2))
    item = getattr(pyarrow, kind)()
    for listed in (pyarrow.list_(item), pyarrow.list_(item, images.shape[1])):
        column = pyarrow.array([list(row) for row in images], type=listed)
        table = pyarrow.table({"model": ["b32"] * 3, "embedding": column, "image_id": [1, 2, 3]})
        parquet.write_table(table, tmp_path / "images.parquet")
        given = [tmp_path / "images.parquet", ([1, 2, 3], images)]
        scores = [
            capeval.score(REFERENCES, CAPTIONS, ["clip-s"], vectors={"images": one, "candidates": candidates}) for one in given
        ]
        assert scores[0]["clip-s"] == scores[1]["clip-s"]


@needs_models
def test_models_score_and_explain():
    model = MODELS / "roberta"
    metrics = ["bert-score:layer=2"]
    report = capeval.score(REFERENCES, CAPTIONS, metrics, model=model, intervals=True)
    assert 0 < report["bert-score-f"] <= 1
    again = capeval.Evaluator(REFERENCES, metrics=["bleu"]).score(CAPTIONS, metrics=metrics, model=str(model))
    assert again["bert-score-f"] == report["bert-score-f"]
    (explained,) = capeval.explain(REFERENCES, CAPTIONS, metrics, images=3, model=[model])
    f = explained.metrics["bert-score"].scores[0]
    assert (f.title, f.value) == ("BERTScore F", report.segments["bert-score-f"][2])
    assert all(part.matches for part in f.parts)


def test_what_cannot_be_compared_is_refused():
    def refused(error, match, metrics=("clip-s",), **given):
        with pytest.raises(error, match=match):
            capeval.score(REFERENCES, CAPTIONS, list(metrics), **given)

    images, candidates = ([1, 2, 3], vectors(3, 1)), ([1, 2, 3], vectors(3, 2))
    refused(ValueError, "such as CLIP, and there is none")
    refused(ValueError, "vectors cannot be of", vectors={"sounds": images})
    refused(TypeError, "must be a dictionary by what they are of", vectors=[images])
    refused(TypeError, "must be a path, a dictionary", vectors={"images": 3})
    refused(ValueError, "there are 2 ids and 3 rows", vectors={"images": ([1, 2], images[1])})
    refused(ValueError, "has the shape", vectors={"images": {1: [1.0, 2.0], 2: [1.0]}})
    refused(TypeError, "consist of numbers", vectors={"images": {1: ["a", "b"]}})
    refused(ValueError, "no metric uses", ["bleu"], vectors={"images": images})
    refused(ValueError, "has no vector of image 3", vectors={"images": ([1, 2], images[1][:2]), "candidates": candidates})
    zero = ([1, 2, 3], np.zeros((3, 16)))
    refused(ValueError, "consists of zeros", vectors={"images": zero, "candidates": candidates})
    refused(TypeError, "a model is a folder or a name", model=[3])
    refused(ValueError, "there is no such folder", model="/no/such/model")


@needs_models
@pytest.mark.parametrize("by", ["model", "vectors"])
def test_rows_of_tables_have_the_scores_of_the_report(by, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from capeval.arrow import RowScorer

    rows = {
        "image_id": list(CAPTIONS),
        "candidate": list(CAPTIONS.values()),
        "references": [REFERENCES[image] for image in CAPTIONS],
    }
    if by == "model":
        metrics, given = ["bert-score:layer=2", "fer", "rouge-l"], {"model": [MODELS / "roberta", MODELS / "detector"]}
    else:
        texts = list(dict.fromkeys([*CAPTIONS.values(), *(text for some in REFERENCES.values() for text in some)]))
        found = capeval.Embedded(texts, vectors(len(texts), 2))
        found.save(tmp_path / "texts.safetensors")
        images = (list(CAPTIONS), vectors(len(CAPTIONS), 1))
        metrics, given = ["ref-clip-s", "rouge-l"], {"vectors": {"images": images, "texts": tmp_path / "texts.safetensors"}}
    report = capeval.score(REFERENCES, CAPTIONS, metrics, segments=True, **given)
    scorer = pickle.loads(pickle.dumps(RowScorer(metrics, **given)))
    batch = pyarrow.RecordBatch.from_pydict(rows)
    scores = scorer.scores(batch, id="image_id").to_pydict()
    assert {key: list(values) for key, values in report.segments.items()} == scores
    sums = [scorer.sums(batch.slice(k, 1), id="image_id") for k in range(batch.num_rows)]
    merged = scorer.report(*sums)
    assert {key: merged[key] for key in scores} == {key: report[key] for key in scores}


@needs_models
def test_pictures_have_no_place_in_rows():
    from capeval.arrow import RowScorer, needed_frequencies

    with pytest.raises(ValueError, match="clip-s looks at pictures, and rows of tables have none"):
        RowScorer(["clip-s"], model=MODELS / "clip-quick")
    assert needed_frequencies(["clip-s"]) is None
