"""Compare sbert-sim, fer and fense with aac-metrics itself, by models in folders.

    run.py fense SOURCE SENTENCES DETECTOR CAPTIONS.json REFERENCES.json [THRESHOLD]

SOURCE is `src` of a clone of Labbeti/aac-metrics, SENTENCES a model of sentence-transformers, and DETECTOR one as
scripts/convert_weights.py writes it, or the tiny one of testdata/neural. The threshold decides how many captions of a random
detector have an error. Needs torch, transformers, sentence-transformers, pythonwrench, requests and tqdm.
"""
import importlib
import json
import sys
import types
from pathlib import Path

from shared import Comparison, options, score


def modules(source):
    """The modules of the metrics, without the package around them, which imports all others."""
    for name in ("aac_metrics", "aac_metrics.functional"):
        package = types.ModuleType(name)
        package.__path__ = [str(source / name.replace(".", "/"))]
        sys.modules[name] = package
    return importlib.import_module("aac_metrics.functional.fer"), importlib.import_module("aac_metrics.functional.fense")


def checker_of(fer, detector):
    """The detector of errors and its tokenizer, from a folder."""
    import torch
    import transformers
    from safetensors.torch import load_file

    weights = {name: tensor.float() for name, tensor in load_file(detector / "model.safetensors").items()}
    config = transformers.AutoConfig.from_pretrained(detector)
    checker = fer.BERTFlatClassifier.__new__(fer.BERTFlatClassifier)
    torch.nn.Module.__init__(checker)
    checker.model_type, checker.num_classes = str(detector), len(weights["clf.bias"])
    checker.encoder = transformers.AutoModel.from_config(config)
    checker.dropout = torch.nn.Dropout(0.1)
    checker.clf = torch.nn.Linear(config.hidden_size, checker.num_classes)
    lacking = checker.load_state_dict(weights, strict=False).missing_keys
    assert all("pooler" in name or "position_ids" in name for name in lacking), lacking
    names = ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer = str(detector / "tokenizer.json")
    return checker, transformers.PreTrainedTokenizerFast(tokenizer_file=tokenizer, pad_token="[PAD]", model_input_names=names)


def main(arguments):
    parser = options(__doc__, ("source", {"type": Path}), "sentences", ("detector", {"type": Path}), "captions", "references")
    parser.add_argument("threshold", nargs="?", type=float, default=0.9)
    given = parser.parse_args(arguments)
    fer, fense = modules(given.source)
    from sentence_transformers import SentenceTransformer

    checker, tokenizer = checker_of(fer, given.detector)
    captions, references = (json.loads(Path(path).read_text()) for path in (given.captions, given.references))
    corpus, each = fense.fense(
        list(captions.values()),
        [references[key] for key in captions],
        sbert_model=SentenceTransformer(given.sentences, device="cpu"),
        echecker=checker,
        echecker_tokenizer=tokenizer,
        error_threshold=given.threshold,
        device="cpu",
        return_probs=True,
    )
    threshold = f"threshold={given.threshold}"
    names = {"sbert_sim": "sbert-sim", "fer": f"fer:{threshold}", "fense": f"fense:{threshold}"}
    whole, rows = score(captions, references, list(names.values()), "--model", given.sentences, "--model", given.detector)
    comparison = Comparison()
    for name, spec in names.items():
        key = spec.split(":")[0]
        comparison.add(key, [row[key] for row in rows], each[name].double().tolist(), 1e-5, list(captions.values()))
        comparison.add(f"{key}, corpus", [whole[key]], [float(corpus[name])], 1e-5)
    return comparison.end()
