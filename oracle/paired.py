"""Compare capeval's paired tests with sacreBLEU's, on the same captions.

    run.py paired FOLDER [TRIALS]

FOLDER contains five line-aligned descriptions test_2016.{1..5}.en, gzipped, as in task 2 of
Multi30k. Descriptions 1 to 4 are systems, with noise of different strengths; description 5 and the unused ones are
references. sacreBLEU 2.6 and capeval compare each system with the first by BLEU, chrF and TER, by paired
bootstrap and by paired approximate randomisation. Both draw at random, so two p-values agree if they differ by at
most four standard errors of a difference of two proportions.
"""
import json
import math
import random
import tempfile
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from shared import capeval, lines, options, output

KEYS = {"BLEU": "sacrebleu", "chrF2": "chrf", "TER": "ter"}


def noisy(captions, share, seed):
    """The captions, some of them without their last three words."""
    draw = random.Random(seed)
    return [" ".join(line.split()[:-3]) if draw.random() < share else line for line in captions]


def main(arguments):
    given = options(__doc__, "folder", ("trials", {"nargs": "?", "type": int, "default": 10_000})).parse_args(arguments)
    trials = given.trials
    texts = [[line.strip() for line in lines(f"{given.folder}/test_2016.{k}.en.gz")] for k in range(1, 6)]
    first = texts[0]
    systems = {
        "first": first,
        "noise-2": noisy(first, 0.02, 1),
        "noise-5": noisy(first, 0.05, 2),
        "noise-half": [a if k % 2 else b for k, (a, b) in enumerate(zip(noisy(first, 0.1, 3), noisy(texts[1], 0.05, 4)))],
        "second": texts[1],
    }
    references = texts[2:]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for name, captions in systems.items():
            (scratch / f"{name}.txt").write_text("\n".join(captions) + "\n", encoding="utf-8")
        command = [capeval(), "compare", "--format", "json", "--correction", "none", "--resamples", str(trials)]
        command += ["--seed", "2", "-m", ",".join(KEYS.values())]
        for k, captions in enumerate(references):
            path = scratch / f"ref{k}.txt"
            path.write_text("\n".join(captions) + "\n", encoding="utf-8")
            command += ["-r", str(path)]
        command += [str(scratch / f"{name}.txt") for name in systems]
        ours = json.loads(output(command))
    worst = 0.0
    failures = 0
    for test, field in (("bs", "bootstrap"), ("ar", "randomisation")):
        metrics = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
        _, theirs = PairedTest(list(systems.items()), metrics, references, test_type=test, n_samples=trials)()
        for metric, key in KEYS.items():
            for comparison in ours["comparisons"]:
                name = comparison["system"]
                mine = comparison["contrasts"][key][field]["p"]
                result = theirs[metric][list(systems).index(name)]
                p = result.p_value
                middle = (p + mine) / 2
                error = math.sqrt(2 * middle * (1 - middle) / trials)
                distance = abs(p - mine) / error if error else 0.0
                scores = (result.score, next(s for s in ours["systems"] if s["name"] == name)["scores"][key])
                worst = max(worst, distance)
                is_wrong = distance > 4 or abs(scores[0] - scores[1]) > 1e-9
                failures += is_wrong
                mark = "  DIFFERS" if is_wrong else ""
                print(f"{test} {metric:5} {name:10} score {scores[0]:8.4f} {scores[1]:8.4f}  p {p:.4f} {mine:.4f}"
                      f"  {distance:.1f} standard errors{mark}")
    print(f"{trials} trials; worst distance {worst:.1f} standard errors; {failures} disagreements")
    return int(failures > 0)
