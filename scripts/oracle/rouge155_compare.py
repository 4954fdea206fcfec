"""Compare capeval's ROUGE-1.5.5 with the Perl script, on real and hostile text.

Needs Perl with XML::DOM and DB_File, a folder with ROUGE-1.5.5.pl and its data, and cargo. The Perl script is
slow, so its scores are computed once per setting and saved. From the project root:

    python scripts/oracle/rouge155_compare.py generate --n 20000 --seed 1 segments.jsonl
    python scripts/oracle/rouge155_compare.py perl --script ROUGE-1.5.5.pl --data data segments.jsonl scores.json -- -n 4 -m
    python scripts/oracle/rouge155_compare.py compare segments.jsonl scores.json --spec rouge155:stem=porter

Segments are JSON Lines, `{"id": …, "hyp": …, "refs": [...]}`; a line break in a text starts a new sentence.
`perl` writes `{"options": …, "segment": {"ROUGE-1.R": [...]}, "corpus": {…}, "interval": {…}}`. For each number of
the Perl script, `compare` prints how many segments differ; the exit status is 1 if any does.
"""

import argparse
import gzip
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

STEMS = """run walk hop fall bowl relat condition valenc hesit digit conform radic differ vile analog vietnam predic
oper feud decis hope call formal sensitiv triplic format elect good reviv allow infer airlin gyroscop adjust defens
irrit replac depend adopt homolog commun activ angular effect bowdler cease rate control roll agre plaster bled motor
conflat troubl siz tann hiss fizz fil happy sky enjoy geo theo archaeo day boy y yy try ski die lie""".split()
ENDINGS = """s es ies ed eed ing ings ational tional enci anci izer bli alli entli eli ousli ization ation ator alism
iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant
ement ment ent ou ism ate iti ous ive ize sion tion e ll y ly fully ally""".split()
IRREGULAR = """men women children feet teeth mice geese better best axes axis went gone was been ate eaten abetted abhorring
boxes wolves knives leaves lives ran running swam flown bigger biggest worse dying lying tying news skies""".split()
COMMON = "a the of in on and is with dog cat man woman the the a riding street two standing".split()
HOSTILE = [
    "-", "--", "well-known", "3-year-old", "$5", "$", "don't", "U.S.", "a.m.", "1,000", "3.5", "É", "éa", "naïve", "你好",
    "K", "İ", "ſ", "_", "a_b", "&amp;", "<b>", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "x\xa0y",
    "yes", "syzygy", "yyy", "0", "007", "s", "ss", "sss", "eed", "ing", "ies", "ion", "sion", "ll", "aaa", "bbbb",
]


