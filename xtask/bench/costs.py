#!/usr/bin/env python3
"""Measure what each metric costs, and write docs/reference/metrics/costs.json, from which its card says so.

    CAPEVAL_DATA=DIR costs.py PROGRAM REFERENCES CANDIDATES [--only NAME,NAME]

PROGRAM is capeval as it is shipped (`cargo build --profile dist -p capeval-cli`). The files are COCO's references and a system's
captions of the same images. Each metric is computed alone, on one thread; the time is that of the processor, the least of three
runs, and includes reading.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/metrics/costs.json"


def seconds(command):
    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(3))


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("references")
    parser.add_argument("candidates")
    parser.add_argument("--only", help="names of metrics to measure again")
    given = parser.parse_args()
    listed = json.loads(subprocess.run([given.program, "metrics", "-f", "json"], check=True, capture_output=True).stdout)
    names = [metric["name"] for metric in listed]
    old = json.loads(PAGE.read_text(encoding="utf-8"))["seconds"] if PAGE.exists() else {}
    wanted = given.only.split(",") if given.only else names
    images = len(json.loads(Path(given.candidates).read_text(encoding="utf-8")))
    times = {name: old[name] for name in names if name in old and name not in wanted}
    for name in names:
        if name in wanted:
            command = [given.program, "score", "-q", "--threads", "1", "--spice-cache", "none", "-m", name]
            command += ["-r", given.references, given.candidates, "--missing", "skip"]
            times[name] = float(f"{seconds(command):.2g}")
            print(name, times[name])
    month = datetime.date.today().strftime("%B %Y")
    measured = f"of a core for {images:,} captions of COCO with five references each, reading included ({processor()}, {month})"
    new = {"measured": measured, "seconds": {name: times[name] for name in names if name in times}}
    part = PAGE.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
    part.replace(PAGE)


if __name__ == "__main__":
    main()
