#!/usr/bin/env python3
"""Compare capeval's METEOR with meteor-1.5.jar on random and hostile pairs, statistic by statistic.

    meteor_compare.py RESOURCES [--jar JAR] [--ours PROGRAM] [--pairs N] [--seed S] [--config NAME ...] [--captions FILE ...]

RESOURCES is capeval's compiled resource file. Build capeval's side first:
    cargo build --release -p capeval-meteor --example meteor_stdio
JAR is the jar of the Python package pycocoevalcap 1.2, by default as installed for the Python that runs this script.
For each configuration, N segments are sent in SCORE lines, and an EVAL line asks for the scores of all of them. The
answers of both programs are compared: statistics as text, scores by their bits, since the programs may print the same
number differently. A score may differ in its last digit where Java's pow differs from the C library's: for about one
in a thousand arguments, none of which occurs with captions (HotSpot's pow for x86 and Java's own for other processors
differ for 77 in a thousand). Captions (one per line, .gz allowed) serve as real text.
Configurations whose names end in "-table" need paraphrase tables next to the jar, which the published package lacks;
meteor_home.py makes a folder with small ones. Without these tables the configurations are skipped.
The exit status is 1 if anything differs.
"""
import argparse
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "../../target/release/examples/meteor_stdio")

# Name: options of both programs. Only the jar uses `-a`: the wheel has a paraphrase table only for English.
CONFIGS = {
    "en": ["-l", "en", "-norm"],
    "en-adq": ["-l", "en", "-norm", "-t", "adq"],
    "en-hter": ["-l", "en", "-norm", "-t", "hter"],
    "en-li": ["-l", "en", "-norm", "-t", "li"],
    "en-tune": ["-l", "en", "-norm", "-t", "tune"],
    "en-util-ch": ["-l", "en", "-norm", "-t", "util", "-ch"],
    "en-lower": ["-l", "en", "-lower"],
    "en-plain": ["-l", "en"],
    "en-nopunct": ["-l", "en", "-norm", "-noPunct"],
    "en-beam": ["-l", "en", "-norm", "-x", "3"],
    "en-order": ["-l", "en", "-norm", "-m", "paraphrase synonym exact", "-w", "0.5 0.7 1.0"],
    "de": ["-l", "de", "-norm", "-m", "exact stem", "-w", "1.0 0.8"],
    "fr": ["-l", "fr", "-norm", "-m", "exact stem", "-w", "1.0 0.2"],
    "es": ["-l", "es", "-norm", "-m", "exact stem", "-w", "1.0 0.8"],
    "ru": ["-l", "ru", "-norm", "-m", "exact stem", "-w", "1.0 0.5"],
    "cz": ["-l", "cz", "-norm", "-m", "exact", "-w", "1.0"],
    "en-rank": ["-l", "en", "-norm", "-t", "rank"],
    "en-util": ["-l", "en", "-norm", "-t", "util"],
    "en-universal": ["-l", "en", "-norm", "-t", "universal"],
    "en-params": ["-l", "en", "-norm", "-p", "0.5 3.0 0.5 0.6", "-w", "1.0 0.3 0.9 0.1"],
    "de-function": ["-l", "de", "-norm", "-m", "exact stem", "-w", "1.0 0.8", "-s", "german.words"],
    "fr-function": ["-l", "fr", "-norm", "-m", "exact stem", "-w", "1.0 0.2", "-s", "french.words"],
    "de-nopunct": ["-l", "de", "-norm", "-noPunct", "-m", "exact stem", "-w", "1.0 0.8"],
    "fr-nopunct": ["-l", "fr", "-norm", "-noPunct", "-m", "exact stem", "-w", "1.0 0.2"],
    "da-tune": ["-l", "da", "-lower", "-t", "tune"],
    "other-tune": ["-l", "other", "-lower", "-t", "tune"],
    "ar-ch": ["-l", "ar-bw-red", "-ch"],
    "de-table": ["-l", "de", "-norm"],
    "de-li-table": ["-l", "de", "-norm", "-t", "li"],
    "de-tune-table": ["-l", "de", "-norm", "-t", "tune"],
    "de-universal-table": ["-l", "de", "-norm", "-t", "universal"],
    "fr-table": ["-l", "fr", "-norm"],
    "es-table": ["-l", "es", "-norm"],
    "ru-table": ["-l", "ru", "-norm"],
    "cz-table": ["-l", "cz", "-norm"],
    "ar": ["-l", "ar-bw-red"],
    "other": ["-l", "other", "-lower"],
    "da": ["-l", "da", "-lower"],
    "fi": ["-l", "fi", "-lower"],
    "nl": ["-l", "nl", "-lower"],
    "it": ["-l", "it", "-lower"],
    "no": ["-l", "no", "-lower"],
    "pt": ["-l", "pt", "-lower"],
    "ro": ["-l", "ro", "-lower"],
    "hu": ["-l", "hu", "-lower"],
    "se": ["-l", "se", "-lower"],
    "tr": ["-l", "tr", "-lower"],
}

