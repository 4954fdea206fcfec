#!/usr/bin/env python3
"""Compare capeval's scores with pycocoevalcap's, segment by segment.

    coco_compare.py CAPEVAL SEGMENTS.jsonl ORACLE.json

CAPEVAL is the program. SEGMENTS.jsonl contains {"id", "hyp", "refs"} on each line (see segments.py);
ORACLE.json contains the corresponding results of pycocoevalcap 1.2: {"segment": {"Bleu_1": [...], ...,
"CIDEr": [...]}, "corpus": {...}, "tokens": {"hyp": [...], "refs": [[...]]}}, in the order of the segments.

The segments are scored twice. First from the reference program's own tokens, so that any difference is due to
the metrics. Then from the raw text: as one text (`ptb`), as the reference program reads it, and image by image
(`ptb-each`). In the latter case a last word such as that of "marked with a P." may lose a full stop that it
keeps before certain next captions, which also changes the document frequencies.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KEYS = {"Bleu_1": "bleu-1", "Bleu_2": "bleu-2", "Bleu_3": "bleu-3", "Bleu_4": "bleu-4",
        "ROUGE_L": "rouge-l", "CIDEr": "cider-d"}


def score(capeval, folder, segments, tokenizer):
    refs, hyps, out = (folder / name for name in ("refs.jsonl", "hyps.jsonl", "scores.jsonl"))
    with open(refs, "w", encoding="utf-8") as r, open(hyps, "w", encoding="utf-8") as h:
        for segment in segments:
            r.write(json.dumps({"image_id": segment["id"], "captions": segment["refs"]}) + "\n")
            h.write(json.dumps({"image_id": segment["id"], "caption": segment["hyp"]}) + "\n")
    done = subprocess.run(
        [capeval, "score", "-r", refs, hyps, "--empty", "keep", "--tokenizer", tokenizer,
         "--format", "json", "--segments", out], check=True, capture_output=True, text=True)
    rows = {}
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows[row["image_id"]] = row["scores"]
    return json.loads(done.stdout)["systems"][0]["scores"], [rows[s["id"]] for s in segments]


def compare(label, oracle, corpus, rows):
    for theirs, ours in KEYS.items():
        golden = oracle["segment"][theirs]
        differing = [k for k, row in enumerate(rows) if row[ours] != golden[k]]
        worst = max((abs(rows[k][ours] - golden[k]) / max(abs(golden[k]), 1e-300) for k in differing), default=0.0)
        gap = abs(corpus[ours] - oracle["corpus"][theirs]) / max(abs(oracle["corpus"][theirs]), 1e-300)
        print(f"{label:<10} {ours:<8} {len(differing):>6} of {len(rows)} segments differ in any bit, "
              f"by at most {worst:.1e}; corpus by {gap:.1e}")


def main():
    capeval, segments, oracle = sys.argv[1:4]
    with open(segments, encoding="utf-8") as lines:
        segments = [json.loads(line) for line in lines]
    with open(oracle, encoding="utf-8") as f:
        oracle = json.load(f)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        tokens = oracle["tokens"]
        cut = [{"id": s["id"], "hyp": h, "refs": r} for s, h, r in zip(segments, tokens["hyp"], tokens["refs"])]
        compare("own tokens", oracle, *score(capeval, folder, cut, "none"))
        compare("ptb", oracle, *score(capeval, folder, segments, "ptb"))
        compare("ptb-each", oracle, *score(capeval, folder, segments, "ptb-each"))


if __name__ == "__main__":
    main()
