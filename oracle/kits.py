"""Run the program of each kit on its sample in testdata/kits, and write the values to testdata/kits/golden.json.

    run.py kits CLONES [NAME ...]

CLONES is a folder with clones, each under the name of its repository, at the commits that the kits name: vizwiz-caption,
R2Gen, Change-Agent, DCC, RobustChangeCaptioning, VLMEvalKit, lmms-eval, recurrent-transformer, clef-caption-evaluation-2026,
vist_eval, wts-dataset and big_vision. Needs Python 3.11 (for lib2to3), Java, pycocoevalcap, SPICE in SPICE_HOME, nltk 3.10,
scikit-learn and rouge-score. Groups of images are named behind an @: the program runs on each group as it does itself. The
programs themselves run: those for Python 2 are turned into Python 3, what they import beside scorers is replaced by
nothing, and SPICE runs as in the oracle `scores`. Where a field has no program of its own, pycocoevalcap's evaluation runs.
"""

import ast
import csv
import importlib
import json
import os
import re
import shutil
import string
import subprocess
import sys
import tempfile
import types
from pathlib import Path

from shared import TESTDATA, options

FOLDER = TESTDATA / "kits"
KEYS = {
    "Bleu_1": "bleu-1", "Bleu_2": "bleu-2", "Bleu_3": "bleu-3", "Bleu_4": "bleu-4",
    "METEOR": "meteor", "ROUGE_L": "rouge-l", "CIDEr": "cider-d", "SPICE": "spice",
}  # fmt: skip


