"""Compare capeval's METEOR with meteor-1.5.jar, statistic by statistic, and write what the jar makes of quirks.

    run.py meteor compare RESOURCES [--pairs N] [--seed S] [--config NAME ...] [--captions FILE ...]
    run.py meteor examples RESOURCES EXAMPLE
    run.py meteor quirks
    run.py meteor home FOLDER

Each takes `--jar JAR`, by default that of the Python package pycocoevalcap 1.2, and needs Java. RESOURCES is capeval's
compiled file, `$(capeval data path)/meteor-1.5.bin`.

`compare` sends N random and hostile segments in SCORE lines for each configuration, and asks for the scores of all of
them with an EVAL line; statistics are compared as text, scores by their bits. A score may differ in its last digit
where Java's pow differs from the C library's: for about one in a thousand arguments, none of which occurs with captions
(HotSpot's pow for x86 and Java's own for other processors differ for 77 in a thousand). Captions (one per line) serve as
real text. Configurations whose names end in "-table" need paraphrase tables next to the jar, which the published package
lacks; without them they are skipped.

`home` makes a folder with the jar, the English paraphrases, and small tables for other languages, made up from the words
below. To use it with both programs: `capeval data install meteor --from FOLDER`, and `compare` with `--jar
FOLDER/meteor-1.5.jar --config de-table fr-table`.

`examples` scores the folder `example` of the METEOR repository (cmu-mtlab/meteor on GitHub): test.sgm and ref.sgm of
newstest2009 with the published scores, and two systems of WMT 2010 in xray/. Every segment score and the corpus score are
compared bit by bit with the jar's, and the corpus scores with the published 0.299148440516935 (newstest2009, file
meteor-sys.scr) and 0.3204832379614146 (xray/system1, in METEOR's README). The published segment scores were printed by a
Java version of 2014, which sometimes gives another last digit; what differs from them is printed for both programs.

`quirks` writes the last two columns of crates/meteor/tests/tiny/quirks.tsv: the jar's statistics, and the score. The jar
is run with the made-up word lists and tables of that folder (-d, -a, -s), since its own are too large to demonstrate the
quirks. The columns before: name of the test, options, hypothesis, references separated by |||.
"""
import gzip
import os
import random
import re
import shutil
import struct
import tempfile
import zipfile
from pathlib import Path

from shared import ROOT, built, lines, meteor_jar, options, output

TINY = ROOT / "crates/meteor/tests/tiny"
PUBLISHED = {"newstest2009": "0.299148440516935", "system1": "0.3204832379614146"}

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


def unpacked(settings, jar, folder):
    """The options, with the function words of `-s` in a separate file."""
    if "-s" in settings:
        at = settings.index("-s") + 1
        file = Path(folder, settings[at])
        file.write_bytes(zipfile.ZipFile(jar).read(f"function/{settings[at]}"))
        return [*settings[:at], file, *settings[at + 1 :]]
    return settings


def ask(command, some):
    """The answers of a program that is asked line by line."""
    return output(command, "".join(line + "\n" for line in some)).split("\n")[:-1]


def java(jar, *settings):
    return ["java", "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", jar, *settings]


def compare(given):
    captions = [line.strip() for path in given.captions for line in lines(path) if line.strip()]
    ours, failed = built("capeval-meteor", "meteor_stdio"), False
    folder = tempfile.TemporaryDirectory()
    for name in given.config:
        table = f"data/paraphrase-{CONFIGS[name][1]}.gz"
        if name.endswith("-table") and not (given.jar.parent / table).exists():
            print(f"{name}: skipped, {table} is not next to the jar", flush=True)
            continue
        rng = random.Random(f"{given.seed} {name}")
        segments = [segment(rng, captions) for _ in range(given.pairs)]
        settings = unpacked(CONFIGS[name], given.jar, folder.name)
        asked = [" ||| ".join(["SCORE", *parts]) for parts in segments]
        programs = java(given.jar, "-", "-", "-stdio", *settings), [ours, given.resources, *settings]
        theirs, mine = (ask(program, asked) for program in programs)
        differ = [k for k in range(len(asked)) if theirs[k : k + 1] != mine[k : k + 1]]
        good = [line for line in theirs if not line.startswith("Error")]
        scores, my_scores = (ask(program, ["EVAL ||| " + " ||| ".join(good)]) for program in programs)
        bits = lambda text: struct.pack("<d", float(text))
        gaps = [abs(float(a) - float(b)) / max(abs(float(a)), 1e-300) for a, b in zip(scores, my_scores) if a != b]
        n_scores = sum(bits(a) != bits(b) for a, b in zip(scores, my_scores)) + abs(len(scores) - len(my_scores))
        n_pairs = sum(len(parts) - 1 for parts in segments)
        print(f"{name}: {len(asked)} segments, {n_pairs} pairs: {len(differ)} statistics differ; "
              f"{len(scores)} scores: {n_scores} differ, by at most {max(gaps, default=0):.1e}", flush=True)
        for k in differ[:5]:
            print(f"  {asked[k]!r}\n    jar  {theirs[k : k + 1]}\n    ours {mine[k : k + 1]}")
        failed |= bool(differ) or n_scores > len(scores) / 500 or max(gaps, default=0) >= 5e-16
    return int(failed)


