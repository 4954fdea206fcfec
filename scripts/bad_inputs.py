#!/usr/bin/env python3
"""Gives capeval inputs that cannot be used, or that a user should doubt, and checks what it says.

    scripts/bad_inputs.py target/release/capeval [--show]

Each case must end with an error (exit code 2), or, where scores mean something, with a note; the words must include
those of the case. None may take a second or 200 MB of memory, except a debug build, which is given ten seconds.
Prints the cases that fail, and with --show the words of all cases.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib

GOOD = [{"image_id": k, "caption": text} for k, text in enumerate(["a cat sits here", "a dog runs", "two men walk"], 1)]
REFERENCES = json.dumps(GOOD)
MEGABYTE = 1_000_000


def row(image, caption):
    return {"image_id": image, "caption": caption}


def results(*rows):
    return json.dumps(list(rows))


def table(header, *rows):
    return "\n".join([header, *rows]) + "\n"


# Name of the case, name and content of the candidates, words that must be said; by default the references are GOOD.
CANDIDATES = [
    ("nothing", "a.json", "", "is empty"),
    ("only spaces", "a.json", " \n\t ", "is empty"),
    ("an empty array", "a.json", "[]", "holds no captions"),
    ("an empty object", "a.json", "{}", "holds no captions"),
    ("numbers", "a.json", "[1, 2, 3]", "array of captions"),
    ("a number", "a.json", "7", "plain text"),
    ("null", "a.json", "null", "plain text"),
    ("an array of null", "a.json", "[null]", "array"),
    ("an array of true", "a.json", "[true, false]", "array"),
    ("strings, one too few", "a.json", '["a cat", "a dog"]', "1 of 3 images"),
    ("strings, one too many", "a.json", '["a", "b", "c", "d"]', "no reference"),
    ("strings and a number", "a.json", '["a", 2, "c"]', "caption in quotes"),
    ("strings and null", "a.json", '["a", null, "c"]', "caption in quotes"),
    ("arrays of arrays", "a.json", '[["a"], ["b"], ["c"]]', "object"),
    ("an object of numbers", "a.json", '{"1": 2}', "caption in quotes"),
    ("an object of null", "a.json", '{"1": null}', "caption in quotes"),
    ("an object of objects", "a.json", '{"1": {"caption": "a"}}', "caption in quotes"),
    ("a nested list", "a.json", '{"1": [["a"]]}', "caption in quotes"),
    ("NaN as a caption", "a.json", '[{"image_id": 1, "caption": NaN}]', "found NaN"),
    ("null as a caption", "a.json", '[{"image_id": 1, "caption": null}]', "holds no captions"),
    ("a number as a caption", "a.json", '[{"image_id": 1, "caption": 5}]', "caption in quotes"),
    ("a list as a caption of results", "a.json", '[{"image_id": 1, "caption": ["a", 5]}]', "caption"),
    ("no caption", "a.json", '[{"image_id": 1}]', "caption"),
    ("no id", "a.json", '[{"caption": "a"}, {"caption": "b"}, {"caption": "c"}]', "id"),
    ("an id of null", "a.json", '[{"image_id": null, "caption": "a"}]', "image id"),
    ("an id of true", "a.json", '[{"image_id": true, "caption": "a"}]', "image id"),
    ("an id of NaN", "a.json", '[{"image_id": NaN, "caption": "a"}]', "found NaN"),
    ("an id with a fraction", "a.json", '[{"image_id": 1.5, "caption": "a"}]', "1.5 is not an integer"),
    ("an id beyond 64 bits", "a.json", '[{"image_id": 99999999999999999999, "caption": "a"}]', "64 bits"),
    ("an id in a list", "a.json", '[{"image_id": [1], "caption": "a"}]', "image id"),
    ("a key twice", "a.json", '[{"image_id": 1, "image_id": 2, "caption": "a"}]', "twice"),
    ("a key of a dictionary twice", "a.json", '{"1": "a", "1": "b"}', "twice"),
    ("two candidates", "a.json", results(*GOOD, row(1, "again")), "several candidates"),
    ("a missing image", "a.json", results(*GOOD[:2]), "1 of 3 images"),
    ("a surplus image", "a.json", results(*GOOD, row(9, "a")), "no reference"),
    ("ids in quotes", "a.json", results(*(row(str(one["image_id"]), "a") for one in GOOD)), "--ids text"),
    ("an empty candidate", "a.json", results(row(1, ""), *GOOD[1:]), "is empty"),
    ("a candidate of spaces", "a.json", results(row(1, " \n "), *GOOD[1:]), "is empty"),
    ("a candidate of dots", "a.json", results(row(1, "..."), *GOOD[1:]), "has no words"),
    ("candidates of punctuation", "a.json", results(row(1, "..."), row(2, ","), GOOD[2]), "have no words"),
    ("a candidate of a quote", "a.json", results(row(1, '"'), *GOOD[1:]), "has no words"),
    ("a candidate of an emoji", "a.json", results(row(1, "\U0001f600"), *GOOD[1:]), "has no words"),
    ("truncated JSON", "a.json", REFERENCES[:-20], "truncated"),
    ("text after JSON", "a.json", REFERENCES + "x", "end of the file"),
    ("a comma too many", "a.json", REFERENCES[:-1] + ",]", "expected"),
    ("single quotes", "a.json", "[{'image_id': 1, 'caption': 'a'}]", "quotes"),
    ("a lone surrogate", "a.json", '[{"image_id": 1, "caption": "\\ud800"}]', "surrogate"),
    ("a control character", "a.json", '[{"image_id": 1, "caption": "a\x01"}]', "control character"),
    ("deep nesting", "a.json", "[" * 100_000, "expected an object"),
    ("deep nesting in a caption", "a.json", '{"1": ' + "[" * 100_000, "quotes"),
    ("Latin-1", "a.json", '{"1": "caf\xe9"}'.encode("latin-1"), "UTF-8"),
    ("Latin-1 text", "a.txt", "caf\xe9\nb\nc\n".encode("latin-1"), "UTF-8"),
    ("UTF-16", "a.json", REFERENCES.encode("utf-16"), "UTF-16"),
    ("UTF-16 without a mark", "a.json", REFERENCES.encode("utf-16-le"), "binary data"),
    ("zero bytes", "a.json", bytes(100_000), "binary data"),
    ("random bytes", "a.json", os.urandom(100_000).replace(b"{", b"}").replace(b"[", b"]"), ""),
    ("a picture", "a.json", b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
    ("a pickle", "a.json", b"\x80\x04]q\x00.", "pickle"),
    ("a zip archive", "a.json", b"PK\x03\x04" + bytes(100), "zip"),
    ("a web page", "a.json", "<!DOCTYPE html><html></html>", "HTML"),
    ("truncated gzip", "a.json.gz", gzip.compress(REFERENCES.encode())[:-12], "gzip"),
    ("damaged gzip", "a.json.gz", gzip.compress(REFERENCES.encode())[:20] + bytes(30), "gzip"),
    ("a caption of 300 MB in gzip", "a.json.gz", None, "unpack to more than 64 MB"),
    ("a caption of 1.2 MB", "a.json", results(row(1, "a " * 600_000), *GOOD[1:]), "1 MB is allowed"),
    ("a damaged Parquet file", "a.parquet", b"PAR1" + bytes(100) + b"PAR1", "Parquet"),
    ("a truncated zstd file", "a.json.zst", b"\x28\xb5\x2f\xfd\x04", "zstd"),
    ("a header alone", "a.csv", "image_id,caption\n", "holds no captions"),
    ("a table without captions", "a.csv", table("image_id,score", "1,2"), "no column is known to hold captions"),
    ("a row with too many fields", "a.csv", table("image_id,caption", "1,a,b"), "3 fields"),
    ("an open quote", "a.csv", table("image_id,caption", '1,"a'), "never ends"),
    ("text after a quote", "a.csv", table("image_id,caption", '1,"a"b'), "closing quote"),
    ("an empty cell", "a.csv", table("image_id,caption", "1,", "2,a", "3,b"), "is empty"),
    ("ids nan", "a.csv", table("image_id,caption", "nan,a", "2,b", "3,c"), "no reference"),
    ("a table without ids", "a.csv", table("caption", "a", "b", "c"), "numbered from 1"),
    ("a column twice", "a.csv", table("image_id,caption,caption", "1,a,b"), "twice"),
    ("damaged JSON Lines", "a.jsonl", '{"image_id": 1, "caption": "a"}\n{"image_id": 2', "a.jsonl:2"),
    ("other keys from line 2 on", "a.jsonl", '{"image_id": 1, "caption": "a"}\n{"caption": "b"}\n', "record 2 has no id"),
    ("one line too many", "a.txt", "a\nb\nc\nd\n", "numbered from 1"),
    ("one line too few", "a.txt", "a\nb\n", "1 of 3 images"),
    ("a blank line", "a.txt", "a\n\nc\n", "is empty"),
    ("a copy of the references", "a.json", REFERENCES, "word for word a reference"),
]

# As before, with the references first.
PAIRS = [
    ("ids out of order", results(*reversed(GOOD)), "a.txt", "a\nb\nc\n", "captions went to the images"),
    ("strings and ids out of order", results(*reversed(GOOD)), "a.json", '["a", "b", "c"]', "went to the images"),
    ("ids from 0", results(*(row(k, "a b") for k in range(3))), "a.txt", "a\nb\nc\n", "numbered from 1"),
    ("an empty reference", results(row(1, ""), *GOOD), "a.json", results(*(row(k, "a b") for k in (1, 2, 3))), "is empty in"),
    ("swapped files", '{"1": "a b", "2": "c d"}', "a.json", '{"1": ["a c"], "2": ["d"]}', "swapped?"),
    ("references without captions", '{"images": [], "annotations": []}', "a.json", REFERENCES, "no captions"),
    ("several references as candidates", REFERENCES, "a.json", results(*GOOD, *GOOD), "swapped?"),
]

# Name, arguments, words; {r} is a file of references, {d} a folder.
COMMANDS = [
    ("one file twice", ["score", "-r", "{r}", "{r}", "-m", "bleu"], "one file"),
    ("binary data without end", ["score", "-r", "{r}", "/dev/urandom", "-m", "bleu"], ""),
    ("zeros without end", ["score", "-r", "{r}", "/dev/zero", "-m", "bleu"], "binary data"),
    ("references without end", ["score", "-r", "/dev/zero", "{r}", "-m", "bleu"], "binary data"),
    ("an empty device", ["score", "-r", "{r}", "/dev/null", "-m", "bleu"], "is empty"),
    ("ratings without end", ["correlate", "/dev/zero", "-r", "{r}"], ""),
    ("pairs without end", ["prefer", "/dev/zero", "-r", "{r}"], ""),
    ("a table without end", ["score", "-r", "{r}", "{r}", "-m", "cider", "--df", "/dev/zero"], ""),
    ("probabilities without end", ["perplexity", "/dev/zero"], ""),
    ("a folder", ["score", "-r", "{r}", "{d}", "-m", "bleu"], "directory"),
    ("no file", ["score", "-r", "{r}", "{d}/none.json", "-m", "bleu"], "no such file"),
    ("captions as probabilities", ["perplexity", "{r}"], "--lm"),
    ("a column for probabilities", ["perplexity", "--id-column", "x", "{r}"], "leave out --id-column"),
    ("captions as ratings", ["correlate", "{r}", "-r", "{r}"], "ratings"),
    ("captions as a table of frequencies", ["df", "show", "{r}"], "JSON"),
    ("a list of images as an object", ["score", "-r", "{r}", "{r}", "--images", "{d}/object.json"], ""),
]


def run(command, stdin=None):
    """The exit code, the words, the seconds and the bytes of memory."""
    start = time.time()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdin=stdin, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.time() - start
        said.seek(0)
        return child.returncode, said.read().decode(), took, usage.ru_maxrss * 1024


def gzipped_caption(n_words):
    """A long caption, without its text in memory, since a child begins with the memory of this program."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(b'[{"image_id": 1, "caption": "')]
    parts += [packer.compress(b"a " * 1000) for _ in range(n_words // 1000)]
    return b"".join([*parts, packer.compress(b'"}]'), packer.flush()])


def main():
    program = os.path.abspath(sys.argv[1])
    show = "--show" in sys.argv
    seconds = 10 if "debug" in program else 1
    failed, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("r.json", "w") as out:
            out.write(REFERENCES)
        with open("object.json", "w") as out:
            out.write('[{"a": 1}]')

        def check(what, command, words, stdin=None):
            nonlocal n
            n += 1
            code, said, took, memory = run([program, *command], stdin)
            faults = [
                fault
                for fault, is_so in [
                    (f"exit code {code}", code not in (0, 2)),
                    ("silent", code == 2 and "error: " not in said or code == 0 and "note: " not in said),
                    (f"'{words}' is not said", words not in " ".join(said.split())),
                    (f"{took:.2f} s", took > seconds),
                    (f"{memory // MEGABYTE} MB", memory > 200 * MEGABYTE),
                ]
                if is_so
            ]
            if show or faults:
                print(f"{what} ({took:.2f} s, {memory // MEGABYTE} MB)\n  " + "\n  ".join(said.strip().splitlines()[-6:]))
            if faults:
                failed.append(what)
                print("  FAILED:", ", ".join(faults))

        cases = [(what, REFERENCES, *rest) for what, *rest in CANDIDATES] + PAIRS
        for what, references, name, content, words in cases:
            if content is None:
                content = gzipped_caption(150_000_000)
            with open("references.json", "w") as out:
                out.write(references)
            with open(name, "wb") as out:
                out.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
            check(what, ["score", "-r", "references.json", name, "-m", "bleu"], words)
            os.remove(name)
        for what, arguments, words in COMMANDS:
            check(what, [one.format(r="r.json", d=".") for one in arguments], words)
        for what, source in [("text", "yes"), ("binary data", "cat /dev/urandom")]:
            piped = subprocess.Popen(source.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            words = {"text": "100 MB", "binary data": ""}[what]
            check(f"{what} without end from a pipe", ["score", "-r", "r.json", "-"], words, piped.stdout)
            piped.stdout.close()
            piped.wait()
    print(f"{n} inputs, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
