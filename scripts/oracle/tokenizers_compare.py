"""Compare capeval's tokenizers with those of sacreBLEU 2.6.0 on real and hostile text.

Needs Python with sacrebleu and its `regex` module (for the tokenizer `jieba` also that package), and cargo. From the
project root:

    python scripts/oracle/tokenizers_compare.py --data ../shared/data --lines 1000000
    python scripts/oracle/tokenizers_compare.py --classes

The reference for a text is BLEU's preprocessing: `BLEU(tokenize=NAME)._preprocess_segment(text).split()`.
Prints the number of texts and of differences per tokenizer and source; the exit status is 1 if any differ.
"""

import argparse
import csv
import gzip
import io
import json
import pathlib
import random
import subprocess
import sys

NAMES = ["13a", "intl", "zh", "char"]

# The first and last character of each range that `zh` treats specially, and their neighbours.
ZH_EDGES = [
    0x2000, 0x2001, 0x2A6D, 0x2A6E, 0x2E80, 0x2FDF, 0x2FE0, 0x2FF0, 0x3000, 0x303F, 0x3040, 0x30FF, 0x3100,
    0x312F, 0x3130, 0x31A0, 0x31BF, 0x31C0, 0x31EF, 0x31F0, 0x3200, 0x33FF, 0x3400, 0x4DB5, 0x4DB6, 0x4DFF,
    0x4E00, 0x9FA5, 0x9FA6, 0x9FBB, 0x9FBC, 0xF8FF, 0xF900, 0xFA2D, 0xFA2E, 0xFA30, 0xFA6A, 0xFA6B, 0xFA70,
    0xFAD9, 0xFADA, 0xFE10, 0xFE1F, 0xFE20, 0xFE30, 0xFE4F, 0xFE50, 0xFEFF, 0xFF00, 0xFFEF, 0xFFF0, 0x20000,
    0x2A6D6, 0x2F800, 0x2FA1D,
]
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2003\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
TOKENS = [
    "<skipped>", "<skip", "ped>", "-\n", "-\r\n", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;quot;",
    "&amp;amp;gt;", "&apos;", "&#39;", "...", "..", ".,", ",.", "--", "n't", "'s", "3.5", "1,000", "1990.",
    "5-year", "U.S.", "a.m.", "http://x.y/z?q=1", "你好", "小狗。", "，", "「", "é", "٣", "½", "Ⅷ", "€", "€5", "©",
]


def random_scalar(rng, top):
    while True:
        code = rng.randrange(top)
        if not 0xD800 <= code < 0xE000 and code != 0:
            return chr(code)


def hostile(n_lines, seed, classes):
    """Texts of many kinds without NUL, which separates them in the pipe."""
    rng = random.Random(seed)
    ascii_marks = "".join(chr(c) for c in range(33, 127) if not chr(c).isalnum())
    pools = [
        lambda: rng.choice(ascii_marks),
        lambda: rng.choice("0123456789"),
        lambda: rng.choice(".,-"),
        lambda: rng.choice("abcXYZ"),
        lambda: rng.choice(SPACES),
        lambda: " ",
        lambda: rng.choice(TOKENS),
        lambda: chr(rng.choice(ZH_EDGES)),
        lambda: chr(rng.randrange(0x4E00, 0x9FFF)),
        lambda: chr(rng.randrange(0xFF00, 0xFFF0)),
        lambda: rng.choice(classes["N"]),
        lambda: rng.choice(classes["P"]),
        lambda: rng.choice(classes["S"]),
        lambda: random_scalar(rng, 0x3000),
        lambda: random_scalar(rng, 0x110000),
    ]
    for _ in range(n_lines):
        some = rng.sample(pools, rng.randint(2, 6))
        yield "".join(rng.choice(some)() for _ in range(rng.randint(0, 30)))


def every_character():
    """Each character alone, between letters, between digits, and next to points."""
    for code in range(1, 0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            yield f"{c}.5 a{c}b 1{c}2 {c},{c} 1-{c}- .{c}. 1{c}"


def real_texts(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = path.name.removesuffix(".gz")
        if not path.is_file() or name.endswith((".pkl", ".md")):
            continue
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as file:
            text = file.read().decode("utf-8")
        # The raw lines of the file, and the strings inside the format.
        texts = text.split("\n")
        if name.endswith(".json"):
            texts = list(strings(json.loads(text)))
        elif name.endswith(".csv"):
            texts = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        elif name.endswith("token.txt"):
            texts += [line.partition("\t")[2] for line in texts]
        elif "caption" in name:
            texts += [line.partition(" ")[2] for line in texts]
        yield str(path.relative_to(folder)), [t for t in texts if "\0" not in t]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def ours(name, texts):
    features = ["--features", "jieba"] if name == "jieba" else []
    command = ["cargo", "run", "--release", "--quiet", "-p", "capeval-text", *features]
    command += ["--example", "tokenize", "--", name, "-0"]
    data = "".join(text + "\0" for text in texts).encode("utf-8")
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8").split("\0")[:-1]


def reference(name):
    if name == "jieba":
        import jieba

        return lambda text: " ".join(word for word in jieba.cut(text) if not word.isspace())
    from sacrebleu.metrics import BLEU

    bleu = BLEU(tokenize=name)
    return lambda text: " ".join(bleu._preprocess_segment(text).split())


def compare(name, source, texts, show):
    texts = list(texts)
    tokenize = reference(name)
    found = ours(name, texts)
    assert len(found) == len(texts), (len(found), len(texts))
    n_different = 0
    for text, mine in zip(texts, found):
        theirs = tokenize(text)
        if mine != theirs:
            n_different += 1
            if n_different <= show:
                print(f"  text   {text!r}\n  theirs {theirs!r}\n  ours   {mine!r}")
    print(f"{name}\t{source}\t{len(texts)} texts\t{n_different} differences", flush=True)
    return n_different


def character_classes():
    import regex

    patterns = [(c, regex.compile(rf"\p{{{c}}}")) for c in "NPS"]
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            yield c, next((letter for letter, pattern in patterns if pattern.match(c)), "X")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="tokenizers to compare")
    parser.add_argument("--data", help="folder of captions: json, csv and text files, gzipped or not")
    parser.add_argument("--lines", type=int, default=0, help="number of hostile texts")
    parser.add_argument("--every-character", action="store_true", help="also compare each character")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="number of differences to print per source")
    parser.add_argument("--classes", action="store_true", help="print the hash of the reference's properties")
    options = parser.parse_args()
    if options.classes:
        digest = 0xCBF29CE484222325
        for _, letter in character_classes():
            digest = (digest ^ ord(letter)) * 0x100000001B3 % 2**64
        print(f"{digest:#018x}")
        return 0
    sources = list(real_texts(options.data)) if options.data else []
    if options.lines:
        classes = {"N": [], "P": [], "S": [], "X": []}
        for c, letter in character_classes():
            classes[letter].append(c)
        sources.append((f"hostile, seed {options.seed}", list(hostile(options.lines, options.seed, classes))))
    if options.every_character:
        sources.append(("every character", list(every_character())))
    return int(sum(compare(name, *source, options.show) for name in options.names for source in sources) > 0)


if __name__ == "__main__":
    sys.exit(main())
