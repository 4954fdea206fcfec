#!/usr/bin/env python3
"""Obtain the answers in crates/meteor/tests/tiny/quirks.tsv from meteor-1.5.jar, and write them there.

    meteor_quirks.py [--jar JAR]

The jar is run with the made-up word lists and tables of that folder (-d, -a, -s), since its own are too large to
demonstrate the quirks. Each line: name of the test, options, hypothesis, references separated by |||, the jar's
statistics, and the resulting score. This script fills in the last two columns.
"""
import argparse
import gzip
import os
import shutil
import tempfile

from meteor_compare import HERE, run

TINY = os.path.join(HERE, "../../crates/meteor/tests/tiny")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar")
    arguments = parser.parse_args()
    jar = arguments.jar
    if jar is None:
        import pycocoevalcap.meteor
        jar = os.path.join(next(iter(pycocoevalcap.meteor.__path__)), "meteor-1.5.jar")
    cases = os.path.join(TINY, "quirks.tsv")
    with open(cases, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("english.synsets", "english.exceptions"):
            shutil.copy(os.path.join(TINY, name), folder)
        open(os.path.join(folder, "english.relations"), "w").close()
        table = os.path.join(folder, "paraphrases.gz")
        with open(os.path.join(TINY, "paraphrase-en"), "rb") as plain, gzip.open(table, "wb") as out:
            out.write(plain.read())
        for row in rows:
            name, options, hypothesis, references = row[:4]
            # Two spaces separate options, so that a single space can be part of one.
            options = options.split("  ")
            words = [] if "de" in options else ["-s", os.path.join(TINY, "english.words")]
            command = ["java", "-Dfile.encoding=UTF-8", "-jar", jar, "-", "-", "-stdio", *options,
                       "-d", f"file:{folder}", "-a", f"file:{table}", *words]
            command = [part.removeprefix("file:") for part in command]
            statistics = run(command, [f"SCORE ||| {references} ||| {hypothesis}"])[0]
            score = run(command, [f"EVAL ||| {statistics}"])[0]
            row[4:] = [statistics, score]
            print(name, statistics, score)
    with open(cases, "w", encoding="utf-8") as out:
        out.writelines("\t".join(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
