"""Saves weights that are pickled as safetensors, in a folder that `capeval --model` takes.

PAC-S (`.pth`, OpenAI's names under `state_dict`) and FENSE's detector of errors (`.ckpt`) come without configuration and
tokenizer, which are those of the model that they were trained from.

    pip install torch safetensors
    python scripts/convert_weights.py openClip_ViT-L-14.pth BASE_FOLDER pac-s
    python scripts/convert_weights.py echecker_clotho_audiocaps_base.ckpt bert-base-uncased fense-detector
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

BESIDE = [
    "config.json",
    "open_clip_config.json",
    "preprocessor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
]


def main(pickled: Path, base: Path, out: Path) -> None:
    # Only tensors and plain values are loaded; anything else is an error.
    found = torch.load(pickled, map_location="cpu", weights_only=True)
    while isinstance(found, dict) and "state_dict" in found:
        found = found["state_dict"]
    weights = {}
    for name, value in found.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            weights[name.removeprefix("module.")] = value.float().contiguous().clone()
    if not weights:
        raise SystemExit(f"{pickled}: there are no weights")
    out.mkdir(parents=True, exist_ok=True)
    for name in BESIDE:
        if (base / name).is_file():
            shutil.copyfile(base / name, out / name)
    save_file(weights, out / "model.safetensors", {"format": "pt"})
    print(f"{out}: {len(weights)} tensors; capeval model check {out}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
