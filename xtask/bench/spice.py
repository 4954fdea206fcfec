#!/usr/bin/env python3
"""Time SPICE: capeval, and the Java program beside it.

    spice.py CAPEVAL REFS.json HYPS.json SCRATCH [--java SPICE_HOME] [--prepared REFS HYPS] [--runs N]

REFS.json holds a list of captions for each id, HYPS.json a caption for each; SCRATCH is a folder for files. The images
are scored cold; `--java` scores them once with spice-1.0.jar in SPICE_HOME, in one process without a cache, and compares
the scores (needs Java, and a Python with pycocoevalcap for its tokenizer). `--prepared` prepares the references of
another pair of files, of any format that capeval reads, and scores with them. Then come the first score after the start,
and captions by length. Each line gives the median wall-clock time, the least CPU time and the largest memory of N runs
(3). Needs Unix, and METEOR's and SPICE's data.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ADJECTIVES = "small large red white old young wooden green tall blue".split()
NOUNS = "man woman dog horse table street bus train plate kitchen boy girl field bench cat surfer clock".split()
VERBS = "riding holding watching eating carrying pulling wearing passing".split()
PLACES = "on in near behind under beside with by".split()
# The number of captions of each length.
LENGTHS = {5: 400, 10: 400, 15: 200, 20: 100, 30: 50, 50: 20, 100: 4, 200: 1, 400: 1}


def run(command, **options):
    """Wall-clock seconds, CPU seconds and MB of a process, and what it printed."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, printed


def row(label, command, runs, **options):
    """Times a command, prints a line, and returns the median wall-clock time, the least CPU time and what it printed."""
    walls, cpus, memory, printed = zip(*(run(command, **options) for _ in range(runs)))
    wall, cpu = statistics.median(walls), min(cpus)
    print(f"{label:<34}{wall:>9.3f} s{cpu:>9.3f} s CPU{max(memory):>8.0f} MB", flush=True)
    return wall, cpu, printed[-1]


def caption(length, numbers):
    """A caption of this many words."""
    def words():
        for k in itertools.count():
            yield from ["a", numbers.choice(ADJECTIVES), numbers.choice(NOUNS)]
            yield from [numbers.choice(PLACES), "the"] if k % 2 else [numbers.choice(VERBS), "a"]
            yield numbers.choice(NOUNS)
            yield "and"
    return " ".join(itertools.islice(words(), length))


def write(path, content):
    path.write_text(json.dumps(content))
    return path


def java(home, refs, hyps, scratch):
    """Times the Java program on the tokens of pycocoevalcap, and returns F of each image."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    tokenizer = PTBTokenizer()
    gts = tokenizer.tokenize({key: [{"caption": text} for text in texts] for key, texts in refs.items()})
    res = tokenizer.tokenize({key: [{"caption": text}] for key, text in hyps.items()})
    images = [{"image_id": key, "test": res[key][0], "refs": gts[key]} for key in hyps]
    given, found = write(scratch / "java.json", images).resolve(), (scratch / "java.out.json").resolve()
    classes = f"{home}/spice-1.0.jar:{home}/lib/*"
    command = ["java", "-Xmx8G", "-cp", classes, "edu.anu.spice.SpiceScorer", given, "-out", found, "-subset", "-silent"]
    wall, cpu, _ = row("Java, cold", command, 1, cwd=home)
    return wall, cpu, {row["image_id"]: row["scores"]["All"]["f"] for row in json.loads(found.read_text())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capeval")
    parser.add_argument("refs", type=pathlib.Path)
    parser.add_argument("hyps", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--java", metavar="SPICE_HOME")
    parser.add_argument("--prepared", nargs=2, metavar=("REFS", "HYPS"))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)

    def score(refs, hyps, *options):
        return [given.capeval, "score", "-r", refs, hyps, "--metrics", "spice", "--quiet", *options]

    refs, hyps = (json.loads(path.read_text()) for path in (given.refs, given.hyps))
    n_captions = sum(map(len, refs.values())) + len(hyps)
    segments = given.scratch / "segments.jsonl"
    command = score(given.refs, given.hyps, "--segments", segments)
    wall, cpu, _ = row(f"{len(hyps)} images, cold", command, given.runs)
    print(f"  {n_captions} captions, {cpu / n_captions * 1e3:.2f} ms of CPU each")
    if given.java:
        java_wall, java_cpu, theirs = java(given.java, refs, hyps, given.scratch)
        print(f"  capeval is {java_wall / wall:.0f} times as fast, {java_cpu / cpu:.0f} times by CPU")
        rows = map(json.loads, segments.read_text().splitlines())
        ours = {str(row["image_id"]): row.get("scores", row)["spice"] for row in rows}
        print(f"  {sum(ours[key] != f for key, f in theirs.items())} of {len(theirs)} images have another score")
    if given.prepared:
        file = given.scratch / "prepared.capeval"
        prepare = [given.capeval, "prepare", given.prepared[0], "-o", file, "--metrics", "spice", "--quiet"]
        row("prepare references", prepare, 1)
        row("with prepared references", score(file, given.prepared[1]), given.runs)

    numbers = random.Random(1)
    nothing = None
    for length, count in {1: 1, **LENGTHS}.items():
        captions = {str(k): caption(length, numbers) for k in range(count)}
        files = write(given.scratch / "l.ref.json", {key: ["a dog"] for key in captions}), write(given.scratch / "l.hyp.json", captions)
        label = "first score after the start" if nothing is None else f"{count} of {length} words, 1 thread"
        _, cpu, _ = row(label, score(*files, "--threads", "1"), given.runs)
        if nothing is None:
            nothing = cpu
        else:
            print(f"  {(cpu - nothing) / count * 1e3:.2f} ms of CPU each")


if __name__ == "__main__":
    main()
