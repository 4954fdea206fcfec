"""Compares capeval with the code of PAC-S itself (aimagelab/pacscore), on random weights of real size.

    pip install torch torchvision ftfy regex tqdm "setuptools<81"
    # The repository from GitHub lies in the folder pacscore; FOLDER is that of scripts/clip_oracle.py.
    python scripts/pac_oracle.py target/release/capeval pacscore FOLDER [CAPTIONS.json REFERENCES.json PICTURES]

Without files it takes the example of the repository.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def main(capeval: str, source: Path, folder: Path, *given: str) -> None:
    sys.path.insert(0, str(source))
    import torch
    from models.clip import model as clip
    from safetensors.torch import load_file

    # The package around it imports all other metrics.
    spec = importlib.util.spec_from_file_location("pac_score", source / "evaluation" / "pac_score" / "pac_score.py")
    pac = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pac)

    example = source / "example"
    files = [Path(given[0])] if given else [example / "good_captions.json", example / "bad_captions.json"]
    references = json.loads(Path(given[1] if given else example / "refs.json").read_text())
    pictures = Path(given[2]) if given else example / "images"
    by_stem = {path.stem: path for path in pictures.iterdir()}

    model = clip.CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).float().eval()
    model.load_state_dict(load_file(folder / "model.safetensors"))
    for file in files:
        captions = json.loads(file.read_text())
        ids = list(captions)
        texts, groups = [captions[key] for key in ids], [references[key] for key in ids]
        with torch.no_grad():
            _, per_image, candidates, lengths = pac.PACScore(model, None, [str(by_stem[key]) for key in ids], texts, "cpu", w=2.0)
            _, per_text = pac.RefPACScore(model, groups, candidates, "cpu", torch.tensor(lengths))
        # As compute_metrics.py does.
        both = 2 * per_image * per_text / (per_image + per_text)
        with tempfile.TemporaryDirectory() as place:
            refs, segments = Path(place) / "references.json", Path(place) / "segments.jsonl"
            refs.write_text(json.dumps(dict(zip(ids, groups))))
            command = [capeval, "score", "-r", refs, file, "-m", "pac-s,ref-pac-s", "--empty", "keep", "--model", folder]
            subprocess.run([*command, "--pictures", pictures, "--segments", segments], check=True, capture_output=True)
            rows = {str(row["image_id"]): row["scores"] for row in map(json.loads, segments.read_text().splitlines())}
        for name, values in {"pac-s": per_image, "ref-pac-s": both}.items():
            found = np.array([rows[key][name] for key in ids])
            apart = np.abs(found - np.array(values, dtype=np.float64))
            worst = ids[int(apart.argmax())]
            print(f"{file.name} {name}: {len(ids)} values from {found.min():.4f} to {found.max():.4f}, ", end="")
            print(f"largest difference {apart.max():.2e} ({worst}: {captions[worst]!r})")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:4]), *sys.argv[4:])
