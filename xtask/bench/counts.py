#!/usr/bin/env python3
"""Count the instructions and the peak memory of fixed runs, and compare them with `counts.json` beside this file.

    counts.py CAPEVAL BUILD SCRATCH [--data DIR] [--quick] [--update]

CAPEVAL is the program, BUILD the name under which its numbers are kept (`dist`, `test`), SCRATCH a folder for files.
Neither number depends on how busy the machine is: valgrind counts instructions, and memory is that of one thread with
small pages, the least of three runs, compared by how much more it is than that of `--version`. A number that differs from
the kept one by more than 2 % (memory also by more than 4 MB) fails, be it larger or smaller, so that what was won is kept
too; `--update` writes the numbers of this machine.
Numbers of another compiler or another kind of processor are not compared. `--quick` takes the three runs that need
nothing but the program. The others need `--data`, a folder with COCO's leave-one-out files, and installed data of METEOR
and SPICE (`CAPEVAL_DATA`); what is missing is told and left out. `cargo xtask bench --check` builds the program and runs
this.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import platform
import random
import re
import subprocess
import sys

KEPT = pathlib.Path(__file__).with_name("counts.json")
SHARE = 0.02
# How much of a program the kernel maps at once depends on how its file came into the cache: as built, one has taken 25 MB
# for its version, and copied, 31 MB. So memory is compared above that of this run, and so many kB may differ.
START, SLACK = "version", 4096
ONE_THREAD = ["--threads", "1"]
FIVE = "bleu,rouge-l,cider-d,meteor"

WORDS = [
    "a an the two some man woman dog cat horse street table plate kitchen bus train boy girl field".split(),
    "large small red white old young wooden green tall blue riding holding watching eating".split(),
    "carrying pulling wearing passing on in near behind under beside with by and is are of".split(),
]


def generated(n_images, seed):
    """References, and captions of two systems: sentences of 5 to 20 words, some with marks of punctuation."""
    numbers = random.Random(seed)
    words = [word for group in WORDS for word in group] + [f"{word}'s" for word in WORDS[0][4:12]]

    def caption():
        text = " ".join(numbers.choices(words, k=numbers.randint(5, 20)))
        return text.capitalize() + numbers.choice(["", ".", " .", "!", ", too."])

    references = {str(k): [caption() for _ in range(5)] for k in range(n_images)}
    return references, *({key: numbers.choice([caption(), texts[0]]) for key, texts in references.items()} for _ in "ab")


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def inputs(scratch, data):
    """The files of the runs by name; those of COCO are None without its folder."""
    files = {}
    for n_images in (100, 400, 1000):
        parts = zip(("refs", "a", "b"), generated(n_images, n_images))
        files |= {f"{name}{n_images}": write(scratch / f"{name}{n_images}.json", content) for name, content in parts}
    names = ("loo_refs.json.gz", "loo_hyps.json.gz")
    if data is None or not all((data / name).exists() for name in names):
        return files
    references, results = (json.load(gzip.open(data / name, "rt", encoding="utf-8")) for name in names)
    by_image = {}
    for annotation in references["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])

    def some(name, rows):
        refs = {str(row["image_id"]): by_image[row["image_id"]] for row in rows}
        files[f"refs-{name}"] = write(scratch / f"refs-{name}.json", refs)
        files[f"hyps-{name}"] = write(scratch / f"hyps-{name}.json", {str(row["image_id"]): row["caption"] for row in rows})

    some("coco", results)
    some("5000", results[:5000])
    some("100", results[:100])
    some("long", [row for row in results if len(row["caption"].split()) >= 24][:12])
    return files


def runs(files, scratch, quick):
    """The arguments of each run by its name; for one that needs another before it, both."""
    def score(metrics, refs, hyps, *more):
        if refs not in files:
            return None
        return ["score", "--quiet", "-m", metrics, "-r", files[refs], *(files[name] for name in hyps.split()), *more]

    yield START, [["--version"]]
    yield "three, 400 images", [score("bleu,rouge-l,cider-d", "refs400", "a400")]
    yield "chrf, ter, sacrebleu, rouge155, 100 images", [score("chrf,ter,sacrebleu,rouge155", "refs100", "a100")]
    if quick:
        return
    tests = ["compare", "--quiet", "-m", "bleu,cider-d", "-r", *(files[name] for name in ("refs1000", "a1000", "b1000"))]
    yield "compare, 1,000 images", [tests]
    yield "page, 400 images", [score("bleu,rouge-l,cider-d", "refs400", "a400", "--html", scratch / "page.html")]
    yield "three, COCO", [score("bleu,rouge-l,cider-d", "refs-coco", "hyps-coco")]
    yield "METEOR, 5,000 images of COCO", [score("meteor", "refs-5000", "hyps-5000")]
    store = scratch / "references.capeval"
    prepare = "refs-coco" in files and ["prepare", "--quiet", "-m", FIVE, files["refs-coco"], "-o", store]
    files["prepared"] = store
    yield "five, prepared, 100 images of COCO", [prepare, prepare and score(FIVE, "prepared", "hyps-100", "--missing", "skip")]
    yield "SPICE, 100 images of COCO", [score("spice", "refs-100", "hyps-100", "--spice-cache", "none")]
    yield "SPICE, captions of 24 words and more", [score("spice", "refs-long", "hyps-long", "--spice-cache", "none")]


class Missing(Exception):
    """Data of a metric are not installed."""


def said(command):
    """What a run says on standard error."""
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if "not installed" in run.stderr:
        raise Missing("data that are not installed")
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {run.stderr}")
    return run.stderr


def instructions(command):
    """The instructions of a run."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    found = re.search(r"I\s+refs:\s+([\d,]+)", said([*counter, *command]))
    if found is None:
        sys.exit("valgrind printed no number of instructions")
    return int(found[1].replace(",", ""))


