"""Compare capeval's CIDEr-R with its authors' program on tokenised segments.

Needs Python with numpy, scipy and nltk, cargo, and a clone of gabrielsantosrv/coco-caption. From the
project root:

    python scripts/oracle/cider_r_compare.py --source CLONE --golden ../shared/golden/coco_fakecap.json.gz

Scores the tokens in each golden file with both programs and prints the differences; the exit status is 1 if
any score differs by more than 1e-9.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys


def hostile(n, seed):
    rng = random.Random(seed)
    words = ["a", "b", "dog", "t-shirt", "dog's", "3.5", ",", "%", "ç", "não", "_", "狗", "a", "a", "é-é"]
    for _ in range(n):
        text = lambda least: " ".join(rng.choice(words) for _ in range(rng.randint(least, 12)))
        yield {"hyp": "w " + text(0), "refs": [text(1) for _ in range(rng.randint(1, 5))]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True, help="the clone")
    parser.add_argument("--golden", nargs="*", default=[], help="files with tokens")
    parser.add_argument("--hostile", type=int, default=5000)
    options = parser.parse_args()
    sys.path.insert(0, options.source)
    from pycocoevalcap.ciderR.ciderR_scorer import CiderRScorer

    work = [("hostile", list(hostile(options.hostile, 1)))]
    for path in options.golden:
        with gzip.open(path, "rt") as file:
            tokens = json.load(file)["tokens"]
        work.append((path, [{"hyp": h, "refs": r} for h, r in zip(tokens["hyp"], tokens["refs"])]))
    worst = 0.0
    for name, segments in work:
        scorer = CiderRScorer()
        for segment in segments:
            scorer += (segment["hyp"], segment["refs"])
        mean, scores = scorer.compute_score()
        command = ["cargo", "run", "--release", "--quiet", "-p", "capeval-evaluate", "--example"]
        command += ["score_segments", "--", "cider-r:tok=none"]
        data = "".join(json.dumps(s) + "\n" for s in segments).encode()
        found = json.loads(subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout)
        found = found["cider-r:tok=none"]
        differences = [abs(a - b) for a, b in zip(found["segment"], scores, strict=True)]
        worst = max(worst, abs(found["corpus"] - mean), *differences)
        print(f"{name}\t{len(segments)} segments\tlargest {max(differences):.1e}\tcorpus {mean} {found['corpus']}")
    return int(not worst <= 1e-9)


if __name__ == "__main__":
    sys.exit(main())