def read(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def stub(*names):
    """Modules that a program imports and that scoring does not use."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = []
        module.__getattr__ = lambda attribute: type(attribute, (), {})
        sys.modules[name] = module


def only(path, *names):
    """The named functions, classes and values of a file, without what it imports."""
    name = lambda node: getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else getattr(node, "name", "")
    body = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if name(node) in names]
    module = types.ModuleType(path.stem)
    module.__dict__.update({"re": re, "string": string, "json": json})
    exec(compile(ast.Module(body, []), str(path), "exec"), module.__dict__)  # noqa: S102
    return module


def in_python_3(folder):
    """Turns the programs in a folder into Python 3, in place."""
    from lib2to3.refactor import RefactoringTool, get_fixers_from_package

    tool = RefactoringTool(get_fixers_from_package("lib2to3.fixes"))
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8").replace("from sets import Set", "Set = set") + "\n"
        text = str(tool.refactor_string(text.expandtabs(4), str(path)))
        # Programs that they start read and write text now.
        path.write_text(text.replace("stderr=subprocess.PIPE)", "stderr=subprocess.PIPE, universal_newlines=True, bufsize=1)"))


class Spice:
    """SPICE 1.0 in SPICE_HOME, in place of a program's copy, whose Java is too old."""

    def method(self):
        return "SPICE"

    def compute_score(self, gts, res):
        home = os.environ["SPICE_HOME"]
        with tempfile.TemporaryDirectory() as folder:
            given, found = f"{folder}/in.json", f"{folder}/out.json"
            images = [{"image_id": k, "test": res[i][0], "refs": gts[i]} for k, i in enumerate(gts)]
            Path(given).write_text(json.dumps(images))
            classes = f"{home}/spice-1.0.jar:{home}/lib/*"
            command = ["java", "-Xmx4G", "-cp", classes, "edu.anu.spice.SpiceScorer", given, "-out", found, "-subset", "-silent"]
            subprocess.run(command, cwd=home, check=True, capture_output=True)
            scores = [row["scores"]["All"]["f"] for row in json.loads(Path(found).read_text())]
        return sum(scores) / len(scores), scores


def captions_of(references, results):
    """Dictionaries of texts by id, as pycocoevalcap's scorers take them."""
    listed = lambda value: value if isinstance(value, list) else [value]
    return {i: listed(references[i]) for i in results}, {i: listed(results[i]) for i in results}


def coco_of(references, results):
    """The same in the form before the tokenizer."""
    gts, res = captions_of(references, results)
    return [{i: [{"caption": one} for one in all] for i, all in side.items()} for side in (gts, res)]


def by_image(file):
    """The references of a file of COCO's form."""
    found = {}
    for annotation in read(file)["annotations"]:
        found.setdefault(annotation["image_id"], []).append(annotation["caption"])
    return found


def pycocoevalcap(references, results):
    """pycocoevalcap's evaluation."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    gts, res = (PTBTokenizer().tokenize(side) for side in coco_of(references, results))
    found = dict(zip(["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"], Bleu(4).compute_score(gts, res)[0]))
    for name, scorer in [("METEOR", Meteor()), ("ROUGE_L", Rouge()), ("CIDEr", Cider()), ("SPICE", Spice())]:
        found[name] = scorer.compute_score(gts, res)[0]
    return found


def results(file):
    return {result["image_id"]: result["caption"] for result in read(file)}


def vizwiz(clones):
    sys.path.insert(0, str(clones / "vizwiz-caption"))
    stub("skimage", "skimage.io", "matplotlib", "matplotlib.pyplot", "matplotlib.collections", "matplotlib.patches")
    from vizwiz_api.vizwiz import VizWiz
    from vizwiz_eval_cap import eval as program

    program.Spice = Spice
    truth = VizWiz(str(FOLDER / "vizwiz.json"))
    evaluation = program.VizWizEvalCap(truth, truth.loadRes(str(FOLDER / "vizwiz-results.json")))
    evaluation.evaluate()
    return evaluation.eval


def in_groups(found, groups):
    """Values with those of groups."""
    return {**found, **{f"{KEYS.get(key, key)}@{name}": value for name, of in groups.items() for key, value in of.items()}}


def nocaps(_):
    """Each domain is a file of its own, as groups in the field score it."""
    references, res = by_image("nocaps.json"), results("nocaps-results.json")
    domains = {}
    for image in read("nocaps.json")["images"]:
        domains.setdefault(image["domain"], []).append(image["id"])
    of = {name: pycocoevalcap(references, {i: res[i] for i in ids if i in res}) for name, ids in domains.items()}
    return in_groups(pycocoevalcap(references, res), of)


def textcaps(_):
    references = {record["image_id"]: record["reference_strs"] for record in read("textcaps.json")["data"]}
    return pycocoevalcap(references, results("textcaps-results.json"))


def rsicd(_):
    images = read("rsicd.json")["images"]
    references = {image["filename"]: [sentence["raw"] for sentence in image["sentences"]] for image in images}
    found = pycocoevalcap(references, {result["filename"]: result["caption"] for result in read("rsicd-results.json")})
    four = [found[name] for name in ("Bleu_4", "METEOR", "ROUGE_L", "CIDEr")]
    return {**found, "sm-star": sum(four) / 4, "sm": (sum(four) + found["SPICE"]) / 5}


def spot_the_diff(_):
    return pycocoevalcap(by_image("spot-the-diff.json"), results("spot-the-diff-results.json"))


def clevr_change(clones):
    program = only(clones / "RobustChangeCaptioning/utils/eval_utils.py", "score_generation", "score_generation_by_type")
    import copy

    import pycocoevalcap.eval
    from pycocotools.coco import COCO

    pycocoevalcap.eval.Spice = Spice
    program.__dict__.update({"COCO": COCO, "COCOEvalCap": pycocoevalcap.eval.COCOEvalCap, "copy": copy})
    files = [str(FOLDER / name) for name in ("clevr-change.json", "clevr-change-results.json")]
    return in_groups(program.score_generation(*files), program.score_generation_by_type(*files, str(FOLDER / "clevr-change-types.json")))


def lmms_eval(clones):
    stub("lmms_eval", "lmms_eval.tasks", "lmms_eval.tasks._task_utils", "lmms_eval.tasks._task_utils.file_utils")
    stub("loguru", "requests", "PIL")
    sys.modules["loguru"].logger = types.SimpleNamespace(info=lambda *_: None)
    sys.modules["lmms_eval.tasks._task_utils.file_utils"].generate_submission_file = lambda *_: "/dev/null"
    sys.path.insert(0, str(clones / "lmms-eval/lmms_eval/tasks/coco_cap"))
    program = importlib.import_module("utils")
    references = by_image("coco.json")
    documents = [{"answer": references[i], "pred": c, "image_id": i} for i, c in results("coco-results.json").items()]
    return {metric: program.coco_aggregation_result(documents, metric, None) for metric in program.COCO_METRICS}


def vlmevalkit(clones):
    program = only(clones / "VLMEvalKit/vlmeval/dataset/image_caption.py", "COCO_Caption_Scorer")
    # As `ImageCaptionDataset.evaluate` reads its table.
    with open(FOLDER / "vlmevalkit.tsv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    ref = {str(i): [line["prediction"]] for i, line in enumerate(lines)}
    gt = {str(i): ast.literal_eval(line["answer"]) for i, line in enumerate(lines)}
    found = program.COCO_Caption_Scorer(ref, gt).compute_scores()
    found = {**dict(zip(["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"], found.pop("Bleu"))), **found}
    # It multiplies by 100, as the kit prints.
    return {name: value / 100 for name, value in found.items()}


def r2gen(clones):
    sys.path.insert(0, str(clones / "R2Gen"))
    from modules.metrics import compute_scores

    lines = lambda name: [row[0] for row in csv.reader((FOLDER / name).open(encoding="utf-8"))]
    gts, res = ({i: [report] for i, report in enumerate(lines(name))} for name in ("r2gen-gts.csv", "r2gen-res.csv"))
    return {name.replace("BLEU", "Bleu"): value for name, value in compute_scores(gts, res).items()}


def paligemma(clones):
    """CIDEr of PaliGemma's evaluator, from captions by id."""
    source = clones / "big_vision/big_vision/evaluators/proj/paligemma/transfers/coco_caption.py"
    program = only(source, "Evaluator")
    import collections
    import functools

    from pycocoevalcap.bleu import bleu
    from pycocoevalcap.cider import cider
    from pycocoevalcap.meteor import meteor
    from pycocoevalcap.rouge import rouge
    from pycocoevalcap.spice import spice
    from pycocoevalcap.tokenizer import ptbtokenizer

    program.__dict__.update(locals())
    evaluator = object.__new__(program.Evaluator)
    evaluator.metrics = ("cider",)

    def score(references, results):
        gts = [{"image_id": i, "caption": one} for i, all in references.items() for one in all]
        res = [{"image_id": i, "caption": results[i]} for i in references]
        return evaluator.evaluate(gts, res)["cider"]

    return score


def cider_of(words):
    """CIDEr of pycocoevalcap, from captions by id whose words a function separates by spaces."""
    from pycocoevalcap.cider.cider import Cider

    def score(references, results):
        gts = {i: [words(one) for one in all] for i, all in references.items()}
        return Cider().compute_score(gts, {i: [words(results[i])] for i in gts})[0]

    return score


def characters(text):
    return " ".join("".join(text.split()))


def of_thai(field, file, score):
    """A language of Crossmodal-3600's file."""
    lines = [json.loads(line) for line in (FOLDER / "xm3600.jsonl").read_text(encoding="utf-8").splitlines()]
    return {"CIDEr": score({line["image/key"]: line["th"][field] for line in lines}, read(file))}


def of_languages(field, file, score):
    """All languages of a table, and each alone."""
    lines = [json.loads(line) for line in (FOLDER / "xm3600-languages.jsonl").read_text(encoding="utf-8").splitlines()]
    values = lambda wanted: score({line["image/key"]: line[field] for line in lines if line["lang"] in wanted}, read(file))
    languages = list(dict.fromkeys(line["lang"] for line in lines))
    return in_groups({"CIDEr": values(languages)}, {language: {"CIDEr": values([language])} for language in languages})


def xm3600(clones):
    return of_thai("caption", "xm3600-results.json", paligemma(clones))


def xm3600_words(_):
    return of_thai("caption/tokenized", "xm3600-words-results.json", cider_of(str))


def xm3600_characters(_):
    return of_thai("caption", "xm3600-results.json", cider_of(characters))


def xm3600_by_language(clones):
    return of_languages("caption", "xm3600-languages-results.json", paligemma(clones))


def xm3600_words_by_language(_):
    return of_languages("caption/tokenized", "xm3600-languages-words-results.json", cider_of(str))


def xm3600_characters_by_language(_):
    return of_languages("caption", "xm3600-languages-results.json", cider_of(characters))


def levir_cc(clones):
    stub("torch")
    sys.path.insert(0, str(clones / "Change-Agent/Multi_change"))
    from utils_tool.utils import get_eval_score

    references, results = read("levir-cc.json"), read("levir-cc-results.json")
    tokens = lambda text: [int(token) for token in text.split()]


    def score(ids):
        return get_eval_score([[tokens(one) for one in references[i]] for i in ids], [tokens(results[i]) for i in ids])

    found = score(results)
    found["sm-star"] = sum(found[name] for name in ("Bleu_4", "METEOR", "ROUGE_L", "CIDEr")) / 4
    return in_groups(found, {name: score([i for i in results if i in ids]) for name, ids in read("levir-cc-groups.json").items()})


def mart(clones):
    folder = clones / "recurrent-transformer/densevid_eval"
    in_python_3(folder)
    sys.path.insert(0, str(folder / "coco-caption"))
    program = types.ModuleType("para_evaluate")
    program.__file__ = str(folder / "para-evaluate.py")
    exec(compile((folder / "para-evaluate.py").read_text(), program.__file__, "exec"), program.__dict__)  # noqa: S102
    evaluator = object.__new__(program.ANETcaptions)
    evaluator.verbose, evaluator.all_scorer = False, True
    evaluator.scorers = [
        (program.Bleu(4), ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
        (program.Meteor(), "METEOR"), (program.Rouge(), "ROUGE_L"), (program.Cider(), "CIDEr"),
    ]  # fmt: skip
    evaluator.ground_truths, evaluator.prediction = [read("mart.json")], read("mart-results.json")
    return evaluator.evaluate_para()


def noc(clones):
    """F1 by the program, which reads ids from files: here, those of images with a reference that has one of the words."""
    in_python_3(clones / "DCC/eval")
    program = only(clones / "DCC/eval/eval_sentences.py", "rm_word_dict", "split_sent", "F1")
    references, res = by_image("noc.json"), results("noc-results.json")
    generated, values, groups = [{"image_id": i, "caption": c} for i, c in res.items()], {}, {}
    for name, words in program.rm_word_dict.items():
        novel = [i for i, all in references.items() if any(set(words) & set(program.split_sent(one)) for one in all)]
        # An id for each annotation, as in the program's files.
        each = lambda keep: [i for i, all in references.items() if (i in novel) is keep for _ in all]
        values[f"object-f1-{name}"] = program.F1(generated, each(True), each(False), name)
        groups[name] = pycocoevalcap(references, {i: res[i] for i in novel})
    values["object-f1"] = sum(values.values()) / len(values)
    return in_groups(values, groups)


def vist(clones):
    in_python_3(clones / "vist_eval")
    sys.path.insert(0, str(clones))
    program = importlib.import_module("vist_eval.album_eval")
    references = read("vist.json")
    of_album = {i: {"story_ids": [f"{i}/{k}" for k, _ in enumerate(stories)]} for i, stories in references.items()}
    stories = {f"{i}/{k}": text for i, all in references.items() for k, text in enumerate(all)}
    api = types.SimpleNamespace(
        Albums=of_album, Stories={i: {"sent_ids": [i]} for i in stories}, Sents={i: {"text": text} for i, text in stories.items()}
    )
    predictions = [{"album_id": i, "pred_story_str": story} for i, story in read("vist-results.json").items()]
    evaluator = program.AlbumEvaluator(api, predictions)
    evaluator.evaluate()
    return evaluator.eval_overall


def imageclef(clones):
    source = clones / "clef-caption-evaluation-2026/caption_prediction/evaluator.py"
    classes = [node for node in ast.parse(source.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    program = only(source, *(one.name for one in classes))
    evaluator = next(one for one in program.__dict__.values() if hasattr(one, "preprocess_caption"))
    evaluator.case_sensitive = getattr(evaluator, "case_sensitive", False)
    from rouge_score.rouge_scorer import RougeScorer

    clean = lambda text: evaluator.preprocess_caption(object.__new__(evaluator), text)
    rows = lambda name: {row["ID"]: row["Caption"] for row in csv.DictReader((FOLDER / name).open(encoding="utf-8"))}
    references, results = rows("imageclef.csv"), rows("imageclef-results.csv")
    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    scores = [scorer.score(clean(references[i]), clean(results[i]))["rouge1"].fmeasure for i in results]
    return {"rouge-score-1-f": sum(scores) / len(scores)}


def imageclef_concepts(clones):
    program = only(clones / "clef-caption-evaluation-2026/concept_detection/evaluator.py", "ConceptEvaluator")
    from sklearn.metrics import f1_score

    program.__dict__.update({"csv": csv, "f1_score": f1_score})
    evaluator = object.__new__(program.ConceptEvaluator)
    evaluator.gt = evaluator.load_gt(FOLDER / "imageclef-concepts.csv")
    found = evaluator.load_predictions(FOLDER / "imageclef-concepts-results.csv")
    return {"rouge-score-1-f": evaluator.compute_primary_score(found)}


def aicity(clones):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FOLDER / "nltk_data", folder, dirs_exist_ok=True)
        # NLTK opens these files, too.
        for name in ("lexnames", "index.sense", "cntlist.rev"):
            (Path(folder) / "corpora/wordnet" / name).write_text("00\tadj.all\t3\n" if name == "lexnames" else "")
        (Path(folder) / "tokenizers/punkt").mkdir(parents=True)
        os.environ["NLTK_DATA"] = folder
        sys.path.insert(0, str(clones / "wts-dataset/evaluation/eval-metrics-AIC-Track2"))
        from metrics_all import compute_mean_metrics, compute_metrics_overall

        sides = [{}, {}]
        for side, name in zip(sides, ("aicity.jsonl", "aicity-results.jsonl")):
            phases = {}
            for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                scenario, phase, who = row["id"].split("/")
                phases.setdefault((scenario, phase), {})[f"caption_{who}"] = row["caption"]
            for (scenario, phase), captions in phases.items():
                empty = {"caption_pedestrian": "", "caption_vehicle": ""}
                side.setdefault(scenario, []).append({"labels": [phase], **empty, **captions})
        gt, pred = sides
        pedestrian, vehicle, n = compute_metrics_overall(pred, gt)
        pedestrian, vehicle = compute_mean_metrics(pedestrian, n), compute_mean_metrics(vehicle, n)
    found = {name: (value + vehicle[name]) / 2 for name, value in pedestrian.items()}
    names = {"bleu": "sentence-bleu", "meteor": "meteor-2005", "rouge-l": "rouge-score-stem-l-f", "cider": "cider-d"}
    average = (100 * (found["bleu"] + found["meteor"] + found["rouge-l"]) + 10 * found["cider"]) / 4
    return {**{names[name]: value for name, value in found.items()}, "aicity": average}


PROGRAMS = [
    vizwiz, textcaps, nocaps, r2gen, rsicd, xm3600, xm3600_words, xm3600_characters, xm3600_by_language,
    xm3600_words_by_language, xm3600_characters_by_language, vlmevalkit, lmms_eval,
    levir_cc, clevr_change, spot_the_diff, imageclef, imageclef_concepts, aicity, mart, noc, vist,
]  # fmt: skip


def main(arguments):
    given = options(__doc__, "clones", ("names", {"nargs": "*"})).parse_args(arguments)
    names = [program.__name__.replace("_", "-") for program in PROGRAMS]
    if len(given.names) != 1:
        # Programs have modules of the same names, so each runs in a process of its own.
        for name in given.names or names:
            subprocess.run([sys.executable, FOLDER.parents[1] / "oracle/run.py", "kits", given.clones, name], check=True)
        return 0
    file = FOLDER / "golden.json"
    golden = json.loads(file.read_text()) if file.exists() else {}
    for program in PROGRAMS:
        name = program.__name__.replace("_", "-")
        if name not in given.names:
            continue
        found = program(Path(given.clones).resolve())
        golden[name] = {KEYS.get(key, key): float(value) for key, value in found.items()}
    lines = [f'"{name}": {json.dumps(golden[name])}' for name in names if name in golden]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0
