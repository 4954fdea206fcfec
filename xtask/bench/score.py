#!/usr/bin/env python3
"""Time capeval from files to table, and pycocoevalcap beside it.

    score.py CAPEVAL DATA SCRATCH [--peer PYTHON] [--package PYTHON] [--runs N] [--images N ...]

CAPEVAL is the program, DATA the folder with COCO's leave-one-out files (`loo_refs.json.gz`, `loo_hyps.json.gz`), SCRATCH
a folder for the files that are made from them. Larger sets repeat these images under new ids; 200,000 images have a
million captions. Each line gives the least, the median and the largest wall-clock time, the least CPU time and the
largest memory of all runs, and time and memory per image. With `--package`, a Python with capeval built for release, the
drop-in for pycocoevalcap and rewards are timed too. With `--peer`, a Python with pycocoevalcap 1.2, that runs once on the
40,504 and the 5,000 images (needs Java), and ratios compare its steps with capeval's; CPU times are the fairer ones where
other programs run. Needs Unix. `cargo xtask bench` builds the program and runs this.
"""
import argparse
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

# The number of images in the files.
COCO = 40_504
THREE = "bleu,rouge-l,cider-d"
SETS = {"three": THREE, "METEOR": "meteor", "five": f"{THREE},meteor"}


def run(command):
    """Wall-clock seconds, CPU seconds and MB of a process, and what it printed on standard error."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {errors}")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, errors


def row(label, n_images, command, runs):
    """Times a command, prints a line and returns the median wall-clock time and the least CPU time."""
    walls, cpus, memory, _ = zip(*(run(command) for _ in range(runs)))
    wall, cpu = statistics.median(walls), min(cpus)
    each = f"{cpu / n_images * 1e6:>9.1f} µs{max(memory) / n_images * 1e3:>9.1f} kB"
    print(f"{label:<34}{min(walls):>8.3f}{wall:>8.3f}{max(walls):>8.3f} s{cpu:>9.3f} s{max(memory):>8.0f} MB{each}", flush=True)
    return wall, cpu


def repeated(data, n_images, scratch):
    """Files of `n_images` images: those of COCO, again and again under new ids."""
    paths = scratch / f"refs-{n_images}.json", scratch / f"hyps-{n_images}.json"
    if not all(path.exists() for path in paths):
        # A process starts with the peak of the one that starts it as its own, so this one stays small.
        writer = multiprocessing.Process(target=write, args=(data, n_images, paths))
        writer.start()
        writer.join()
        if writer.exitcode != 0:
            sys.exit(f"could not write {paths}")
    return paths


def write(data, n_images, paths):
    references, results = (
        json.load(gzip.open(data / name, "rt", encoding="utf-8")) for name in ("loo_refs.json.gz", "loo_hyps.json.gz")
    )
    by_image = {}
    for annotation in references["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
    annotations, rows = [], []
    for k in range(n_images):
        result = results[k % len(results)]
        annotations += ({"image_id": k, "caption": text} for text in by_image[result["image_id"]])
        rows.append({"image_id": k, "caption": result["caption"]})
    images = [{"id": k} for k in range(n_images)]
    for path, content in zip(paths, ({"images": images, "annotations": annotations}, rows)):
        part = path.with_suffix(".part")
        part.write_text(json.dumps(content))
        part.rename(path)


def long_texts(scratch, words):
    """Files of one image whose captions have so many words."""
    paths = scratch / f"long-refs-{words}.json", scratch / f"long-hyps-{words}.json"
    vocabulary = [f"w{k}" for k in range(500)]
    text = [" ".join(random.Random(seed).choices(vocabulary, k=words)) for seed in range(3)]
    annotations = [{"image_id": 1, "caption": caption} for caption in text[:2]]
    paths[0].write_text(json.dumps({"images": [{"id": 1}], "annotations": annotations}))
    paths[1].write_text(json.dumps([{"image_id": 1, "caption": text[2]}]))
    return paths


COCO_EVAL = pathlib.Path(__file__).with_name("coco_eval.py")

# The same program with capeval's drop-in.
DROP_IN = """
import runpy, sys
import capeval
capeval.install_as_pycocoevalcap()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

