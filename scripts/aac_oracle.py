"""Compares capeval with aac-metrics itself: sbert_sim, fer, fense and spider_fl's factor, by models in folders.

    pip install torch transformers sentence-transformers pythonwrench requests tqdm
    # aac-metrics from GitHub lies in the folder aac-metrics.
    python scripts/aac_oracle.py target/release/capeval aac-metrics/src SENTENCES DETECTOR CAPTIONS.json REFERENCES.json [THRESHOLD]

SENTENCES is a model of sentence-transformers, and DETECTOR one as scripts/convert_weights.py writes it, or the tiny one of
testdata/neural. The threshold decides how many captions of a random detector have an error.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np


def modules(source: Path) -> tuple[types.ModuleType, types.ModuleType]:
    """The modules of the metrics, without the package around them, which imports all others."""
    for name in ("aac_metrics", "aac_metrics.functional"):
        package = types.ModuleType(name)
        package.__path__ = [str(source / name.replace(".", "/"))]
        sys.modules[name] = package
    return importlib.import_module("aac_metrics.functional.fer"), importlib.import_module("aac_metrics.functional.fense")


def main(capeval: str, source: str, sentences: str, detector: str, candidates: str, references: str, threshold: float = 0.9) -> None:
    fer, fense = modules(Path(source))
    import torch
    import transformers
    from safetensors.torch import load_file
    from sentence_transformers import SentenceTransformer

    weights = {name: tensor.float() for name, tensor in load_file(Path(detector) / "model.safetensors").items()}
    config = transformers.AutoConfig.from_pretrained(detector)
    checker = fer.BERTFlatClassifier.__new__(fer.BERTFlatClassifier)
    torch.nn.Module.__init__(checker)
    checker.model_type, checker.num_classes = detector, len(weights["clf.bias"])
    checker.encoder = transformers.AutoModel.from_config(config)
    checker.dropout = torch.nn.Dropout(0.1)
    checker.clf = torch.nn.Linear(config.hidden_size, checker.num_classes)
    lacking = checker.load_state_dict(weights, strict=False).missing_keys
    assert all("pooler" in name or "position_ids" in name for name in lacking), lacking
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(Path(detector) / "tokenizer.json"), pad_token="[PAD]", model_input_names=["input_ids", "token_type_ids", "attention_mask"]
    )
    captions = json.loads(Path(candidates).read_text())
    of_image = json.loads(Path(references).read_text())
    ids = list(captions)
    corpus, each = fense.fense(
        [captions[key] for key in ids],
        [of_image[key] for key in ids],
        sbert_model=SentenceTransformer(sentences, device="cpu"),
        echecker=checker,
        echecker_tokenizer=tokenizer,
        error_threshold=threshold,
        device="cpu",
        return_probs=True,
    )
    specs = {"sbert_sim": "sbert-sim", "fer": f"fer:threshold={threshold}", "fense": f"fense:threshold={threshold}"}
    with tempfile.TemporaryDirectory() as place:
        segments, report = Path(place) / "segments.jsonl", Path(place) / "report.json"
        command = [capeval, "score", "-r", references, candidates, "-m", ",".join(specs.values()), "--empty", "keep"]
        command += ["--model", sentences, "--model", detector, "--segments", segments, "-f", "json", "--score-cache", "none"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows = {str(row["image_id"]): row["scores"] for row in map(json.loads, segments.read_text().splitlines())}
    for name, spec in specs.items():
        key = spec.split(":")[0]
        found = np.array([rows[one][key] for one in ids])
        apart = np.abs(found - each[name].double().numpy())
        whole = abs(report["systems"][0]["scores"][key] - float(corpus[name]))
        worst = ids[int(apart.argmax())]
        print(f"{key}: {len(ids)} values from {found.min():.4f} to {found.max():.4f}, largest difference {apart.max():.2e} ({worst}), corpus {whole:.2e}")


if __name__ == "__main__":
    main(*sys.argv[1:7], *map(float, sys.argv[7:]))
