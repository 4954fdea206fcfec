"""Compare capeval's n-gram models with KenLM's: estimation with lmplz, scoring with query.

Needs Python, cargo, and KenLM's programs. From the project root:

    python scripts/oracle/kenlm_compare.py --lmplz LMPLZ --query QUERY --data ../shared/data

Estimates models of several orders from German and English captions with both programs and compares every
probability and backoff weight, then scores other captions with both programs under KenLM's model. KenLM uses
32-bit numbers; the exit status is 1 if anything differs by more than 1e-4 in base-10 logarithms.
"""

import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [" ".join(re.findall(r"\w+|[^\w\s]", line.lower())) for line in file]


def arpa(text):
    ngrams = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) >= 2:
            ngrams[fields[1]] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return ngrams


def run(command, text):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          encoding="utf-8").stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lmplz", required=True)
    parser.add_argument("--query", required=True)
    parser.add_argument("--data", required=True)
    options = parser.parse_args()
    data = pathlib.Path(options.data)
    english = [line for k in range(1, 6) for line in lines(data / f"multi30k/train.{k}.en.gz")]
    german = [line for k in range(1, 6) for line in lines(data / f"multi30k/val.{k}.de.gz")]
    work = [
        ("en, 20,000 captions", english[:20000], lines(data / "multi30k/test_2016.1.en.gz")),
        ("en, 145,000 captions", english, lines(data / "multi30k/test_2016.2.en.gz")),
        ("de, 5,070 captions", german, lines(data / "multi30k/test_2016.1.de.gz")),
    ]
    ours = ["cargo", "run", "--release", "--quiet", "-p", "capeval-lexical", "--example", "ngram", "--"]
    worst = 0.0
    for name, train, test in work:
        for order in [2, 3, 4, 5]:
            text = "\n".join(train) + "\n"
            fallback = [] if order < 5 and "de" not in name else ["fallback"]
            theirs_text = run([options.lmplz, "-o", str(order), "-S", "200M", "-T", tempfile.gettempdir()]
                              + (["--discount_fallback"] if fallback else []), text)
            theirs, found = arpa(theirs_text), arpa(run([*ours, "estimate", str(order), *fallback], text))
            assert theirs.keys() == found.keys(), (len(theirs), len(found))
            difference = max(abs(a - b) for key in theirs for a, b in zip(theirs[key], found[key]))
            with tempfile.NamedTemporaryFile("w", suffix=".arpa", encoding="utf-8") as file:
                file.write(theirs_text)
                file.flush()
                text = "\n".join(test) + "\n"
                scores = [line.split("\t") for line in run([*ours, "score", file.name], text).splitlines()]
                report = run([options.query, "-v", "sentence", file.name], text).splitlines()
            expected = [line.split() for line in report if line.startswith("Total:")]
            assert len(expected) == len(scores) == len(test)
            in_scores = max(abs(float(a[0]) - float(b[1])) for a, b in zip(scores, expected))
            assert all(a[2] == b[3] for a, b in zip(scores, expected)), "unknown words"
            total, tokens = sum(float(s[0]) for s in scores), sum(int(s[1]) for s in scores)
            worst = max(worst, difference, in_scores)
            print(f"{name}\torder {order}\t{len(theirs)} n-grams\tlargest {difference:.1e}\t{len(test)} captions"
                  f"\tlargest {in_scores:.1e}\tperplexity {10 ** (-total / tokens):.4f}", flush=True)
    return int(not worst <= 1e-4)


if __name__ == "__main__":
    sys.exit(main())
