#!/usr/bin/env python3
"""Time capeval's ROUGE, BLEU and chrF beside the fast packages that compute them too, in turn in one process.

    rivals.py [--wheel WHEEL] [--scratch DIR] [--threads N,N] [--runs N] [--only WORDS]

Makes a virtual environment in DIR, and installs the rivals by name and WHEEL (`maturin build --profile wheel`) there; without
WHEEL, what is there stays. Texts are made of the words of docs, so no data are needed. From Python lists to arrays, by
capeval's own function and by its replacement of the original: the time is that of the processor in all threads, the least of
all runs, since other programs take turns; `times` is the least time of all rivals with the digits of the original by the lesser
one of capeval. A program whose digits are not those of the original is named, with the greatest difference. Needs Linux.
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

PACKAGES = [
    "numpy",
    "nltk==3.10.4",
    "rouge-score==0.1.2",
    "rouge-score-rs==0.2.1",
    "rouge-rust==0.1.12",
    "rapidrouge==0.2.0",
    "sacrebleu==2.6.0",
    "bleuscore==0.2.0",
    "fastchrf==0.2.1",
    "fast-bleu==0.0.90",
]
# It asks for a newer Python than it needs.
ANY_PYTHON = ["sacrebleu-mojo==0.2.4"]
OWN = ["capeval", "capeval compat"]
# Each takes seconds, and is timed once.
SLOW = ["rapidrouge", "sacrebleu", "fast-bleu"]
MEASURES = ["rouge1", "rouge2", "rougeL"]


def install(wheel, scratch):
    """The Python of an environment with all packages."""
    python = scratch / "rivals/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", scratch / "rivals"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--ignore-requires-python", *ANY_PYTHON], check=True)
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
    if name == "rouge-rust":
        from fast_rouge import score_batch_flat

        def columns(targets, predictions):
            scores = score_batch_flat(targets, predictions)
            return np.stack([getattr(scores, f"{measure}_fmeasure") for measure in measures], axis=1)

        return columns
    if name == "rapidrouge":
        from rapidrouge.rouge_scorer import RougeScorer
    else:
        from rouge_score.rouge_scorer import RougeScorer
    scorer = RougeScorer(measures, stem)
    return lambda targets, predictions: rows([scorer.score(*pair) for pair in zip(targets, predictions)])


def bleu(name):
    """A function from lists to sacreBLEU's score of the corpus."""
    if name == "capeval":
        import capeval

        return lambda targets, predictions: capeval.score(targets, predictions, "sacrebleu")["sacrebleu"]
    if name == "bleuscore":
        import bleuscore

        return lambda targets, predictions: 100 * bleuscore.compute([[target] for target in targets], predictions)["bleu"]
    return lambda targets, predictions: like_sacrebleu(name).corpus_bleu(predictions, [targets]).score


def chrf(name):
    """A function from lists to sacreBLEU's chrF of the corpus."""
    if name == "capeval":
        import capeval

        return lambda targets, predictions: capeval.score(targets, predictions, "chrf")["chrf"]
    return lambda targets, predictions: like_sacrebleu(name).corpus_chrf(predictions, [targets]).score


def like_sacrebleu(name):
    """The module of a program with sacreBLEU's functions."""
    if name == "capeval compat":
        import capeval.compat.sacrebleu as module
    elif name == "sacrebleu-mojo":
        import sacrebleu_mojo as module
    else:
        import sacrebleu as module
    return module


def sentence_chrf(name):
    """A function from lists to sacreBLEU's chrF of each text."""
    if name == "capeval":
        import capeval

        return lambda targets, predictions: capeval.score(targets, predictions, "chrf").segments["chrf"]
    if name == "fastchrf":
        from fastchrf import pairwise_chrf

        def compute(targets, predictions):
            return [row[0][0] for row in pairwise_chrf([[text] for text in predictions], [[text] for text in targets])]

        return compute
    module = like_sacrebleu(name)
    return lambda targets, predictions: [module.sentence_chrf(text, [target]).score for target, text in zip(targets, predictions)]