COMMON = """a a a a man men the the of on in in front of next to close to a lot of lots of is are sitting sits standing
stands big large small little dog dogs cat cats habit now shell surge empty staff get low able breathe running
runs ran person people woman women child children two 2 three near by beside with and street road top
""".split()
ODD = """. , ; : ! ? ... .. .... ' '' ` `` " “ ” ‘ ’ - -- – — ( ) [ ] { } / \\ | @ # $ % & * + = < > ~ _ ^
it's don't dogs' 'tis rock'n'roll O'Brien 1990's 5' 3's 's s' well-known U.S.-based -5 a-b-c x--y U.S. u.s. b.c.
e.g. i.e. Mr. mr. Dr. No. no. Art. pp. p. st. Inc. End. end. A.B. .5 5. 3.14 1,000 1,000,000 1,a a,1 a,b,c , ,,
,a b, x.y .x x. ..x x.. a...b DOTMULTI DOTDOTMULTI DOTMULTI. x.DOTMULTI. MULTI naïve café ÄÖÜ ß ẞ ŒŸž İstanbul ǅ ŉ ﬁ
日本 日本語 中文, ΟΔΥΣΣΕΥΣ Σ Α.Σ Привет МИР привет мир Ё Ꙁ ᴀ ᵿ Ⱥ 😀 👍🏽 e\u0301 \u00a0 a\u00a0b \u2003 \u3000 \u200b \u00ad \ufeff \ufffd
\u0085 \u000b \u001f \u007f \u0001 a\u0001 ½ ² ª № ™ can't cannot gonna 've 'll -lrb- -rrb- -LRB- aren ’s 't —
""".split(" ")
ODD = [w for chunk in ODD for w in (chunk.split("\n")) if w]
LANGUAGES = """der die das ein eine Hund Hunde Hunden läuft laufen gelaufen großen Straße Häuser z.B. d.h. Nr. 5 geht's
l'homme d'un qu'il aujourd'hui les chiens chien courent courir M. Mme. p.ex. élève élèves à été c'est jusqu'à
el perro los perros corriendo correr niño niños Sr. Ud. EE.UU. más años собака собаки собакой бежит бегут улица
улице т.е. др. г. pes psi běží ulice domy např. č. hund hundar springer huset koira koirat juoksee talossa hond
honden loopt cane cani corre case cachorro cachorros correndo câine câini kutya kutyák köpek köpekler evlerde
wAlktAb ktAb ktb AlktAb fy wfy $Ahd ms&wl mwAfqp""".split()


def caption_lines(paths):
    lines = []
    for path in paths:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as f:
            lines += [line.strip() for line in f if line.strip()]
    return lines


def number(rng):
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 7)))
    return rng.choice(("", "-", "$", "No. ", "+", ".")) + rng.choice(
        (digits, f"{digits}.{digits}", f"{digits},{digits}", f"{digits}'s", f"{digits}%", f"{digits}-{digits}", f"{digits}."))


def character(rng):
    """Any code point except surrogates; small code points are more frequent."""
    while True:
        code = rng.randrange(1, rng.choice((0x80, 0x250, 0x600, 0x3100, 0x10000, 0x110000)))
        if not 0xD800 <= code < 0xE000:
            return code


def sentence(rng, captions):
    kind = rng.random()
    if captions and kind < 0.35:
        words = rng.choice(captions).split(" ")
        for _ in range(rng.randrange(4)):
            pool = rng.choice((ODD, COMMON))
            words.insert(rng.randrange(len(words) + 1), rng.choice(pool))
        return " ".join(words)
    if kind < 0.40:
        return ""
    if kind < 0.44:
        return " ".join(rng.choice(".,;:!?'\"-()…–—`") for _ in range(rng.randrange(1, 9)))
    if kind < 0.50:
        word = rng.choice(COMMON)
        return " ".join([word] * rng.randrange(1, 14))
    if kind < 0.54:
        return "".join(rng.choice("ab.,'-` 1S“”") for _ in range(rng.randrange(1, 40)))
    pools = [COMMON] * 4 + [ODD] + [LANGUAGES]
    if kind < 0.60:
        pools = [LANGUAGES]
    if kind < 0.63:
        return " ".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(60, 300)))
    if kind < 0.66:
        numbers = [number(rng) for _ in range(rng.randrange(1, 12))]
        return " ".join(rng.choice(COMMON) if rng.random() < 0.3 else word for word in numbers)
    if kind < 0.68:
        return "".join(chr(character(rng)) for _ in range(rng.randrange(1, 30)))
    if kind < 0.75:
        few = [rng.choice(COMMON) for _ in range(rng.randrange(2, 7))]
        return " ".join(rng.choice(few) for _ in range(rng.randrange(1, 30)))
    space = " " if rng.random() < 0.9 else rng.choice(["  ", "\t", " \u00a0 "])
    return space.join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(1, 25)))


