"""Compares capeval with jmhessel/clipscore's own code and OpenAI's own model, on random weights of real size.

    pip install torch torchvision ftfy regex scikit-learn safetensors
    # jmhessel/clipscore and openai/CLIP from GitHub lie in the folders clipscore and CLIP.
    python scripts/clip_oracle.py target/release/capeval clipscore CLIP FOLDER [--captions FILE.json --images DIR --references FILE.json]

Without files it takes clipscore's example pictures and captions. FOLDER is where the model is put (605 MB).
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import torch


def make(folder: Path, clip_source: Path, model: torch.nn.Module) -> None:
    """The model in a folder: weights under OpenAI's names, and the vocabulary in Hugging Face's form."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text('{"model_type": "clip"}\n')
    from clip.simple_tokenizer import SimpleTokenizer

    tokenizer = SimpleTokenizer()
    (folder / "vocab.json").write_text(json.dumps(tokenizer.encoder))
    lines = gzip.open(clip_source / "clip" / "bpe_simple_vocab_16e6.txt.gz").read().decode().split("\n")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines[1 : 49152 - 256 - 2 + 1]]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("capeval")
    parser.add_argument("clipscore", type=Path)
    parser.add_argument("clip", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captions", type=Path)
    parser.add_argument("--images", type=Path)
    parser.add_argument("--references", type=Path)
    options = parser.parse_args()
    sys.path[:0] = [str(options.clipscore), str(options.clip)]
    # What clipscore.py imports only for other metrics.
    sys.modules["generation_eval_utils"] = types.ModuleType("generation_eval_utils")
    import clip.model
    import clipscore

    torch.manual_seed(20210418)
    model = clip.model.CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() < 2 and not name.startswith("logit"):
                parameter.add_(0.05 * torch.randn_like(parameter))
    example = options.clipscore / "example"
    images = options.images or example / "images"
    files = [options.captions] if options.captions else [example / "good_captions.json", example / "bad_captions.json"]
    references = json.loads((options.references or example / "refs.json").read_text())
    by_stem = {path.stem: path for path in images.iterdir()}
    first = json.loads(files[0].read_text())
    seen = clipscore.extract_all_images([str(by_stem[key]) for key in first], model, "cpu", 64, 0)
    said = clipscore.extract_all_captions(list(first.values()), model, "cpu", 256, 0)
    with torch.no_grad():
        # Scores below 0 are clipped, so most should be above.
        if (seen * said).sum(1).mean() < 0:
            model.visual.proj.neg_()
    make(options.folder, options.clip, model)
    for file in files:
        captions = json.loads(file.read_text())
        ids = list(captions)
        texts = [captions[key] for key in ids]
        seen = clipscore.extract_all_images([str(by_stem[key]) for key in ids], model, "cpu", 64, 0)
        _, per_image, candidates = clipscore.get_clip_score(model, seen, texts, "cpu")
        groups = [references[key] for key in ids]
        _, per_text = clipscore.get_refonlyclipscore(model, groups, candidates, "cpu")
        both = 2 * per_image * per_text / (per_image + per_text)
        expected = {"clip-s": per_image, "ref-clip-s": both, "pac-s": per_image / 2.5 * 2}
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / "references.json"
            given.write_text(json.dumps({key: references[key] for key in ids}))
            segments = Path(folder) / "segments.jsonl"
            command = [options.capeval, "score", "-r", given, file, "-m", "clip-s,ref-clip-s,pac-s", "--empty", "keep"]
            command += ["--model", options.folder, "--pictures", images, "--segments", segments]
            subprocess.run(command, check=True, capture_output=True)
            rows = {str(row["image_id"]): row["scores"] for row in map(json.loads, segments.read_text().splitlines())}
        for name, values in expected.items():
            found = np.array([rows[key][name] for key in ids])
            apart = np.abs(found - np.array(values, dtype=np.float64))
            worst = ids[int(apart.argmax())]
            print(f"{file.name} {name}: {len(ids)} values from {found.min():.4f} to {found.max():.4f}, ", end="")
            print(f"largest difference {apart.max():.2e} ({worst}: {captions[worst]!r})")


if __name__ == "__main__":
    main()
