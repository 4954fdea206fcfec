#!/usr/bin/env python3
"""Compare capeval's `ptb` tokens with those of the Java program that pycocoevalcap calls.

    ptb_compare.py --jar stanford-corenlp-3.4.1.jar FILE...         one text per line, gzip or plain
    ptb_hostile.py 1000000 | ptb_compare.py --jar ... -

Makes two comparisons: the raw tokens (case and punctuation kept), and the tokens after pycocoevalcap's
post-processing. Between the texts there is a line that begins a new sentence, because `ptb-each` assumes one after a
text. `--batch` omits it and compares `ptb`, which receives the texts after each text, as
in a whole file of pycocoevalcap; texts that contain line breaks are then skipped.

The jar is in the wheel pycocoevalcap 1.2 (`tokenizer/`). Needs Java and cargo. The exit status is 1 if
any line differs.
"""
import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PUNCTUATION = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-",
               ".", "?", "!", ",", ":", "-", "--", "...", ";"}
# The quotes close any attribute value that a text leaves open, and the bracket closes an odd smiley, so that
# no token extends past the line.
FENCE, FENCE_TOKENS = "A xsepx '\"<", "a xsepx ' '' <"
CHUNK = 200_000


def read_lines(path):
    if path == "-":
        data = sys.stdin.buffer.read()
    else:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            data = file.read()
    lines = data.decode("utf-8").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def java(jar, text, lower):
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(text.encode("utf-8"))
    command = ["java", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines"]
    try:
        out = subprocess.run(command + ["-lowerCase"] * lower + [file.name], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        os.remove(file.name)
    return out.stdout.decode("utf-8").split("\n")


def java_fenced(jar, texts, lower):
    """The lines that the Java program prints for each text."""
    lines = java(jar, "".join(f"{text}\n{FENCE}\n" for text in texts), lower)
    groups, group = [], []
    for line in lines:
        if line.lower() == FENCE_TOKENS:
            groups.append(group)
            group = []
        else:
            group.append(line)
    if len(groups) != len(texts):
        raise SystemExit(f"{len(groups)} groups of lines for {len(texts)} texts: a token extends over a line break")
    return groups


def finished(line):
    """pycocoevalcap's post-processing of one line."""
    return " ".join(word for word in line.rstrip().split(" ") if word not in PUNCTUATION)


def joined(lines):
    return " ".join(line for line in lines if line)


def rust(binary, name, texts, batch):
    command = [binary, name] + ["--next"] * batch
    out = subprocess.run(command, input="".join(text + "\n" for text in texts).encode("utf-8"),
                         check=True, stdout=subprocess.PIPE)
    return out.stdout.decode("utf-8").split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--jar", required=True)
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--show", type=int, default=20, help="number of differences to print")
    args = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "capeval-text", "--example", "tokenize"],
                   cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    binary = os.path.join(target, "release", "examples", "tokenize")
    total, differing, shown = 0, Counter(), 0
    for path in args.files:
        texts = read_lines(path)
        if args.batch:
            texts = [text for text in texts if not set(text) & set("\r\x0b\x0c\x85\u2028\u2029")]
        size = len(texts) if args.batch else CHUNK
        for start in range(0, len(texts), size):
            chunk = texts[start:start + size]
            for name, lower in (("ptb-raw", False), ("ptb" if args.batch else "ptb-each", True)):
                begun = time.time()
                if args.batch:
                    theirs = [[line] for line in java(args.jar, "\n".join(chunk), lower)]
                    if len(theirs) != len(chunk):
                        raise SystemExit(f"{len(theirs)} lines for {len(chunk)} texts")
                else:
                    theirs = java_fenced(args.jar, chunk, lower)
                mid = time.time()
                ours = rust(binary, name, chunk, args.batch)
                print(f"{path} {start} {name}: java {mid - begun:.1f} s, rust {time.time() - mid:.2f} s",
                      file=sys.stderr)
                if len(ours) != len(chunk):
                    raise SystemExit(f"{len(ours)} lines from capeval for {len(chunk)} texts")
                for k, (text, their, our) in enumerate(zip(chunk, theirs, ours)):
                    their = joined(their if name == "ptb-raw" else map(finished, their))
                    if their != our:
                        differing[name] += 1
                        if shown < args.show:
                            shown += 1
                            print(f"{path}:{start + k + 1} {name}\n  text    {text!a}\n"
                                  f"  java    {their!a}\n  capeval {our!a}")
        total += len(texts)
    print(f"{total} texts: {differing['ptb-raw']} differ in raw tokens, {differing['ptb'] + differing['ptb-each']} after post-processing")
    sys.exit(any(differing.values()))


if __name__ == "__main__":
    main()
