"""Compare BERTScore and the similarity of sentences with bert_score and sentence-transformers, on the same weights.

    run.py bert CAPTIONS.json REFERENCES.json FOLDER ...

FOLDERs are models; those of sentence-transformers have modules.json. Captions are {id: text}, references {id: [text]}.
Needs bert_score and sentence-transformers.
"""
import json
from pathlib import Path

from shared import Comparison, options, score


def tokens(comparison, folder, captions, references):
    import bert_score
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    layer = {24: 17, 12: 9}.get(getattr(config, "num_hidden_layers", None) or config.n_layers, 2)
    texts = list(captions.values())
    for idf in (False, True):
        # One pair at a time, since padding changes what is below 0.
        expected = bert_score.score(
            texts, [references[key] for key in captions], model_type=str(folder), num_layers=layer, idf=idf, batch_size=1, nthreads=1
        )
        # transformers 5 ignores the space before the first word.
        spec = f"bert-score:layer={layer}:idf={'yes' if idf else 'no'}:prefix-space=no"
        _, rows = score(captions, references, [spec], "--model", folder)
        for key, values in zip("prf", expected):
            name = f"{folder.name} {key.upper()} {'idf' if idf else 'no idf'}"
            comparison.add(name, [row[f"bert-score-{key}"] for row in rows], values.double().tolist(), 1e-5, texts)


def sentences(comparison, folder, captions, references):
    import numpy as np
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")

    def unit(texts):
        vectors = model.encode(texts, convert_to_numpy=True).astype(np.float64)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    expected = [float((unit([captions[key]]) @ unit(references[key]).T).mean()) for key in captions]
    _, rows = score(captions, references, ["sbert-sim"], "--model", folder)
    comparison.add(f"{folder.name} sbert-sim", [row["sbert-sim"] for row in rows], expected, 1e-5, list(captions.values()))


def main(arguments):
    given = options(__doc__, "captions", "references", ("folders", {"nargs": "+", "type": Path})).parse_args(arguments)
    captions, references = (json.loads(Path(path).read_text()) for path in (given.captions, given.references))
    comparison = Comparison()
    for folder in given.folders:
        (sentences if (folder / "modules.json").is_file() else tokens)(comparison, folder, captions, references)
    return comparison.end()
