#!/usr/bin/env python3
"""Score a results file with pycocoevalcap 1.2, without SPICE, and print the time of each step.

    coco_eval.py REFS.json HYPS.json [--meteor]

Needs Java. `score.py` runs it as well as capeval, and with the drop-in of capeval's package.
"""
import json
import sys
import time
from collections import OrderedDict

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer


def main():
    started = clock = time.time()

    def lap(label):
        nonlocal clock
        print(f"{label:<10} {time.time() - clock:8.2f} s", file=sys.stderr)
        clock = time.time()

    refs, hyps = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    res = OrderedDict((row["image_id"], [{"caption": row["caption"]}]) for row in hyps)
    gts = OrderedDict((image, []) for image in res)
    for row in refs["annotations"]:
        if row["image_id"] in gts:
            gts[row["image_id"]].append({"caption": row["caption"]})
    lap("json")
    tokenizer = PTBTokenizer()
    gts, res = tokenizer.tokenize(gts), tokenizer.tokenize(res)
    lap("ptb")
    scorers = [("bleu", Bleu(4)), ("rouge-l", Rouge()), ("cider-d", Cider())]
    if "--meteor" in sys.argv:
        scorers.append(("meteor", Meteor()))
    for name, scorer in scorers:
        score, _ = scorer.compute_score(gts, res)
        lap(name)
        print(name, score)
    print(f"total      {time.time() - started:8.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
