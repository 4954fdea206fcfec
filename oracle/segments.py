"""Make random and hostile segments for the reference programs and capeval.

    run.py segments N SEED [--captions FILE] > SEGMENTS.jsonl

One object per line: {"id": str, "hyp": str, "refs": [str, ...]}. A fifth of the segments are mutated real captions (if
FILE is given, one per line), and a fifth each are random words from a small vocabulary with many repetitions; words of
stems and endings, in lines; tokens and blanks of many scripts, moved about; and hostile text: punctuation, numbers,
contractions, Unicode from every plane, very long or empty texts. Surrogates are excluded.
"""
import json
import random

from shared import lines, options

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


STEMS = """run walk hop fall bowl relat condition valenc hesit digit conform radic differ vile analog vietnam predic
oper feud decis hope call formal sensitiv triplic format elect good reviv allow infer airlin gyroscop adjust defens
irrit replac depend adopt homolog commun activ angular effect bowdler cease rate control roll agre plaster bled motor
conflat troubl siz tann hiss fizz fil happy sky enjoy geo theo archaeo day boy y yy try ski die lie""".split()
ENDINGS = """s es ies ed eed ing ings ational tional enci anci izer bli alli entli eli ousli ization ation ator alism
iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant
ement ment ent ou ism ate iti ous ive ize sion tion e ll y ly fully ally""".split()
IRREGULAR = """men women children feet teeth mice geese better best axes axis went gone was been ate eaten abetted
boxes wolves knives leaves lives ran running swam flown bigger biggest worse dying lying tying news skies yes syzygy
yyy sss eed sion ll aaa bbbb""".split()
TOKENS = """a the dog Dog dogs' dog's runs on grass . , ! (hi) don't 3.5 1,000 3-year-old &amp; &quot;x U.S. It's İstanbul
ΣΑΣ Straße é 两只 狗 。 ， 「x」 ひらがな カタカナ ㈱ \u3f22 \u4dbf 한국어 🐶 \u20000 - -- ... ﬁ a\u0301 ? ; '' `` <skipped> ẞ ǅ
K ſ _ a_b 007""".split() + ["\n-", "\n"]
SPACES = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b"


def inflected(rng):
    """Words of stems and endings, in lines, each of which some programs read as a sentence."""
    kinds = [lambda: rng.choice(WORDS), lambda: rng.choice(STEMS) + rng.choice(ENDINGS), lambda: rng.choice(IRREGULAR),
             lambda: rng.choice(STEMS) + rng.choice(ENDINGS) + rng.choice(ENDINGS), lambda: rng.choice(RARE),
             lambda: "".join(rng.choice("abcdeiosty") for _ in range(rng.randint(1, 8)))]
    some = rng.sample(kinds, rng.randint(1, 4))
    text = ""
    for _ in range(rng.choice((1, 2, 3, 8, 12, 20, 40))):
        text += rng.choice(some)() + (rng.choice((" ", " \n ", "\n\n", ".\n", ", ", " - ", "")) if rng.random() < 0.1 else " ")
    return text.strip(" ")


def scripts(rng):
    """Tokens and blanks of many scripts."""
    some = rng.sample(TOKENS, rng.choice((2, 5, 10, len(TOKENS))))
    blank = lambda: rng.choice((" ", " ", " ", "", rng.choice(SPACES)))
    return "".join(rng.choice(some) + blank() for _ in range(rng.choice((0, 1, 2, 5, 12, 12, 30))))


def moved(rng, text):
    """The text with parts moved, replaced and left out, as shifts and edits want it."""
    words = text.split(" ")
    for _ in range(rng.randint(0, 4)):
        if len(words) > 1:
            i, j, k = sorted(rng.randrange(len(words) + 1) for _ in range(3))
            words = words[:i] + words[j:k] + words[i:j] + words[k:]
        if words and rng.random() < 0.5:
            words[rng.randrange(len(words))] = rng.choice(TOKENS)
        if words and rng.random() < 0.3:
            del words[rng.randrange(len(words))]
    return " ".join(words)


def make(n, seed, captions=None):
    """Segments by their kinds in turn."""
    rng = random.Random(seed)
    real = [line for line in lines(captions) if line] if captions else []
    for k in range(n):
        n_refs = rng.choice((1, 1, 2, 3, 5, 5, 7))
        kind = rng.randrange(5)
        if kind == 0 and real:
            base = rng.choice(real)
            texts = [mutate(rng, base if rng.random() < 0.7 else rng.choice(real)) for _ in range(n_refs + 1)]
        elif kind <= 1:
            texts = [words(rng, rng.randrange(0, 14)) for _ in range(n_refs + 1)]
        elif kind <= 3:
            write = (inflected, scripts)[kind - 2]
            texts = [write(rng)]
            texts += [moved(rng, texts[0]) if rng.random() < 0.6 else write(rng) for _ in range(n_refs)]
        else:
            texts = [hostile(rng) if rng.random() < 0.6 else words(rng, rng.randrange(0, 14)) for _ in range(n_refs + 1)]
            if rng.random() < 0.2:
                texts[0] = rng.choice(texts[1:])
        yield {"id": f"s{k}", "hyp": texts[0], "refs": texts[1:]}


def main(arguments):
    parser = options(__doc__, ("n", {"type": int}), ("seed", {"type": int}), "--captions")
    given = parser.parse_args(arguments)
    for segment in make(given.n, given.seed, given.captions):
        print(json.dumps(segment))
