#!/usr/bin/env python3
"""Time capeval from files to table, and pycocoevalcap beside it.

    bench.py CAPEVAL DATA SCRATCH [--peer PYTHON] [--runs N] [--images N ...]

CAPEVAL is the program, DATA the folder with COCO's leave-one-out files (`loo_refs.json.gz`, `loo_hyps.json.gz`), SCRATCH
a folder for the files that are made from them. Larger sets repeat these images under new ids. Each line gives the median
wall-clock time, the least CPU time, the largest memory and the CPU time per image of all runs. With `--peer`,
pycocoevalcap 1.2 runs once on the 40,504 images (needs Java), and ratios compare its steps with capeval's; CPU times are
the fairer ones where other programs run. Needs Unix. `cargo xtask bench` builds the program and runs this.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

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
    print(f"{label:<34}{wall:>9.3f} s{cpu:>9.3f} s{max(memory):>8.0f} MB{cpu / n_images * 1e6:>9.1f} µs", flush=True)
    return wall, cpu


def repeated(references, results, n_images, scratch):
    """Files of `n_images` images: those of COCO, again and again under new ids."""
    paths = scratch / f"refs-{n_images}.json", scratch / f"hyps-{n_images}.json"
    if all(path.exists() for path in paths):
        return paths
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
    return paths


def peer(python, references, results):
    """The seconds of each step of pycocoevalcap, its total and its CPU time."""
    script = pathlib.Path(__file__).parent / "oracle/coco_time.py"
    _, cpu, _, errors = run([python, script, references, results, "--meteor"])
    steps = (line.split() for line in errors.splitlines() if line.endswith(" s"))
    return {step[0]: float(step[1]) for step in steps}, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("capeval")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--images", type=int, nargs="+", default=[1_000, 5_000, 40_504, 123_000, 250_000])
    given = parser.parse_args()
    references, results = (
        json.load(gzip.open(given.data / name, "rt", encoding="utf-8")) for name in ("loo_refs.json.gz", "loo_hyps.json.gz")
    )
    given.scratch.mkdir(parents=True, exist_ok=True)
    prepared = given.scratch / "references.capeval"

    print(f"{'':<34}{'wall':>11}{'CPU':>11}{'memory':>11}{'per image':>12}")
    ours = {}
    for n_images in given.images:
        refs, hyps = repeated(references, results, n_images, given.scratch)
        for name, metrics in SETS.items():
            score = [given.capeval, "score", "--quiet", "-m", metrics]
            label = f"{name}, {n_images:,} images"
            ours[name, n_images] = row(label, n_images, [*score, "-r", refs, hyps], given.runs)
    refs, _ = repeated(references, results, len(results), given.scratch)
    row("prepare, five", len(results), [given.capeval, "prepare", "-m", SETS["five"], refs, "-o", prepared], 1)
    for n_images in (1_000, 5_000, len(results)):
        _, hyps = repeated(references, results, n_images, given.scratch)
        score = [given.capeval, "score", "--quiet", "-m", SETS["five"], "--missing", "skip", "-r", prepared, hyps]
        row(f"five, prepared, {n_images:,} images", n_images, score, given.runs)

    if given.peer is None:
        print("pycocoevalcap was skipped: give --peer PYTHON, a Python with pycocoevalcap 1.2, and install Java")
        return
    steps, cpu = peer(given.peer, *repeated(references, results, len(results), given.scratch))
    print("pycocoevalcap:", ", ".join(f"{step} {seconds:.1f} s" for step, seconds in steps.items()), f"(CPU {cpu:.1f} s)")
    shared = steps["json"] + steps["ptb"]
    theirs = {
        "three": shared + steps["bleu"] + steps["rouge-l"] + steps["cider-d"],
        "METEOR": shared + steps["meteor"],
        "five": steps["total"],
    }
    for name, seconds in theirs.items():
        if (name, len(results)) in ours:
            wall, least = ours[name, len(results)]
            print(f"{name:<8}{seconds / wall:>6.0f} times as fast (wall), {seconds / least:.0f} times by capeval's CPU time")


if __name__ == "__main__":
    main()
