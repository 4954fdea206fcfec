#!/usr/bin/env python3
"""Run vrama91/cider's plain CIDEr and CIDEr-D, with document frequencies from the corpus or from a table.

    PYTHONPATH=CHECKOUT cider_variants.py SEGMENTS.jsonl [--df data/TABLE.p] > SCORES.json

CHECKOUT is a copy of the Python 3 version of that repository (ruotianluo/cider); SEGMENTS.jsonl contains
tokenised text, {"id": str, "hyp": str, "refs": [str, ...]} on each line. A table must be in the folder `data`
of the working directory, because the program looks for it there.
"""
import argparse
import json
import os

from pyciderevalcap.cider.cider_scorer import CiderScorer
from pyciderevalcap.ciderD.ciderD_scorer import CiderScorer as CiderDScorer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("segments")
    parser.add_argument("--df", default="corpus")
    args = parser.parse_args()
    mode = args.df if args.df == "corpus" else os.path.splitext(os.path.basename(args.df))[0]
    with open(args.segments, encoding="utf-8") as lines:
        segments = [json.loads(line) for line in lines]
    out = {"ids": [s["id"] for s in segments], "corpus": {}, "segment": {}}
    for name, scorer in (("cider", CiderScorer), ("cider-d", CiderDScorer)):
        scorer = scorer(df_mode=mode)
        for segment in segments:
            scorer += (segment["hyp"], segment["refs"])
        score, scores = scorer.compute_score()
        out["corpus"][name] = float(score)
        out["segment"][name] = [float(x) for x in scores]
    print(json.dumps(out))


if __name__ == "__main__":
    main()