def segments(n, seed, captions):
    """Segments of many kinds, of one to forty words in one to five lines, with one to five references."""
    rng = random.Random(seed)
    pools = [
        lambda: rng.choice(COMMON),
        lambda: rng.choice(COMMON),
        lambda: rng.choice(STEMS) + rng.choice(ENDINGS),
        lambda: rng.choice(STEMS) + rng.choice(ENDINGS) + rng.choice(ENDINGS),
        lambda: rng.choice(IRREGULAR),
        lambda: rng.choice(HOSTILE),
        lambda: "".join(rng.choice("abcdeiosty") for _ in range(rng.randint(1, 8))),
        lambda: rng.choice("abc"),
    ]

    def words(kinds, n):
        return [rng.choice(kinds)() for _ in range(n)]

    def mutate(tokens, kinds):
        tokens = list(tokens)
        for _ in range(rng.randint(0, 1 + len(tokens) // 2)):
            at = rng.randint(0, len(tokens))
            what = rng.randrange(4)
            if what == 0:
                tokens.insert(at, rng.choice(kinds)())
            elif what == 1 and tokens:
                tokens.pop(min(at, len(tokens) - 1))
            elif what == 2 and tokens:
                tokens.append(tokens.pop(min(at, len(tokens) - 1)))
            elif tokens:
                tokens[min(at, len(tokens) - 1)] = rng.choice(kinds)()
        return tokens

    def lay_out(tokens, n_breaks):
        text = ""
        for k, token in enumerate(tokens):
            gap = " " if rng.random() < 0.95 else rng.choice(["  ", "\t", ", ", " - ", ""])
            if n_breaks and rng.random() < n_breaks / (len(tokens) + 1):
                gap = rng.choice(["\n", "\n", " \n ", "\n\n", ".\n", "\n.\n"])
            text += (gap if k else "") + (token.upper() if rng.random() < 0.05 else token)
        return text

    for k in range(n):
        if captions and k % 5 == 0:
            own = rng.choice(captions)
            hyp, refs = rng.choice(rng.choice(captions)) if k % 2 else rng.choice(own), list(own)
        else:
            kinds = rng.sample(pools, rng.randint(1, 4))
            base = words(kinds, rng.choice([1, 2, 3, 8, 12, 20, 40]))
            n_breaks = rng.choice([0, 0, 1, 2, 4])
            hyp = lay_out(mutate(base, kinds), n_breaks)
            refs = [lay_out(mutate(base, kinds), n_breaks) for _ in range(rng.randint(1, 5))]
            if rng.random() < 0.02:
                hyp = rng.choice(["", " ", "-", "...", "\n"])
        # The script fails on an empty model when it weights subsequences.
        refs = [r if re.search("[A-Za-z0-9]{2}", r) else r + " zebra" for r in refs]
        yield {"id": str(k), "hyp": hyp, "refs": refs}


def generate(args):
    captions = []
    if args.captions:
        with gzip.open(args.captions, "rt", encoding="utf-8") as file:
            by_image = {}
            for a in json.load(file)["annotations"]:
                by_image.setdefault(a["image_id"], []).append(a["caption"])
            captions = list(by_image.values())
    with open(args.segments, "w", encoding="utf-8") as file:
        for segment in segments(args.n, args.seed, captions):
            file.write(json.dumps(segment) + "\n")


def read_segments(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def perl(args):
    out = {"options": args.options, "segment": {}, "corpus": {}, "interval": {}}
    every = read_segments(args.segments)
    batch = args.batch or len(every)
    for start in range(0, len(every), batch):
        part = every[start : start + batch]
        with tempfile.TemporaryDirectory() as folder:

            def write(name, text):
                with open(f"{folder}/{name}", "wb") as file:
                    file.write(text.encode() + b"\n")

            xml = ['<ROUGE_EVAL version="1.5.5">']
            for k, segment in enumerate(part):
                write(f"h{k}.txt", segment["hyp"])
                for r, text in enumerate(segment["refs"]):
                    write(f"r{k}.{r}.txt", text)
                models = "".join(f'<M ID="{r}">r{k}.{r}.txt</M>' for r in range(len(segment["refs"])))
                xml.append(
                    f'<EVAL ID="{k}"><PEER-ROOT>{folder}</PEER-ROOT><MODEL-ROOT>{folder}</MODEL-ROOT>'
                    f'<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT><PEERS><P ID="s">h{k}.txt</P></PEERS>'
                    f"<MODELS>{models}</MODELS></EVAL>"
                )
            xml.append("</ROUGE_EVAL>")
            conf = f"{folder}/conf.xml"
            pathlib.Path(conf).write_text("\n".join(xml))
            command = ["perl", args.script, "-e", args.data, "-a", "-d", *args.options, conf]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode:
                sys.exit(run.stderr[-2000:])
            number = r"(-?[\d.]+)"
            for kind, measure, value, low, high in re.findall(
                rf"^s (ROUGE-\S+) Average_([RPF]): {number} \(.*?%-conf.int. {number} - {number}\)", run.stdout, re.M
            ):
                if batch == len(every):
                    out["corpus"][f"{kind}.{measure}"] = float(value)
                    out["interval"][f"{kind}.{measure}"] = [float(low), float(high)]
            for kind, k, *values in re.findall(
                rf"^s (ROUGE-\S+) Eval (\d+)\.s R:{number} P:{number} F:{number}", run.stdout, re.M
            ):
                for measure, value in zip("RPF", values):
                    column = out["segment"].setdefault(f"{kind}.{measure}", [None] * len(every))
                    column[start + int(k)] = float(value)
        print(f"{start + len(part)} of {len(every)}", file=sys.stderr, flush=True)
    with open(args.scores, "w") as file:
        json.dump(out, file)


def key_of(name, prefix):
    """The key of capeval for a name such as `ROUGE-S*.F`."""
    kind, measure = name.removeprefix("ROUGE-").rsplit(".", 1)
    kind = kind.replace("W-", "w").replace("*", "-unlimited").lower()
    return f"{prefix}-{kind}-{measure.lower()}"


def compare(args):
    with open(args.scores) as file:
        theirs = json.load(file)
    lists = [part for path in args.exc for part in ("--exc", path)] + (["--stop", args.stop] if args.stop else [])
    command = ["cargo", "run", "-q", "--release", "-p", "capeval-evaluate", "--example", "segments", "--", args.spec, *lists]
    with open(args.segments, "rb") as file:
        run = subprocess.run(command, stdin=file, check=True, stdout=subprocess.PIPE)
    ours = json.loads(run.stdout)
    prefix = "rouge155-stem" if re.search("stem=porter", args.spec) else "rouge155"
    different = total = 0
    segments = read_segments(args.segments)
    for name, values in theirs["segment"].items():
        key = key_of(name, prefix)
        mine = ours["segment"][key]
        wrong = [k for k, (a, b) in enumerate(zip(mine, values)) if f"{a:.5f}" != f"{b:.5f}"]
        corpus = ""
        if name in theirs["corpus"] and "average=resampled" in args.spec:
            a, b = ours["corpus"][key], theirs["corpus"][name]
            corpus = f"; average {a:.5f} against {b:.5f}"
            different += f"{a:.5f}" != f"{b:.5f}"
        print(f"{name}: {len(wrong)} of {len(values)} differ{corpus}")
        total += len(values)
        different += len(wrong)
        for k in wrong[: args.show]:
            print(f"    segment {k}: {mine[k]} against {values[k]}: {segments[k]}")
    print(f"{different} of {total} differ")
    sys.exit(different > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("generate")
    command.add_argument("segments")
    command.add_argument("--n", type=int, default=20_000)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--captions", help="captions_val2014.json.gz, to include real captions")
    command.set_defaults(run=generate)
    command = commands.add_parser("perl")
    command.add_argument("segments")
    command.add_argument("scores")
    command.add_argument("--script", required=True)
    command.add_argument("--data", required=True)
    command.add_argument("--batch", type=int, help="segments per call of the script; omits the averages")
    command.add_argument("options", nargs="*")
    command.set_defaults(run=perl)
    command = commands.add_parser("compare")
    command.add_argument("segments")
    command.add_argument("scores")
    command.add_argument("--spec", required=True)
    command.add_argument("--show", type=int, default=2)
    command.add_argument("--stop", help="smart_common_words.txt, for stop=yes")
    command.add_argument("--exc", nargs="+", default=[], help="WordNet's exception lists, for stem=porter-exceptions")
    command.set_defaults(run=compare)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
