"""Compare capeval's Div-n, mBLEU, Self-CIDEr, vocabulary and novelty with self-critical.pytorch's.

Needs Python with numpy and pycocoevalcap, cargo, clones of ruotianluo/cider (with `my_get_self_cider`) and
of ruotianluo/self-critical.pytorch. From the project root:

    python scripts/oracle/diversity_compare.py --cider CLONE --scst CLONE/captioning/utils \
        --data ../shared/data

The five German and English descriptions of an image are its captions; those of other images serve as training
captions and references. Prints every value of both programs; the exit status is 1 if any differs by more
than 1e-8, the noise that repeated captions cause in self-critical.pytorch's Self-CIDEr. The few lines of
`eval_multi.py` that do more than call these libraries are repeated here.
"""

import argparse
import gzip
import json
import pathlib
import random
import re
import subprocess
import sys

import numpy as np


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [" ".join(re.findall(r"\w+", line.lower())) for line in file]


def sources(data):
    for language in ["de", "en"]:
        texts = [lines(data / f"multi30k/test_2016.{k}.{language}.gz") for k in range(1, 6)]
        others = [lines(data / f"multi30k/val.{k}.{language}.gz") for k in range(1, 6)]
        captions, references = list(zip(*texts)), list(zip(*others))[:len(texts[0])]
        yield language, captions, references
    rng = random.Random(1)
    words = ["a", "b", "c", "dog", "on"]

    def text():
        return " ".join(rng.choice(words) for _ in range(rng.choice([0, 1, 2, 3, 5, 9])))

    yield "hostile", [tuple(text() for _ in range(4)) + ("a b dog",) for _ in range(3000)], [
        tuple(text() for _ in range(3)) for _ in range(3000)]


def reference(captions, references, Cider, div_utils):
    from pycocoevalcap.bleu.bleu import Bleu

    by_id = {k: list(texts) for k, texts in enumerate(captions)}
    values = {f"div-{n}": div_utils.compute_div_n(by_id, n)[0] for n in (1, 2)}
    scores = []
    for i in range(len(captions[0])):
        others = {k: texts[:i] + texts[i + 1:] for k, texts in by_id.items()}
        scores.append(Bleu(4).compute_score(others, {k: [texts[i]] for k, texts in by_id.items()}, verbose=0)[0])
    values |= {f"mbleu-{n + 1}": value for n, value in enumerate(np.array(scores).mean(axis=0))}
    cider = Cider(df="corpus")
    for texts in references:
        cider.cider_scorer += (None, list(texts))
    cider.cider_scorer.compute_doc_freq()
    cider.cider_scorer.ref_len = np.log(float(len(cider.cider_scorer.crefs)))
    found = []
    for matrix in cider.my_self_cider([list(texts) for texts in captions]):
        eigenvalues = np.clip(np.linalg.eigvalsh(matrix / 10), 0, None)
        roots = np.sqrt(eigenvalues)
        found.append(-np.log(roots[-1] / roots.sum()) / np.log(len(eigenvalues)))
    values["self-cider"] = np.mean(found)
    training = {text for texts in references for text in texts}
    generated = [text for texts in captions for text in texts]
    values["novel-distinct"] = len(set(generated) - training) / len(generated)
    values["vocabulary"] = div_utils.compute_global_div_n(by_id, 1)[0]
    values["mean-length"] = np.mean([len(text.split()) for text in generated])
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cider", required=True)
    parser.add_argument("--scst", required=True, help="the folder with div_utils.py")
    parser.add_argument("--data", required=True)
    options = parser.parse_args()
    sys.path[:0] = [options.cider, options.scst]
    import div_utils
    from pyciderevalcap.cider.cider import Cider

    metrics = [f"{name}:tok=whitespace" for name in ["div", "mbleu", "self-cider", "vocabulary", "novelty"]]
    command = ["cargo", "run", "--release", "--quiet", "-p", "capeval-evaluate", "--example", "score_sets", "--"]
    worst = 0.0
    for name, captions, references in sources(pathlib.Path(options.data)):
        pairs = zip(captions, references, strict=True)
        data = "".join(json.dumps({"captions": c, "refs": r}) + "\n" for c, r in pairs).encode()
        done = subprocess.run(command + metrics, input=data, stdout=subprocess.PIPE, check=True)
        ours = json.loads(done.stdout)
        for key, theirs in reference(captions, references, Cider, div_utils).items():
            worst = max(worst, abs(ours[key] - theirs))
            print(f"{name}\t{key}\t{ours[key]:.12f}\t{theirs:.12f}\t{abs(ours[key] - theirs):.1e}", flush=True)
    return int(not worst <= 1e-8)


if __name__ == "__main__":
    sys.exit(main())
