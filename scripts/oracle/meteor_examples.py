#!/usr/bin/env python3
"""Score the example sets of METEOR's own distribution with capeval, and compare them with METEOR's scores.

    meteor_examples.py RESOURCES EXAMPLE [--jar JAR] [--ours PROGRAM]

EXAMPLE is the folder `example` of the METEOR repository (cmu-mtlab/meteor on GitHub): test.sgm and ref.sgm of
newstest2009 with the published scores, and two systems of WMT 2010 in xray/. Build capeval's side first:
cargo build --release -p capeval-meteor --example meteor_stdio

Compares every segment score and the corpus score with the jar's, bit by bit, and the corpus scores with the
published 0.299148440516935 (newstest2009, file meteor-sys.scr) and 0.3204832379614146 (xray/system1, in
METEOR's README). The published segment scores were printed by a Java version of 2014, which sometimes gives another
last digit; the number and the size of these differences are printed for both programs. The exit status is 1 if one of
the other comparisons fails.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from meteor_compare import OURS, run

PUBLISHED = {"newstest2009": "0.299148440516935", "system1": "0.3204832379614146"}


def segments(path):
    """Text by document and segment of a file in NIST's SGML with one segment per line, in order."""
    found, document = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if match := re.search(r'docid="([^"]+)"', line):
                document = match.group(1)
            if match := re.search(r"<seg id=\"?([^\">]+?)\"?>(.*)</seg>", line):
                found[document, match.group(1)] = match.group(2).strip()
    return found


def scores(ours, resources, pairs):
    lines = [f"SCORE ||| {reference} ||| {hypothesis}" for hypothesis, reference in pairs]
    command = [ours, resources, "-l", "en", "-norm"]
    return run(command, ["EVAL ||| " + " ||| ".join(run(command, lines))])


def jar(arguments):
    done = subprocess.run(["java", "-Xmx2G", "-jar", *arguments, "-l", "en", "-norm"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the jar failed: {done.stderr[-2000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("resources")
    parser.add_argument("example")
    parser.add_argument("--jar")
    parser.add_argument("--ours", default=OURS)
    arguments = parser.parse_args()
    program = arguments.jar
    if program is None:
        import pycocoevalcap.meteor
        program = os.path.join(next(iter(pycocoevalcap.meteor.__path__)), "meteor-1.5.jar")
    file = lambda name: os.path.abspath(os.path.join(arguments.example, name))
    failed = False

    def compare(name, mine, theirs):
        nonlocal failed
        differ = sum(float(a) != float(b) for a, b in zip(mine, theirs)) + abs(len(mine) - len(theirs))
        published = PUBLISHED.get(name)
        verdict = f", published {published}" if published else ""
        print(f"{name}: {differ} of {len(theirs) - 1} segments and the corpus differ from the jar; "
              f"ours {mine[-1]}, the jar's {theirs[-1]}{verdict}")
        failed |= differ > 0 or (published is not None and float(mine[-1]) != float(published))

    tests, references = segments(file("test.sgm")), segments(file("ref.sgm"))
    mine = scores(arguments.ours, arguments.resources, [(tests[key], references[key]) for key in tests])
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "jar")
        jar([program, file("test.sgm"), file("ref.sgm"), "-sgml", "-f", prefix])
        read = lambda path: {tuple(row[2:-1]): row[-1] for row in (line.split() for line in open(path))}
        theirs, system = read(f"{prefix}-seg.scr"), read(f"{prefix}-sys.scr")
    compare("newstest2009", mine, [theirs[key] for key in tests] + list(system.values()))
    published = read(file("meteor-seg.scr"))
    for name, values in (("ours", mine), ("the jar's", [theirs[key] for key in tests])):
        gaps = [abs(float(a) - float(published[key])) / float(published[key])
                for key, a in zip(tests, values) if float(a) != float(published[key])]
        print(f"newstest2009: {len(gaps)} of {len(published)} published segment scores differ from {name}, "
              f"by at most {max(gaps, default=0.0):.1e}")

    for system in ("system1", "system2"):
        with open(file(f"xray/{system}.hyp"), encoding="utf-8") as a, open(file("xray/reference"), encoding="utf-8") as b:
            mine = scores(arguments.ours, arguments.resources, [(x.strip(), y.strip()) for x, y in zip(a, b)])
        output = jar([program, file(f"xray/{system}.hyp"), file("xray/reference")])
        theirs = re.findall(r"^(?:Segment \d+|Final) score:\s+(\S+)", output, re.MULTILINE)
        compare(system, mine, theirs)
    sys.exit(failed)


if __name__ == "__main__":
    main()
