"""Compare capeval's sentence-bleu and meteor-2005 with NLTK 3.10 on the segments of a file.

Needs Python with nltk (without its data) and cargo. From the project root, with segments made by
`rouge155_compare.py`:

    python scripts/oracle/nltk_compare.py segments.jsonl

Text is split on white space. NLTK's METEOR runs without synonyms, and is compared with the alignment `last-first`.
Method 6 is compared unless NLTK fails with an assertion. Prints the largest difference; the exit status is 1 if
it exceeds 1e-12.
"""

import json
import subprocess
import sys
import warnings

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.meteor_score import meteor_score

warnings.filterwarnings("ignore")


class NoSynonyms:
    def synsets(self, word):
        return []


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        segments = [json.loads(line) for line in file if line.strip()]
    texts = [(s["hyp"].split(), [r.split() for r in s["refs"]]) for s in segments]
    failed = False

    def compare(spec, key, function):
        nonlocal failed
        command = ["cargo", "run", "-q", "--release", "-p", "capeval-evaluate", "--example", "segments", "--", spec]
        with open(path, "rb") as file:
            run = subprocess.run(command, stdin=file, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        mine = json.loads(run.stdout)["segment"][key]
        worst, different, compared = 0.0, 0, 0
        for k, (hyp, refs) in enumerate(texts):
            try:
                theirs = function(hyp, refs)
            except AssertionError:
                continue
            compared += 1
            different += theirs != mine[k]
            if abs(theirs - mine[k]) > max(worst, 1e-12):
                print(f"    segment {k}: {mine[k]} against {theirs}: {segments[k]}")
            worst = max(worst, abs(theirs - mine[k]))
        print(f"{spec}: {different} of {compared} differ, by at most {worst:.1e}", flush=True)
        failed |= worst > 1e-12

    smoothing = SmoothingFunction()
    for order in (4, 2):
        for number in range(8):
            method = getattr(smoothing, f"method{number}")
            weights = (1 / order,) * order
            if number == 6 and order < 3:
                continue
            compare(
                f"sentence-bleu:tok=whitespace:n={order}:smooth={number}",
                "sentence-bleu",
                lambda hyp, refs: sentence_bleu(refs, hyp, weights, smoothing_function=method),
            )
    compare(
        "meteor-2005:tok=whitespace:stem=porter-nltk:align=last-first",
        "meteor-2005",
        lambda hyp, refs: meteor_score(refs, hyp, wordnet=NoSynonyms()),
    )
    sys.exit(failed)


if __name__ == "__main__":
    main()
