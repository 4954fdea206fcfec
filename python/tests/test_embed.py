"""Vectors by models that run in Python: functions, and models of other packages where these are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import capeval

MODELS = Path(__file__).parents[2] / "testdata/neural"
PICTURES = Path(__file__).parents[2] / "testdata/pictures"
TEXTS = ["a man rides a horse", "two small dogs", "a bus", "a man rides a horse"]


def lengths(texts):
    return [[len(text), 1.0, text.count("a")] for text in texts]


def test_a_function_makes_vectors_once_for_each_text():
    calls = []

    def counted(texts):
        calls.append(list(texts))
        return lengths(texts)

    seen = []
    found = capeval.embed(counted, texts=TEXTS, batch_size=2, progress=lambda stage, done, total: seen.append((stage, done, total)))
    assert found.ids == TEXTS[:3] and calls == [TEXTS[:2], TEXTS[2:3]]
    assert found.matrix.dtype == np.float32 and found.matrix.tolist() == lengths(TEXTS[:3])
    assert seen == [("embedding", 2, 3), ("embedding", 3, 3)]
    with_prefix = capeval.embed(lengths, texts=["a"], prefix="A photo depicts ")
    assert with_prefix.ids == ["a"] and with_prefix.matrix[0, 0] == 17


@pytest.mark.parametrize("name", ["texts.safetensors", "texts.npy"])
def test_vectors_are_scored_as_they_are_and_from_files(tmp_path, name):
    references, captions = {1: ["a man rides a horse", "a bus"]}, {1: "two small dogs"}
    found = capeval.embed(lengths, texts=TEXTS)
    found.save(tmp_path / name)
    given = [found, tmp_path / name]
    scores = [capeval.score(references, captions, ["sbert-sim"], vectors={"texts": one})["sbert-sim"] for one in given]
    assert scores[0] == scores[1] != 0


def test_pictures_are_those_of_a_folder_or_a_dictionary(tmp_path):
    for name in ("2.png", "1.jpg", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    found = capeval.embed(lambda paths: [[float(path.stem), 1] for path in paths], pictures=tmp_path)
    assert found.ids == ["1", "2"] and found.matrix.tolist() == [[1, 1], [2, 1]]
    found = capeval.embed(lambda held: [[number] for number in held], pictures={7: 3, 8: 4})
    assert found == ([7, 8], found.matrix) and found.matrix.tolist() == [[3], [4]]
    (tmp_path / "2.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match="several pictures are called 2"):
        capeval.embed(lengths, pictures=tmp_path)


def test_what_makes_no_vectors_is_refused():
    def refused(error, match, model, **given):
        with pytest.raises(error, match=match):
            capeval.embed(model, **(given or {"texts": ["a", "b"]}))

    refused(TypeError, "either texts or pictures", lengths, texts=[], pictures={})
    refused(TypeError, "must be a list of texts, not str", lengths, texts="a dog")
    refused(TypeError, "one is int", lengths, texts=["a", 1])
    refused(ValueError, "there are no texts", lengths, texts=[])
    refused(FileNotFoundError, "no such folder of pictures", lengths, pictures="/no/such/folder")
    refused(TypeError, "model must be a SentenceTransformer", "clip")
    refused(ValueError, r"of the shape \(1, 2\) for 2 items", lambda texts: [[1, 2]])
    refused(ValueError, "and not a vector of numbers for each", lambda texts: [["x"]] * len(texts))
    refused(ValueError, "the vector of 'b' has a number that is not finite", lambda texts: [[1.0], [float("nan")]])
    with pytest.raises(ValueError, match="vectors of 2 numbers, and then of 1"):
        capeval.embed(lambda texts: [[1.0] * len(texts)] * len(texts), texts=["a", "b", "c"], batch_size=2)
    with pytest.raises(ValueError, match="as .safetensors or as .npy"):
        capeval.embed(lengths, texts=["a"]).save("vectors.csv")


@pytest.mark.skipif(not MODELS.exists(), reason="the tiny models are not here")
def test_models_of_transformers_give_the_vectors_of_the_engine(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    folder = MODELS / "clip-quick"
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="<|endoftext|>")
    size = model.config.vision_config.image_size
    # The other processor of transformers resizes otherwise than Pillow.
    pil = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    pictures = pil(size={"shortest_edge": size}, crop_size={"height": size, "width": size})

    def processor(text=None, images=None, **given):
        return tokenizer(text, **given) if images is None else pictures(images, **given)

    # Texts whose cosines are positive, below which clip-s is 0.
    references, captions = {1: ["a man"], 2: ["a bus"]}, {1: "it's red", 2: "birds fly over the lake"}
    files = {1: PICTURES / "420.jpg", 2: PICTURES / "rgb.png"}
    texts = capeval.embed((model, processor), texts=captions.values(), prefix="A photo depicts ")
    images = capeval.embed((model, processor), pictures=files)
    ours = capeval.score(references, captions, ["clip-s:crop=hf"], model=folder, pictures=files)
    theirs = capeval.score(references, captions, ["clip-s"], vectors={"texts": texts, "images": images})
    assert 0 < ours["clip-s"] == pytest.approx(theirs["clip-s"], abs=1e-5)
