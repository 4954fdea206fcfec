"""Compare capeval's rouge-score with rouge_score 0.1.2 on the segments of a file.

Needs Python with rouge_score, and cargo. From the project root, with segments made by `rouge155_compare.py`:

    python scripts/oracle/rouge_score_compare.py segments.jsonl

Prints the largest difference of each number over all segments, with and without the stemmer; the exit status is 1
if one exceeds 1e-12.
"""

import json
import subprocess
import sys

from rouge_score import rouge_scorer


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        segments = [json.loads(line) for line in file if line.strip()]
    kinds = [*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"]
    failed = False
    for stem in (False, True):
        spec = "rouge-score:n=9" + (":stem=porter-nltk" if stem else "")
        command = ["cargo", "run", "-q", "--release", "-p", "capeval-evaluate", "--example", "segments", "--", spec]
        with open(path, "rb") as file:
            ours = json.loads(subprocess.run(command, stdin=file, check=True, stdout=subprocess.PIPE).stdout)
        scorer = rouge_scorer.RougeScorer(kinds, use_stemmer=stem)
        rows = [scorer.score_multi(segment["refs"], segment["hyp"]) for segment in segments]
        for kind in kinds:
            for part in ("fmeasure", "recall", "precision"):
                key = f"rouge-score{'-stem' if stem else ''}-{kind.removeprefix('rouge').lower()}-{part[0]}"
                mine, theirs = ours["segment"][key], [getattr(row[kind], part) for row in rows]
                worst = max(abs(a - b) for a, b in zip(mine, theirs))
                mean = abs(ours["corpus"][key] - sum(theirs) / len(theirs))
                different = sum(a != b for a, b in zip(mine, theirs))
                print(f"{key}: {different} of {len(theirs)} differ, by at most {worst:.1e}; the mean by {mean:.1e}")
                failed |= worst > 1e-12 or mean > 1e-12
    sys.exit(failed)


if __name__ == "__main__":
    main()
