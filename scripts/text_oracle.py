"""Compares BERTScore and the similarity of sentences with bert_score and sentence-transformers, on the same weights.

    pip install bert_score sentence-transformers, and capeval
    python scripts/text_oracle.py captions.json references.json FOLDER…

FOLDERs are models; those of sentence-transformers have modules.json. Captions are {id: text}, references {id: [text]}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bert_score
import numpy as np
import transformers

import capeval


def told(name: str, found: np.ndarray, expected: np.ndarray, texts: list[str]) -> None:
    apart = np.abs(found - expected)
    worst = int(apart.argmax())
    print(f"{name}: {len(found)} values from {found.min():.4f} to {found.max():.4f}, ", end="")
    print(f"largest difference {apart.max():.2e} ({texts[worst]!r})", flush=True)


def tokens(folder: str, captions: dict, references: dict) -> None:
    config = transformers.AutoConfig.from_pretrained(folder)
    layers = getattr(config, "num_hidden_layers", None) or config.n_layers
    layer = {24: 17, 12: 9}.get(layers, 2)
    ids = list(captions)
    texts = [captions[key] for key in ids]
    for idf in (False, True):
        # One pair at a time, since padding changes what is below 0.
        expected = bert_score.score(
            texts, [references[key] for key in ids], model_type=folder, num_layers=layer, idf=idf, batch_size=1, nthreads=1
        )
        # transformers 5 ignores the space before the first word.
        spec = f"bert-score:layer={layer}:idf={'yes' if idf else 'no'}:prefix-space=no"
        found = capeval.score(references, captions, [spec], model=folder, empty="keep", score_cache="none")
        for key, values in zip("prf", expected):
            scores = np.array([found.segments[f"bert-score-{key}"][k] for k in range(len(ids))])
            told(f"{Path(folder).name} {key.upper()} {'idf' if idf else 'no idf'}", scores, values.numpy(), texts)


def sentences(folder: str, captions: dict, references: dict) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    ids = list(captions)

    def unit(texts: list[str]) -> np.ndarray:
        vectors = model.encode(texts, convert_to_numpy=True).astype(np.float64)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    expected = np.array([float((unit([captions[key]]) @ unit(references[key]).T).mean()) for key in ids])
    found = capeval.score(references, captions, ["sbert-sim"], model=folder, empty="keep")
    scores = np.array([found.segments["sbert-sim"][k] for k in range(len(ids))])
    told(f"{Path(folder).name} sbert-sim", scores, expected, [captions[key] for key in ids])


def main(captions: str, references: str, folders: list[str]) -> None:
    read = [json.loads(Path(path).read_text()) for path in (captions, references)]
    print("bert_score", bert_score.__version__, "transformers", transformers.__version__)
    for folder in folders:
        (sentences if (Path(folder) / "modules.json").is_file() else tokens)(folder, *read)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
