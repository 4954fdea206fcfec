#!/usr/bin/env python3
"""Write the pages of the gallery into docs/gallery, from where the site takes them.

    gallery.py PROGRAM [DATA]

DATA is a folder with captions of public systems: `coco_karpathy_test` and `flickr8k`, as their authors publish them. Without it, the
pages show the captions of the quick start. The leaderboard is the one that `board.py` has kept, in the server's styles of today.
"""

import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "gallery"

# How many images a page shows, so that it opens at once on a phone.
IMAGES = 300

METRICS = "bleu,rouge-l,cider-d"


def quick(folder):
    """The captions of the quick start, and ratings made up for them."""
    examples = ROOT / "examples" / "quickstart"
    for name in ("references.json", "good.json", "weak.json"):
        shutil.copy(examples / name, folder)
    rows = []
    for name, rating in (("good", 4), ("weak", 2)):
        for row in json.loads((examples / f"{name}.json").read_text(encoding="utf-8")):
            rows.append({"image_id": row["image_id"], "caption": row["caption"], "rating": rating - row["image_id"] % 2})
    (folder / "ratings.json").write_text(json.dumps(rows), encoding="utf-8")
    return ["references.json"], ["weak.json", "good.json"], ["ratings.json", "-r", "references.json"]


def public(folder, data):
    """Captions of public systems of the same images, and people's ratings of captions of Flickr8k."""

    def unpacked(path):
        target = folder / path.name.removesuffix(".gz")
        target.write_bytes(gzip.decompress(path.read_bytes()))
        return target.name

    coco = data / "coco_karpathy_test"
    references = unpacked(coco / "refs.json.gz")
    systems = [unpacked(coco / "systems" / f"{name}.json.gz") for name in ("scn_lstm", "showedittell_xe", "showedittell_rl")]
    ids = [{row["image_id"] for row in json.loads((folder / name).read_text(encoding="utf-8"))} for name in systems]
    shown = sorted(set.intersection(*ids))[:IMAGES]
    (folder / "images.json").write_text(json.dumps(shown), encoding="utf-8")
    listed = ["--images", "images.json", "--surplus", "ignore"]
    return [references, *listed], systems, [unpacked(data / "flickr8k" / "expert_clipscore_form.json.gz")]


def board():
    """The leaderboard that is kept, with its styles inside."""
    styles = {path.name: path for path in ROOT.glob("crates/*/assets/*.css")}

    def inside(link):
        if link[1] not in styles:
            sys.exit(f"scripts/board.html wants {link[1]}, which no crate has: run scripts/board.py")
        return f"<style>{styles[link[1]].read_text(encoding='utf-8')}</style>"

    kept = (ROOT / "scripts" / "board.html").read_text(encoding="utf-8")
    return re.sub(r'<link rel="stylesheet" href="([^"]*)">', inside, kept)


def main():
    program = Path(sys.argv[1]).resolve()
    data = Path(sys.argv[2]) if len(sys.argv) > 2 and Path(sys.argv[2]).is_dir() else None
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "board.html").write_text(board(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        references, systems, ratings = public(folder, data) if data else quick(folder)
        score = ["score", "-r", *references, *systems, "-m", METRICS, "--ci", "--resamples", "1000", "--human"]
        compare = ["compare", "-r", *references, *systems, "-m", METRICS, "--resamples", "1000", "--all-pairs"]
        correlate = ["correlate", *ratings, "-m", METRICS]
        for page, command in (("score", score), ("comparison", compare), ("correlation", correlate)):
            call = [program, *command, "-q", "--html", FOLDER / f"{page}.html"]
            subprocess.run(call, cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
