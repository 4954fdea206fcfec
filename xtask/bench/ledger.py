#!/usr/bin/env python3
"""Write the tables of docs/why/speed.md: what each stage of scoring costs, and how time and memory grow.

    ledger.py CAPEVAL LEDGER CAPTIONS SCRATCH [--images N ...] [--threads N] [--runs N]

CAPEVAL is the program, LEDGER the example `ledger` of the crate `capeval`, CAPTIONS COCO's `captions_val2014.json.gz`, SCRATCH
a folder for the files. Each image has one candidate and two references as JSON Lines, made of real captions: the beginning of
one and the end of another that has a word in common with it, so that lengths and words are those of COCO, and few captions are
equal. Stages are timed on the last but one number of images, the least of all runs. `cargo xtask bench --ledger ARG …` runs
this.
"""
import argparse
import gzip
import json
import math
import pathlib
import random
import subprocess

from costs import processor
from score import THREE, run

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/why/speed.md"
# The stages of the example, by the names of the page; that which interns also reads the words.
STAGES = {
    "open": "open the files",
    "parse": "parse JSON Lines",
    "match ids": "match ids",
    "tokenise": "tokenise",
    "intern": "intern words",
    "document frequencies": "document frequencies of n-grams",
    "norms of references": "norms of references (CIDEr-D)",
    "n-grams of candidates": "compare n-grams",
    "look-ups": "look up document frequencies",
    "bleu": "BLEU",
    "rouge-l": "ROUGE-L",
    "cider-d": "CIDEr-D",
    "sums": "sums over all images",
}


def captions(path):
    """Captions without end, each made of two real ones, and the same on every machine."""
    numbers = random.Random(55)
    texts = [row["caption"].split() for row in json.loads(gzip.open(path, "rt", encoding="utf-8").read())["annotations"]]
    texts = [words for words in texts if len(words) > 3]
    places = {}
    for k, words in enumerate(texts):
        for at in range(2, len(words) - 1):
            places.setdefault(words[at], []).append((k, at))
    while True:
        words = numbers.choice(texts)
        at = numbers.randrange(1, len(words) - 1)
        other, place = numbers.choice(places.get(words[at], [(0, 1)]))
        yield " ".join(words[:at] + texts[other][place:])


def files(path, n_images, scratch):
    """Files of references and of candidates; one that exists is not made again."""
    references, candidates = paths = [scratch / f"{name}-{n_images}.jsonl" for name in ("refs", "hyps")]
    if not all(path.exists() for path in paths):
        texts = captions(path)
        line = lambda image: json.dumps({"image_id": image, "caption": next(texts)}) + "\n"
        with references.open("w") as refs, candidates.open("w") as hyps:
            for image in range(n_images):
                refs.write(line(image) + line(image))
                hyps.write(line(image))
    return paths


def stages(command, runs):
    """Of each stage, the nanoseconds per caption, the bytes per caption, and the nanoseconds that a copy of these takes."""
    least = {}
    for _ in range(runs):
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines = [line.split("\t") for line in printed.splitlines()]
        for name, *values in lines:
            values = [float(value) for value in values]
            least[name] = min(least.get(name, values), values)
    bandwidth, n_captions = least.pop("bandwidth")[0], least.pop("captions")[0]
    both, words = least.pop("tokenise and intern"), least["tokenise"]
    least["intern"] = [max(both[0] - words[0], 0), both[1] - words[1]]
    rows = {name: (least[name][0] / n_captions, least[name][1] / n_captions) for name in STAGES}
    return {name: (ns, moved, moved / bandwidth * 1e9) for name, (ns, moved) in rows.items()}, bandwidth, n_captions


def ledger(given, n_images):
    paths = files(given.captions, n_images, given.scratch)
    rows, bandwidth, n_captions = stages([given.ledger, *paths], given.runs)
    score = [given.capeval, "score", "--quiet", "--threads", "1", "-m", THREE, "-r", *paths]
    whole = min(run(score)[1] for _ in range(given.runs)) / n_captions * 1e9
    yield f"{n_captions:,.0f} captions of {n_images:,} images, one thread, {processor()}; a copy in memory moves"
    yield f"{bandwidth / 1e9:.1f} GB a second, read and written. The whole program takes {whole:,.0f} ns per caption."
    yield ""
    yield "| stage | ns per caption | share | bytes per caption | floor in ns | times the floor |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, (ns, moved, floor) in rows.items():
        yield f"| {STAGES[name]} | {ns:,.0f} | {ns / whole:.0%} | {moved:,.0f} | {floor:,.0f} | {ns / floor:,.0f} |"
    rest = whole - sum(ns for ns, _, _ in rows.values())
    yield f"| everything else | {rest:,.0f} | {rest / whole:.0%} | | | |"


def growth(given):
    yield "| images | captions | clock | processor | memory | time grows with | memory grows with |"
    yield "|--:|--:|--:|--:|--:|---|---|"
    last = None
    for n_images in given.images:
        paths = files(given.captions, n_images, given.scratch)
        score = [given.capeval, "score", "--quiet", "--threads", str(given.threads), "-m", THREE, "-r", *paths]
        wall, cpu, memory = (min(values) for values in list(zip(*(run(score)[:3] for _ in range(given.runs)))))
        exponents = ["", ""]
        if last is not None:
            steps = math.log(n_images / last[0])
            exponents = [f"n^{math.log(now / then) / steps:.2f}" for now, then in ((cpu, last[1]), (memory, last[2]))]
        last = n_images, cpu, memory
        time, grows = f"{wall:,.2f} s | {cpu:,.2f} s | {memory:,.0f} MB", " | ".join(exponents)
        yield f"| {n_images:,} | {3 * n_images:,} | {time} | {grows} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capeval")
    parser.add_argument("ledger")
    parser.add_argument("captions", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--images", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000, 3_000_000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in (("ledger", ledger(given, given.images[-2])), ("growth", growth(given))):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n" + "\n".join(lines) + f"\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
