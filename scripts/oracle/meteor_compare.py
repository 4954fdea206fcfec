#!/usr/bin/env python3
"""Compare capeval's METEOR with meteor-1.5.jar on random and hostile pairs, statistic by statistic.

    meteor_compare.py RESOURCES [--jar JAR] [--pairs N] [--seed S] [--config NAME ...] [--captions FILE ...]

RESOURCES is capeval's compiled resource file. Build the other side first:
    cargo build --release -p capeval-meteor --example meteor_stdio
JAR is the one of the Python package pycocoevalcap 1.2, by default the one of the Python that runs this.
Every configuration gets N pairs in a SCORE line each; both programs' answers, and the scores of an EVAL line
over the first 2,000 of them, are compared (statistics as text, scores as numbers). Captions (one a line, .gz allowed) serve as real text.
Exit status 1 if anything differs.
"""
import argparse
import gzip
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "../../target/release/examples/meteor_stdio")

# Name: options of both programs. `-a` is the jar's: only English has a paraphrase table in the wheel.
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
    if kind < 0.62:
        return " ".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(60, 160)))
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
    for name in arguments.config:
        rng = random.Random(f"{arguments.seed} {name}")
        segments = [segment(rng, captions) for _ in range(arguments.pairs)]
        lines = [" ||| ".join(["SCORE", *parts]) for parts in segments]
        java = ["java", "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", jar, "-", "-", "-stdio", *CONFIGS[name]]
        ours = [OURS, arguments.resources, *CONFIGS[name]]
        theirs, mine = run(java, lines), run(ours, lines)
        differ = [k for k in range(len(lines)) if theirs[k : k + 1] != mine[k : k + 1]]
        good = [line for line in theirs if not line.startswith("Error")][:2000]
        evaluation = ["EVAL ||| " + " ||| ".join(good)]
        scores, my_scores = run(java, evaluation), run(ours, evaluation)
        n_scores = sum(float(a) != float(b) for a, b in zip(scores, my_scores)) + abs(len(scores) - len(my_scores))
        n_pairs = sum(len(parts) - 1 for parts in segments)
        print(f"{name}: {len(lines)} segments, {n_pairs} pairs: {len(differ)} statistics differ; "
              f"{len(scores)} scores: {n_scores} differ", flush=True)
        for k in differ[:5]:
            print(f"  {lines[k]!r}\n    jar  {theirs[k : k + 1]}\n    ours {mine[k : k + 1]}")
        failed |= bool(differ or n_scores)
    sys.exit(failed)


if __name__ == "__main__":
    main()