def segment(rng, captions):
    hypothesis = sentence(rng, captions)
    references = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.random()
        words = hypothesis.split(" ")
        if kind < 0.3:
            rng.shuffle(words)
            references.append(" ".join(words[: rng.randrange(len(words) + 1)]))
        elif kind < 0.4:
            references.append(" ".join(w for w in words if rng.random() < 0.8))
        elif kind < 0.43:
            references.append(hypothesis)
        else:
            references.append(sentence(rng, captions))
    clean = lambda text: text.replace("|", "/").replace("\n", " ").replace("\r", " ")
    return [clean(text) for text in [*references, hypothesis]]


def unpacked(options, jar, folder):
    """The options, with the function words of `-s` in a separate file."""
    if "-s" in options:
        at = options.index("-s") + 1
        file = os.path.join(folder, options[at])
        with open(file, "wb") as out:
            out.write(zipfile.ZipFile(jar).read(f"function/{options[at]}"))
        return [*options[:at], file, *options[at + 1 :]]
    return options


def run(command, lines):
    with tempfile.TemporaryFile() as f:
        f.write("".join(line + "\n" for line in lines).encode("utf-8"))
        f.seek(0)
        done = subprocess.run(command, stdin=f, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode("utf-8").split("\n")[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("resources")
    parser.add_argument("--jar")
    parser.add_argument("--ours", default=OURS, help="path of capeval's program, if it is elsewhere")
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", nargs="*", default=list(CONFIGS))
    parser.add_argument("--captions", nargs="*", default=[])
    arguments = parser.parse_args()
    jar = arguments.jar
    if jar is None:
        import pycocoevalcap.meteor
        jar = os.path.join(next(iter(pycocoevalcap.meteor.__path__)), "meteor-1.5.jar")
    captions = caption_lines(arguments.captions)
    failed = False
    folder = tempfile.TemporaryDirectory()
    for name in arguments.config:
        table = f"data/paraphrase-{CONFIGS[name][1]}.gz"
        if name.endswith("-table") and not os.path.exists(os.path.join(os.path.dirname(jar), table)):
            print(f"{name}: skipped, {table} is not next to the jar", flush=True)
            continue
        rng = random.Random(f"{arguments.seed} {name}")
        segments = [segment(rng, captions) for _ in range(arguments.pairs)]
        options = unpacked(CONFIGS[name], jar, folder.name)
        lines = [" ||| ".join(["SCORE", *parts]) for parts in segments]
        java = ["java", "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", jar, "-", "-", "-stdio", *options]
        ours = [arguments.ours, arguments.resources, *options]
        theirs, mine = run(java, lines), run(ours, lines)
        differ = [k for k in range(len(lines)) if theirs[k : k + 1] != mine[k : k + 1]]
        good = [line for line in theirs if not line.startswith("Error")]
        evaluation = ["EVAL ||| " + " ||| ".join(good)]
        scores, my_scores = run(java, evaluation), run(ours, evaluation)
        bits = lambda text: struct.pack("<d", float(text))
        worst = max((abs(float(a) - float(b)) / max(abs(float(a)), 1e-300) for a, b in zip(scores, my_scores) if a != b), default=0)
        n_scores = sum(bits(a) != bits(b) for a, b in zip(scores, my_scores)) + abs(len(scores) - len(my_scores))
        powers = n_scores <= len(scores) / 500 and worst < 5e-16
        n_pairs = sum(len(parts) - 1 for parts in segments)
        print(f"{name}: {len(lines)} segments, {n_pairs} pairs: {len(differ)} statistics differ; "
              f"{len(scores)} scores: {n_scores} differ, by at most {worst:.1e}", flush=True)
        for k in differ[:5]:
            print(f"  {lines[k]!r}\n    jar  {theirs[k : k + 1]}\n    ours {mine[k : k + 1]}")
        failed |= bool(differ) or not powers
    sys.exit(failed)


if __name__ == "__main__":
    main()
