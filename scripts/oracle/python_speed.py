#!/usr/bin/env python3
"""Time capeval's Python package and the Python originals in the same run.

    python_speed.py REFERENCES.json[.gz] RESULTS.json[.gz]

Needs a Python with capeval, pycocoevalcap==1.2 and Java, and COCO-like captions of a few thousand images. Prints wall
and CPU seconds, since other processes may run on the machine: for capeval the median of many runs, for the originals
a single run (CIDEr-D: the median of five). METEOR and SPICE are skipped.
"""
import contextlib
import gzip
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

warnings.simplefilter("ignore")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def cpu():
    """CPU seconds of this process and of the Java programs that it has run."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(runs, call):
    walls, start = [], cpu()
    for k in range(runs):
        begin = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            call(k)
        walls.append(time.perf_counter() - begin)
    return statistics.median(walls), (cpu() - start) / runs


def show(what, theirs, ours):
    print(f"{what}: {theirs[0] * 1e3:.1f} ms ({theirs[1] * 1e3:.1f} ms CPU) / {ours[0] * 1e3:.3f} ms "
          f"({ours[1] * 1e3:.3f} ms CPU) = {theirs[0] / ours[0]:.0f} times ({theirs[1] / ours[1]:.0f} by CPU)")


class Nothing:
    """Replaces METEOR and SPICE, which take minutes."""

    def compute_score(self, gts, res):
        return 0.0, [0.0] * len(gts)

    def method(self):
        return "nothing"


def main():
    annotations, results = load(sys.argv[1]), load(sys.argv[2])
    references = {}
    for row in annotations["annotations"]:
        references.setdefault(row["image_id"], []).append(row["caption"])
    hypotheses = {row["image_id"]: row["caption"] for row in results if row["image_id"] in references}
    references = {key: references[key][:5] for key in hypotheses}
    print(f"{len(hypotheses)} images, {sum(map(len, references.values()))} references, {os.cpu_count()} processors, "
          f"load {os.getloadavg()[0]:.1f}")

    import capeval
    from capeval.compat.pycocoevalcap.eval import COCOEvalCap as Ours
    from capeval.reward import CiderD
    from pycocoevalcap import eval as original
    from pycocoevalcap.cider.cider import Cider

    # CIDEr-D of 300 captions with 5 references each, tokenised in advance as in the original's training loop.
    ids, texts = list(hypotheses), [hypotheses[key] for key in hypotheses]
    tokens = {key: [" ".join(t) for t in capeval.tokenize(captions)] for key, captions in references.items()}
    spelt = dict(zip(ids, (" ".join(t) for t in capeval.tokenize(texts))))
    gts = {key: tokens[key] for key in ids[:300]}
    res = {key: [spelt[key]] for key in ids[:300]}
    theirs = timed(5, lambda _: Cider().compute_score(gts, res))
    reward = CiderD(references)
    batches = [(ids[at:at + 300], texts[at:at + 300]) for at in range(0, len(ids) - 299, 300)]
    ours = timed(1000, lambda k: reward(*batches[k % len(batches)]))
    show("CIDEr-D, 300 captions x 5 references, texts", theirs, ours)
    vocabulary = {}
    coded = {key: [[vocabulary.setdefault(w, len(vocabulary) + 1) for w in t.split()] for t in captions]
             for key, captions in tokens.items()}
    import numpy as np

    rows = [[vocabulary.setdefault(word, len(vocabulary) + 1) for word in spelt[key].split()] for key in ids]
    matrix = np.zeros((len(rows), max(map(len, rows)) + 1), dtype=np.int64)
    for k, row in enumerate(rows):
        matrix[k, :len(row)] = row
    by_token = CiderD(coded, tokens=True, end_id=0)
    assert np.array_equal(by_token(ids, matrix), reward(ids, texts))
    parts = [(ids[at:at + 300], matrix[at:at + 300]) for at in range(0, len(ids) - 299, 300)]
    show("CIDEr-D, 300 captions x 5 references, token ids", theirs, timed(1000, lambda k: by_token(*parts[k % len(parts)])))
    for name, scorer, captions in (("texts", reward, texts), ("token ids", by_token, matrix)):
        wall, used = timed(40, lambda _: scorer(ids, captions))
        print(f"batches of {len(ids)} {name}: {len(ids) / wall:,.0f} captions/s ({len(ids) / used:,.0f} per CPU second)")

    # The COCO evaluation, from captions in memory to all scores of all images.
    original.Meteor = original.Spice = Nothing
    from capeval.compat.coco import COCO
    import capeval.compat.pycocoevalcap.eval as stand_in

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = os.path.join(folder, "references.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(annotations, file)
        coco = COCO(path)
        found = coco.loadRes([{"image_id": key, "caption": text} for key, text in hypotheses.items()])
    stand_in.Meteor = Missing

    def evaluate(kind):
        def run(_):
            evaluation = kind(coco, found)
            evaluation.params["image_id"] = found.getImgIds()
            evaluation.evaluate()
            return evaluation

        return run

    theirs, ours = timed(1, evaluate(original.COCOEvalCap)), timed(21, evaluate(Ours))
    show(f"COCOEvalCap without METEOR, {len(ids)} images", theirs, ours)
    wall, used = timed(21, lambda _: capeval.score(references, hypotheses, "bleu,rouge-l,cider-d"))
    print(f"capeval.score on the same: {wall * 1e3:.1f} ms ({used * 1e3:.1f} ms CPU)")
    code = "import time; a = time.perf_counter(); import capeval; print(time.perf_counter() - a)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
               for _ in range(11)]
    print(f"import capeval: {statistics.median(imports) * 1e3:.1f} ms (lowest {min(imports) * 1e3:.1f})")


class Missing:
    """Replaces METEOR when its data are not installed."""

    def __init__(self):
        raise FileNotFoundError("skipped")


if __name__ == "__main__":
    main()