def table(rng):
    """Entries of random phrases, with ascending sources and ascending targets within each source."""
    words = sorted(set(word.lower() for word in LANGUAGES + COMMON if word.isalpha()))
    phrase = lambda longest: " ".join(rng.choice(words) for _ in range(rng.randrange(1, longest)))
    sources = sorted({phrase(4) for _ in range(600)} | set(words))
    for source in sources:
        targets = {rng.choice(words) if rng.random() < 0.6 else phrase(5) for _ in range(rng.randrange(1, 25))}
        for target in sorted(targets - {source}):
            yield f"{rng.random():.4f}\n{source}\n{target}\n"


def home(given):
    data = Path(given.folder, "data")
    data.mkdir(parents=True, exist_ok=True)
    shutil.copy(given.jar, Path(given.folder, "meteor-1.5.jar"))
    shutil.copy(given.jar.parent / "data/paraphrase-en.gz", data)
    for language in ("cz", "de", "es", "fr", "ru"):
        with gzip.open(data / f"paraphrase-{language}.gz", "wt", encoding="utf-8") as out:
            out.writelines(table(random.Random(language)))


def of_sgml(path):
    """Text by document and segment of a file in NIST's SGML with one segment per line, in order."""
    found, document = {}, None
    for line in lines(path):
        if match := re.search(r'docid="([^"]+)"', line):
            document = match.group(1)
        if match := re.search(r"<seg id=\"?([^\">]+?)\"?>(.*)</seg>", line):
            found[document, match.group(1)] = match.group(2).strip()
    return found


def examples(given):
    file = lambda name: Path(given.example, name).resolve()
    settings = ["-l", "en", "-norm"]
    failed = False

    def scores(pairs):
        command = [built("capeval-meteor", "meteor_stdio"), given.resources, *settings]
        statistics = ask(command, [f"SCORE ||| {reference} ||| {hypothesis}" for hypothesis, reference in pairs])
        return ask(command, ["EVAL ||| " + " ||| ".join(statistics)])

    def told(name, mine, theirs):
        nonlocal failed
        differ = sum(float(a) != float(b) for a, b in zip(mine, theirs)) + abs(len(mine) - len(theirs))
        published = PUBLISHED.get(name)
        print(f"{name}: {differ} of {len(theirs) - 1} segments and the corpus differ from the jar; ours {mine[-1]}, the jar's "
              f"{theirs[-1]}" + (f", published {published}" if published else ""))
        failed |= differ > 0 or (published is not None and float(mine[-1]) != float(published))

    tests, references = of_sgml(file("test.sgm")), of_sgml(file("ref.sgm"))
    mine = scores([(tests[key], references[key]) for key in tests])
    read = lambda path: {tuple(row[2:-1]): row[-1] for row in (line.split() for line in lines(path))}
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "jar")
        output(java(given.jar, file("test.sgm"), file("ref.sgm"), "-sgml", "-f", prefix, *settings))
        theirs, system = read(f"{prefix}-seg.scr"), read(f"{prefix}-sys.scr")
    told("newstest2009", mine, [theirs[key] for key in tests] + list(system.values()))
    published = read(file("meteor-seg.scr"))
    for name, values in (("ours", mine), ("the jar's", [theirs[key] for key in tests])):
        pairs = [(float(a), float(published[key])) for key, a in zip(tests, values)]
        gaps = [abs(a - b) / b for a, b in pairs if a != b]
        print(f"newstest2009: {len(gaps)} of {len(published)} published segment scores differ from {name}, "
              f"by at most {max(gaps, default=0.0):.1e}")
    for system in ("system1", "system2"):
        hypotheses, references = file(f"xray/{system}.hyp"), file("xray/reference")
        mine = scores([(a.strip(), b.strip()) for a, b in zip(lines(hypotheses), lines(references))])
        said = output(java(given.jar, hypotheses, references, *settings))
        told(system, mine, re.findall(r"^(?:Segment \d+|Final) score:\s+(\S+)", said, re.MULTILINE))
    return int(failed)


def quirks(given):
    cases = TINY / "quirks.tsv"
    rows = [line.split("\t") for line in lines(cases) if line]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("english.synsets", "english.exceptions"):
            shutil.copy(TINY / name, folder)
        Path(folder, "english.relations").touch()
        table = Path(folder, "paraphrases.gz")
        table.write_bytes(gzip.compress((TINY / "paraphrase-en").read_bytes()))
        for row in rows:
            name, settings, hypothesis, references = row[:4]
            # Two spaces separate options, so that a single space can be part of one.
            settings = settings.split("  ")
            words = [] if "de" in settings else ["-s", TINY / "english.words"]
            command = java(given.jar, "-", "-", "-stdio", *settings, "-d", folder, "-a", table, *words)
            statistics = ask(command, [f"SCORE ||| {references} ||| {hypothesis}"])[0]
            row[4:] = [statistics, ask(command, [f"EVAL ||| {statistics}"])[0]]
            print(name, *row[4:])
    cases.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def main(arguments):
    parser = options(__doc__)
    commands = parser.add_subparsers(required=True)
    for run, names in ((compare, ["resources"]), (examples, ["resources", "example"]), (quirks, []), (home, ["folder"])):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("--jar", type=Path)
        for name in names:
            command.add_argument(name)
        if run is compare:
            command.add_argument("--pairs", type=int, default=20_000)
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--config", nargs="*", default=list(CONFIGS))
            command.add_argument("--captions", nargs="*", default=[])
    given = parser.parse_args(arguments)
    given.jar = meteor_jar(given.jar)
    return given.run(given)
