#!/usr/bin/env python3
"""Make random and hostile segments for the reference programs and capeval.

    segments.py N SEED [--captions CAPTIONS.txt] > SEGMENTS.jsonl

One object per line: {"id": str, "hyp": str, "refs": [str, ...]}, as expected by the other scripts in this folder.
A third of the segments are mutated real captions (if CAPTIONS.txt is given, one per line), a third are random words
from a small vocabulary with many repetitions, and a third are hostile: punctuation, numbers, contractions, Unicode
from every plane, very long or empty texts.

Surrogates and the characters at which Java ends a line are excluded: one of the latter inside a caption shifts every
later caption of the reference program, so that nothing could be compared. Other tests show that capeval keeps such
captions separate.
"""
import argparse
import json
import random
import sys

BREAKS = set("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0")
WORDS = "a the man dog cat on in of with two street red riding his her standing snow board is are".split()
RARE = ["U.S.", "don't", "can't", "cannot", "gonna", "it's", "dogs'", "o'clock", "rock'n'roll", "St.", "Mr.",
        "e.g.", "p.m.", "3.5", "1/2", "3 1/2", "$5", "£3", "50%", "#1", "@home", "www.a.com", "x@y.org",
        "t-shirt", "black-and-white", "--", "...", "!!!", "?!", ":)", ";-)", "(", ")", "[", "]", "{", "}",
        "\"", "''", "``", "'", "`", "“x”", "‘y’", "«z»", "–", "—", "…", "&amp;", "&", "<b>", "<", ">", "*",
        "1990's", "'90s", "5'10\"", "555-1234", "C++", "AT&T", "and/or", "w/", "café", "naïve", "ｆｕｌｌ",
        "日本語", "中文", "русский", "العربية", "한국어", "😀", "👍🏽", "\u00a0", "\u00ad", "\u200b", "\u3000", "\ufeff",
        "é", "e\u0301", "ß", "İ", "ﬁ", "Ⅷ", "½", "²", "€", "¥", "°", "™"]


def random_character(rng):
    while True:
        plane = rng.choice((0x7F, 0x24F, 0x2FFF, 0xFFFF, 0xFFFF, 0x10FFFF))
        c = chr(rng.randrange(0x20, plane + 1))
        if c not in BREAKS and not 0xD800 <= ord(c) <= 0xDFFF:
            return c


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def hostile(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return ""
    if kind == 1:
        return " ".join(rng.choice(RARE) for _ in range(rng.randrange(1, 12)))
    if kind == 2:
        return "".join(random_character(rng) for _ in range(rng.randrange(1, 40)))
    if kind == 3:
        return words(rng, rng.randrange(60, 200))
    if kind == 4:
        return rng.choice(WORDS)
    if kind == 5:
        return " " * rng.randrange(1, 5) + words(rng, 3) + "  " + words(rng, 3) + " \t"
    if kind == 6:
        return rng.choice(RARE).join(rng.choice(WORDS + RARE) for _ in range(rng.randrange(2, 8)))
    parts = words(rng, 8).split(" ")
    parts[rng.randrange(len(parts))] = rng.choice(RARE)
    return " ".join(parts) + rng.choice((".", "", "!", "?", ",", "'"))


def mutate(rng, text):
    parts = text.split(" ")
    for _ in range(rng.randrange(0, 4)):
        at = rng.randrange(len(parts))
        kind = rng.randrange(5)
        if kind == 0:
            parts.insert(at, rng.choice(WORDS + RARE))
        elif kind == 1 and len(parts) > 1:
            del parts[at]
        elif kind == 2:
            parts[at] = parts[at].upper()
        elif kind == 3:
            parts.insert(at, parts[at])
        else:
            other = rng.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
    return " ".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--captions")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    captions = []
    if args.captions:
        with open(args.captions, encoding="utf-8") as lines:
            captions = [line for line in lines.read().split("\n") if not BREAKS & set(line)]
    for k in range(args.n):
        kind = rng.randrange(3)
        n_refs = rng.choice((1, 1, 2, 3, 5, 5, 7))
        if kind == 0 and captions:
            base = rng.choice(captions)
            texts = [mutate(rng, base if rng.random() < 0.7 else rng.choice(captions)) for _ in range(n_refs + 1)]
        elif kind == 1:
            texts = [words(rng, rng.randrange(0, 14)) for _ in range(n_refs + 1)]
        else:
            texts = [hostile(rng) if rng.random() < 0.6 else words(rng, rng.randrange(0, 14)) for _ in range(n_refs + 1)]
            if rng.random() < 0.2:
                texts[0] = rng.choice(texts[1:])
        json.dump({"id": f"s{k}", "hyp": texts[0], "refs": texts[1:]}, sys.stdout, ensure_ascii=False)
        print()


if __name__ == "__main__":
    main()