# Rewards of 300 captions, five of each of 60 images; prints the best and the median milliseconds.
REWARD = """
import json, statistics, sys, time
from capeval.reward import Reward
references, results = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
by_image = {}
for annotation in references["annotations"]:
    by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
reward = Reward(by_image, {"cider-d": 1.0})
images = [row["image_id"] for row in results[:60] for _ in range(5)]
captions = [results[k]["caption"] for k in range(300)]
times = []
for _ in range(200):
    begin = time.perf_counter()
    reward(images, captions)
    times.append((time.perf_counter() - begin) * 1e3)
print(f"{min(times):.2f} {statistics.median(times):.2f}", file=sys.stderr)
"""


def steps(errors):
    """The seconds of each step that `coco_eval.py` printed."""
    lines = (line.split() for line in errors.splitlines() if line.endswith(" s"))
    return {line[0]: float(line[1]) for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("capeval")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--package", metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--images", type=int, nargs="+", default=[1_000, 5_000, 40_504, 123_000, 200_000])
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    prepared = given.scratch / "references.capeval"

    print(f"{'':<34}{'wall: least':>11}{'median':>7}{'most':>8}{'CPU':>11}{'memory':>11}{'CPU each':>12}{'memory':>12}")
    ours = {}
    for n_images in given.images:
        refs, hyps = repeated(given.data, n_images, given.scratch)
        for name, metrics in SETS.items():
            score = [given.capeval, "score", "--quiet", "-m", metrics]
            label = f"{name}, {n_images:,} images"
            ours[name, n_images] = row(label, n_images, [*score, "-r", refs, hyps], given.runs)
    refs, _ = repeated(given.data, COCO, given.scratch)
    row("prepare, five", COCO, [given.capeval, "prepare", "-m", SETS["five"], refs, "-o", prepared], 1)
    for n_images in (1_000, 5_000, COCO):
        _, hyps = repeated(given.data, n_images, given.scratch)
        score = [given.capeval, "score", "--quiet", "-m", SETS["five"], "--missing", "skip", "-r", prepared, hyps]
        row(f"five, prepared, {n_images:,} images", n_images, score, given.runs)

    # Twice as long a text should take twice as long.
    for words in (10_000, 20_000, 40_000):
        refs, hyps = long_texts(given.scratch, words)
        score = [given.capeval, "score", "--quiet", "-m", f"{THREE},sacrebleu,chrf,ter,rouge155", "-r", refs, hyps]
        row(f"a text of {words:,} words", 1, score, 1)

    if given.package is None:
        print("Python was skipped: give --package PYTHON, a Python with capeval built for release")
    else:
        files = repeated(given.data, 5_000, given.scratch)
        drop_in = [given.package, "-c", DROP_IN, COCO_EVAL, *files, "--meteor"]
        ours["drop-in", 5_000] = row("drop-in, five, 5,000 images", 5_000, drop_in, given.runs)
        _, _, _, errors = run([given.package, "-c", REWARD, *files])
        best, median = errors.split()[-2:]
        print(f"reward, cider-d, 300 captions: {best} ms at best, median {median} ms")
        row("import capeval", 1, [given.package, "-c", "import capeval"], given.runs)

    if given.peer is None:
        print("pycocoevalcap was skipped: give --peer PYTHON, a Python with pycocoevalcap 1.2, and install Java")
        return
    for n_images in (5_000, COCO):
        files = repeated(given.data, n_images, given.scratch)
        wall, cpu, _, errors = run([given.peer, COCO_EVAL, *files, "--meteor"])
        took = steps(errors)
        print(f"pycocoevalcap, {n_images:,} images:", ", ".join(f"{step} {s:.1f} s" for step, s in took.items()), end="")
        print(f" (CPU {cpu:.1f} s)")
        shared = took["json"] + took["ptb"]
        theirs = {
            "three": shared + took["bleu"] + took["rouge-l"] + took["cider-d"],
            "METEOR": shared + took["meteor"],
            "five": took["total"],
            "drop-in": took["total"],
        }
        for name, seconds in theirs.items():
            if ours.get((name, n_images)):
                our_wall, our_cpu = ours[name, n_images]
                whole = f", {cpu / our_cpu:.0f} times by the CPU time of both" if seconds == took["total"] else ""
                print(
                    f"{name:<8}{seconds / our_wall:>6.0f} times as fast (wall), "
                    f"{seconds / our_cpu:.0f} times by capeval's CPU time{whole}"
                )


if __name__ == "__main__":
    main()