def sentence_bleu(name):
    """A function from lists to NLTK's BLEU of each text, split on white space, with method 1."""
    if name == "capeval":
        import capeval

        metric = "sentence-bleu:smooth=1:tok=none"
        return lambda targets, predictions: capeval.score(targets, predictions, metric).segments["sentence-bleu"]

    def fast(target, text):
        from fast_bleu import BLEU

        return BLEU([target.split()], {4: (0.25,) * 4}, 1).get_score([text.split()])[4][0]

    def original(target, text):
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        return sentence_bleu([target.split()], text.split(), smoothing_function=SmoothingFunction().method1)

    score = fast if name == "fast-bleu" else original
    return lambda targets, predictions: [score(target, text) for target, text in zip(targets, predictions)]


def rouge_family(measures, stem):
    """A function that returns a program's function, the original, and the programs."""
    plain = ["rouge-rust"] if not stem and measures == MEASURES else []
    return lambda name: rouge(name, measures, stem), "rouge_score", [*OWN, "rouge-score-rs", *plain, "rapidrouge"]


SIZES = {
    "20,000 captions": (20_000, 12),
    "100,000 captions": (100_000, 12),
    "400 texts of 500 words": (400, 500),
    "40 texts of 5,000 words": (40, 5_000),
    "one caption": (1, 12),
    "one text of 500 words": (1, 500),
}
FAMILIES = {
    "ROUGE": rouge_family(MEASURES, False),
    "ROUGE, stemmed": rouge_family(MEASURES, True),
    "rougeLsum": rouge_family(["rougeLsum"], False),
    "rougeLsum, stemmed": rouge_family(["rougeLsum"], True),
    "BLEU": (bleu, "sacrebleu", [*OWN, "sacrebleu", "sacrebleu-mojo", "bleuscore"]),
    "chrF": (chrf, "sacrebleu", [*OWN, "sacrebleu", "sacrebleu-mojo"]),
    "chrF of each": (sentence_chrf, "sacrebleu", ["capeval", "fastchrf"]),
    "BLEU of each": (sentence_bleu, "nltk", ["capeval", "fast-bleu"]),
}


def row(targets, predictions, family, runs):
    """The least times of all programs, and the greatest difference of each from the original."""
    import numpy as np

    program_of, original, names = family
    # The original takes a second for a pair of the longest.
    few = [side[: 20 if len(targets) > 100 else 1] for side in (targets, predictions)]
    right = np.asarray(program_of(original)(*few))
    programs = {name: program_of(name) for name in names}
    differences = {name: float(np.max(np.abs(np.asarray(program(*few)) - right))) for name, program in programs.items()}
    times = dict.fromkeys(programs, float("inf"))
    repeats = max(1, 100 // len(targets))
    for run in range(runs):
        for name, program in programs.items():
            if run > 0 and name in SLOW:
                continue
            begin = time.process_time()
            for _ in range(repeats):
                program(targets, predictions)
            times[name] = min(times[name], (time.process_time() - begin) / repeats)
    return times, differences


def measure(only, runs):
    """Prints the table at the number of threads that the environment sets."""
    import capeval

    warnings.simplefilter("ignore")
    capeval.set_num_threads(int(os.environ["RAYON_NUM_THREADS"]))
    for family, program in FAMILIES.items():
        _, original, names = program
        # fast-bleu takes milliseconds for each list of references, a hundred thousand times.
        most = 1 if "fast-bleu" in names else 100_000
        sizes = {size: (n, length) for size, (n, length) in SIZES.items() if only in f"{family}: {size}" and n <= most}
        if sizes:
            title = f"{family}, {os.environ['RAYON_NUM_THREADS']} threads, ms"
            print(f"\n{title:<40}" + "".join(f"{name:>16}" for name in names) + "   times", flush=True)
        for size, (n, length) in sizes.items():
            times, differences = row(*texts(n, length, family.startswith("rougeLsum")), program, runs)
            rivals = [times[name] for name in names if name not in [*OWN, original] and differences[name] < 1e-9]
            ratio = f"{min(rivals) / min(times[name] for name in OWN if name in times):8.2f}" if rivals else ""
            others = [f"{name} differs by {by:.1e}" for name, by in differences.items() if by > 0]
            cells = "".join(f"{times[name] * 1e3:>16.3f}" for name in names)
            print(f"{size:<40}{cells}{ratio:>8}  {', '.join(others)}", flush=True)


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