def memory(command):
    """The peak memory of a run in kB: the least of three, with small pages, of which the kernel takes no more than needed."""
    def peak():
        process = subprocess.Popen(
            command,
            env={**os.environ, "MIMALLOC_ALLOW_THP": "0"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return os.wait4(process.pid, 0)[2].ru_maxrss

    return min(peak() for _ in range(3))


def counter():
    """What decides the numbers besides the code: the compiler, valgrind, the C library and the kind of processor."""
    said = (subprocess.run([name, "--version"], capture_output=True, text=True).stdout.strip() for name in ("rustc", "valgrind"))
    libc = os.confstr("CS_GNU_LIBC_VERSION") if hasattr(os, "confstr") else platform.system()
    info = pathlib.Path("/proc/cpuinfo")
    vectors = "with" if info.exists() and " avx2 " in info.read_text() else "without"
    return ", ".join([*said, libc, f"{platform.machine()} {vectors} AVX2"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capeval", type=pathlib.Path)
    parser.add_argument("build")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    mine = kept.setdefault(given.build, {"counted by": counter(), "runs": {}})
    if given.update:
        mine["counted by"] = counter()
    elif mine["counted by"] != counter():
        print(f"skipped: counts of {given.build} are those of {mine['counted by']}, and this is {counter()}")
        return
    wrong, start = [], None
    print(f"{'':<44}{'instructions':>18}{'kept':>18}{'kB':>10}{'kept':>10}")
    # A process starts with the peak of the one that starts it as its own, so this one stays small.
    with concurrent.futures.ProcessPoolExecutor(1) as other:
        files = other.submit(inputs, given.scratch, given.data).result()
    for name, steps in runs(files, given.scratch, given.quick):
        try:
            if not all(steps):
                raise Missing("--data")
            *first, last = ([given.capeval, *map(str, step), *ONE_THREAD[: 2 * (len(step) > 1)]] for step in steps)
            for command in first:
                said(command)
            now = {"instructions": instructions(last), "kB": memory(last)}
        except Missing as missing:
            print(f"{name:<44} left out: needs {missing}")
            continue
        before = mine["runs"].get(name)
        shown = before or {"instructions": 0, "kB": 0}
        print(f"{name:<44}{now['instructions']:>18,}{shown['instructions']:>18,}{now['kB']:>10,}{shown['kB']:>10,}", flush=True)
        if given.update:
            mine["runs"][name] = now
        elif before is None:
            wrong.append(f"{name}: no numbers are kept")
        else:
            start = start or {"now": now["kB"], "kept": before["kB"]}
            moved = {
                "instructions": (now["instructions"] - before["instructions"], 0),
                "kB": ((now["kB"] - start["now"]) - (before["kB"] - start["kept"]), SLACK),
            }
            for unit, (by, slack) in moved.items():
                if abs(by) > max(SHARE * before[unit], slack):
                    share = now[unit] / before[unit] - 1
                    wrong.append(f"{name}: {now[unit]:,} {unit}, kept are {before[unit]:,} ({share:+.1%})")
    if given.update:
        KEPT.write_text(json.dumps(kept, indent=2) + "\n")
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit("counts differ by more than 2 %: find out why, or keep them with `cargo xtask bench --check --update`")


if __name__ == "__main__":
    main()
