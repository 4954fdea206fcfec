"""Reproduce the correlations of Elliott and Keller (ACL 2014) on Flickr8k from the files that they published.

    run.py elliott_keller FOLDER ROUGE

Needs METEOR's data. FOLDER is `flickr8k` of elliottd/compareImageDescriptionMeasures:
`candidates`, `ref-0` to `ref-4` and `judgements`, 5,822 lines each. ROUGE is the folder of a ROUGE-1.5.5 with WordNet's
exceptions. Each of the three judgements of a caption is a point (n = 17,466), and the text is scored without
tokenisation ("we performed no tokenization"). Published Spearman: METEOR 0.524, ROUGE-SU4 0.435, smoothed BLEU
0.429, unigram BLEU 0.345, TER -0.279.

Their choices correspond to these settings: METEOR without normalisation (`text=verbatim`); ROUGE-SU4 recall as
`-m -2 4 -u` with formula A, stemmed with exceptions; TER is tercom's, case-sensitive. Smoothed BLEU is that of
MultEval's jBLEU, which capeval does not have (an order without a match counts as 1 / (2^k total) even if no word
matches), so it is computed below. Unigram BLEU "without brevity penalty" of this text gives 0.444; neither the paper
nor the code explains the published 0.345. Needs scipy for jBLEU.
"""
import csv
import json
import math
import tempfile
from collections import Counter
from pathlib import Path

from scipy.stats import spearmanr

from shared import capeval, lines, options, output

METRICS = {
    "meteor:tok=none:text=verbatim": ("meteor", "METEOR", 0.524),
    "rouge155:stem=porter-exceptions:measures=su4": ("rouge155-stem-su4-r", "ROUGE-SU4", 0.435),
    "ter:case=mixed": ("ter", "TER", -0.279),
}


def ngrams(words, n):
    return Counter(tuple(words[k:k + n]) for k in range(len(words) - n + 1))


def jbleu(candidate, references, order):
    """jBLEU of one sentence; for order 1, only its precision."""
    words, others = candidate.split(), [reference.split() for reference in references]
    logs, smooth = 0.0, 1.0
    for n in range(1, order + 1):
        best = Counter()
        for other in others:
            best |= ngrams(other, n)
        total, matches = max(len(words) - n + 1, 0), sum((ngrams(words, n) & best).values())
        if total and not matches:
            smooth *= 2
            logs += math.log(1 / (smooth * total)) / order
        elif total:
            logs += math.log(matches / total) / order
    closest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    penalty = 1.0 if order == 1 or len(words) >= closest else math.exp(1 - closest / len(words))
    return penalty * math.exp(logs)


def main(arguments):
    given = options(__doc__, ("folder", {"type": Path}), "rouge").parse_args(arguments)
    folder = given.folder
    read = lambda name: [line.strip() for line in lines(folder / name) if line.strip()]
    candidates = read("candidates")
    references = list(zip(*(read(f"ref-{k}") for k in range(5))))
    judgements = list(csv.DictReader(read("judgements")))
    assert len(candidates) == len(references) == len(judgements) == 5822
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: str(Path(scratch) / name)
        with open(path("refs.jsonl"), "w") as r, open(path("hyps.jsonl"), "w") as h, \
                open(path("ratings.csv"), "w", newline="") as j:
            table = csv.writer(j)
            table.writerow(["image_id", "rater_1", "rater_2", "rater_3"])
            for k, (candidate, refs, row) in enumerate(zip(candidates, references, judgements)):
                r.write(json.dumps({"image_id": k, "captions": refs}) + "\n")
                h.write(json.dumps({"image_id": k, "caption": candidate}) + "\n")
                table.writerow([k, row["j1"], row["j2"], row["j3"]])
        output([capeval(), "score", "-r", path("refs.jsonl"), path("hyps.jsonl"), "--rouge-data", given.rouge,
                "-m", ",".join(METRICS), "--segments", path("scores.jsonl"), "-o", path("report.txt")])
        found = output([capeval(), "correlate", path("ratings.csv"), "--scores", path("scores.jsonl"), "--format", "json"])
    measures = json.loads(found)["correlations"]
    for key, label, published in METRICS.values():
        print(f"{label:13} {measures[key]['spearman']:8.4f}  published {published}")
    human = [int(row[judge]) for judge in ("j1", "j2", "j3") for row in judgements]
    for order, label, published in ((4, "smoothed BLEU", 0.429), (1, "unigram BLEU", 0.345)):
        scores = [jbleu(candidate, refs, order) for candidate, refs in zip(candidates, references)]
        print(f"{label:13} {spearmanr(scores * 3, human)[0]:8.4f}  published {published}")

