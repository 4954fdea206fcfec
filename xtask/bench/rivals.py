#!/usr/bin/env python3
"""Time capeval's ROUGE beside the fast packages that compute it too, in turn in one process.

    rivals.py [--wheel WHEEL] [--scratch DIR] [--threads N,N] [--runs N] [--only WORDS]

Makes a virtual environment in DIR, and installs the rivals by name and WHEEL (`maturin build --profile wheel`) there; without
WHEEL, what is there stays. Texts are made of the words of docs, so no data are needed. From Python lists to arrays, by
capeval's own function and by its replacement of rouge_score: the time is that of the processor in all threads, the least of all
runs, since other programs take turns; `times` is the rival's time by the lesser one of capeval. A program whose digits are not
those of rouge_score is named. Needs Linux.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

PACKAGES = ["numpy", "rouge-score==0.1.2", "rouge-score-rs==0.2.1", "rapidrouge==0.2.0"]
FAST = ["capeval", "capeval compat", "rouge-score-rs", "rapidrouge"]
MEASURES = ["rouge1", "rouge2", "rougeL"]


def install(wheel, scratch):
    """The Python of an environment with all packages."""
    python = scratch / "rivals/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", scratch / "rivals"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if wheel:
        subprocess.run([python, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", wheel], check=True)
    return python


def texts(n, length, breaks):
    """`n` pairs of a text and one like it, of `length` words with the frequencies of docs, with line breaks or without."""
    pages = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.md"))
    words = re.findall(r"[A-Za-z][\w'-]*[.,]?", " ".join(page.read_text(encoding="utf-8") for page in pages))
    draw = random.Random(n + length)

    def pair():
        first = draw.randrange(len(words))
        target = [words[(first + k) % len(words)] for k in range(length)]
        like = [draw.choice(words) if draw.random() < 0.3 else word for word in target]
        return [lines(text) if breaks else " ".join(text) for text in (target, like)]

    def lines(text):
        return "\n".join(" ".join(text[k : k + 20]) for k in range(0, len(text), 20))

    return [list(side) for side in zip(*(pair() for _ in range(n)))]


def rouge(name, measures, stem):
    """A function from lists to an array with a row for each pair and a column for each measure."""
    import numpy as np

    def rows(scores):
        return np.array([[score[measure].fmeasure for measure in measures] for score in scores])

    if name == "capeval":
        import capeval

        metric = "rouge-score:stem=porter-nltk" if stem else "rouge-score"
        keys = [f"rouge-score{'-stem' * stem}-{measure.removeprefix('rouge').lower()}-f" for measure in measures]

        def compute(targets, predictions):
            segments = capeval.score(targets, predictions, metric).segments
            return np.stack([segments[key] for key in keys], axis=1)

        return compute
    if name == "capeval compat":
        from capeval.compat.rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(measures, stem)
        return lambda targets, predictions: rows(scorer.score_many([[target] for target in targets], predictions))
    if name == "rouge-score-rs":
        from rouge_score_rs import RougeScorer

        scorer = RougeScorer(measures, stem)
        return lambda targets, predictions: rows(scorer.score_batch(targets, predictions))
    if name == "rapidrouge":
        from rapidrouge.rouge_scorer import RougeScorer
    else:
        from rouge_score.rouge_scorer import RougeScorer
    scorer = RougeScorer(measures, stem)
    return lambda targets, predictions: rows([scorer.score(*pair) for pair in zip(targets, predictions)])


CASES = {
    "20,000 captions": (20_000, 12, MEASURES),
    "100,000 captions": (100_000, 12, MEASURES),
    "400 texts of 500 words": (400, 500, MEASURES),
    "400 texts of 500 words, rougeLsum": (400, 500, ["rougeLsum"]),
    "40 texts of 5,000 words": (40, 5_000, MEASURES),
    "one caption": (1, 12, MEASURES),
    "one text of 500 words": (1, 500, MEASURES),
}


def row(targets, predictions, measures, stem, runs):
    """The least times of all programs, and those whose digits differ."""
    import numpy as np

    # The original takes a second for a pair of the longest.
    few = [side[: 20 if len(targets) > 100 else 1] for side in (targets, predictions)]
    right = rouge("rouge_score", measures, stem)(*few)
    programs = {name: rouge(name, measures, stem) for name in FAST}
    different = [name for name, program in programs.items() if not np.array_equal(program(*few), right)]
    times = dict.fromkeys(programs, float("inf"))
    repeats = max(1, 100 // len(targets))
    for _ in range(runs):
        for name, program in programs.items():
            begin = time.process_time()
            for _ in range(repeats):
                program(targets, predictions)
            times[name] = min(times[name], (time.process_time() - begin) / repeats)
    return times, different


def measure(only, runs):
    """Prints the table at the number of threads that the environment sets."""
    import capeval

    warnings.simplefilter("ignore")
    capeval.set_num_threads(int(os.environ["RAYON_NUM_THREADS"]))
    print(f"{os.environ['RAYON_NUM_THREADS'] + ' threads, ms':<44}" + "".join(f"{name:>16}" for name in FAST) + "   times")
    for label, (n, length, measures) in CASES.items():
        targets, predictions = texts(n, length, measures == ["rougeLsum"])
        for stem in (False, True):
            title = f"{label}, {'stemmed' if stem else 'plain'}"
            if only in title:
                times, different = row(targets, predictions, measures, stem, runs)
                cells = "".join(f"{times[name] * 1e3:>16.3f}" for name in FAST)
                ratio = times["rouge-score-rs"] / min(times["capeval"], times["capeval compat"])
                print(f"{title:<44}{cells}{ratio:>8.2f}  {' '.join(f'{name} differs' for name in different)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", help="of capeval, to be installed before")
    parser.add_argument("--scratch", type=Path, default=Path("target/bench"))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="cases that contain this")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return measure(given.only, given.runs)
    python = install(given.wheel, given.scratch)
    for threads in given.threads.split(","):
        command = [python, __file__, "--inside", "--runs", str(given.runs), "--only", given.only]
        subprocess.run(command, check=True, env={**os.environ, "RAYON_NUM_THREADS": threads})


if __name__ == "__main__":
    main()
