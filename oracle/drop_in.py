"""Run programs written for pycocoevalcap and similar packages on the originals and on `capeval.compat`, and compare.

    run.py drop_in ANNOTATIONS.json[.gz] RESULTS.json [LIMIT]

Needs a Python with capeval, pycocoevalcap==1.2, pycocotools, sacrebleu==2.6.0, rouge-score==0.1.2, Java on the PATH
and METEOR's data (`capeval data install meteor`). Compares every key, type, order, printed line and number, numbers
bit for bit; SPICE is skipped on both sides. LIMIT is the number of images, by default all of the results.
"""
import contextlib
import gzip
import importlib
import io
import json
import random
import re
import tempfile
import time
import warnings

import shared

FAULTS = []


def report(what, fault):
    print(f"{'FAULT' if fault else 'equal':6} {what}{': ' + fault if fault else ''}")
    if fault:
        FAULTS.append(what)


def differs(theirs, ours, path="result"):
    """The first difference of two values in type, shape, order or number; an empty string if there is none."""
    import numpy as np

    if type(theirs) is not type(ours):
        return f"{path} is a {type(ours).__name__}, not a {type(theirs).__name__}"
    if isinstance(theirs, dict):
        if list(theirs) != list(ours):
            return f"{path} has keys {list(ours)[:9]}, not {list(theirs)[:9]}"
        return next(filter(None, (differs(theirs[k], ours[k], f"{path}[{k!r}]") for k in theirs)), "")
    if isinstance(theirs, (list, tuple)):
        if len(theirs) != len(ours):
            return f"{path} has {len(ours)} items, not {len(theirs)}"
        return next(filter(None, (differs(a, b, f"{path}[{k}]") for k, (a, b) in enumerate(zip(theirs, ours)))), "")
    if isinstance(theirs, np.ndarray):
        if theirs.dtype != ours.dtype or theirs.shape != ours.shape:
            return f"{path} is {ours.dtype}{ours.shape}, not {theirs.dtype}{theirs.shape}"
        return differs(theirs.tolist(), ours.tolist(), path)
    return "" if theirs == ours else f"{path} is {ours!r}, not {theirs!r}"


def both(what, run):
    """Compare the result of `run`, and its output, between the original and capeval."""
    results = []
    for prefix in ("", "capeval.compat."):
        printed = io.StringIO()
        cpu, start = time.process_time(), time.perf_counter()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run(lambda module, prefix=prefix: importlib.import_module(prefix + module))
        took = (time.perf_counter() - start, time.process_time() - cpu)
        lines = [re.sub(r"t=[0-9.]+s", "t=", line) for line in printed.getvalue().splitlines()]
        results.append((result, lines, took))
    (theirs, their_lines, (t, _)), (ours, our_lines, (o, cpu)) = results
    fault = differs(theirs, ours) or differs(their_lines, our_lines, "printed lines")
    report(f"{what:52} {t:8.3f} s / {o:7.3f} s ({cpu:.3f} s CPU) = {t / o:6.0f}", fault)


def example(annotations, results, limit):
    def evaluate(load):
        evaluation = load("pycocoevalcap.eval")
        if evaluation.__name__.startswith("capeval"):
            coco = importlib.import_module("capeval.compat.coco").COCO(annotations)
        else:
            coco = importlib.import_module("pycocotools.coco").COCO(annotations)
            evaluation.Spice = NoSpice
        coco_result = coco.loadRes(results)
        coco_eval = evaluation.COCOEvalCap(coco, coco_result)
        coco_eval.params["image_id"] = coco_result.getImgIds()[:limit]
        coco_eval.evaluate()
        for one in [coco_eval.eval, *coco_eval.imgToEval.values()]:
            one.pop("SPICE", None)
        lines = [f"{metric}: {score:.3f}" for metric, score in coco_eval.eval.items()]
        return coco_eval.eval, coco_eval.imgToEval, coco_eval.evalImgs, lines

    return evaluate


class NoSpice:
    """Replaces SPICE, silently."""

    def compute_score(self, gts, res):
        return 0.0, [0.0] * len(gts)

    def method(self):
        return "SPICE"


def without_spice(run):
    """Remove the two lines that SPICE prints and capeval does not."""
    def wrapped(load):
        inner = io.StringIO()
        with contextlib.redirect_stdout(inner):
            result = run(load)
        print("\n".join(line for line in inner.getvalue().splitlines() if "SPICE" not in line))
        return result

    return wrapped


def main(arguments):
    given = shared.options(__doc__, "annotations", "results", ("limit", {"nargs": "?", "type": int})).parse_args(arguments)
    annotations = given.annotations
    with tempfile.TemporaryDirectory() as folder:
        if annotations.endswith(".gz"):
            plain = f"{folder}/annotations.json"
            with gzip.open(annotations) as packed, open(plain, "wb") as out:
                out.write(packed.read())
            annotations = plain
        compare(annotations, given.results, given.limit)
    print(f"{len(FAULTS)} faults")
    return int(bool(FAULTS))


def compare(annotations, results, limit):
    print(f"{'':59} theirs / ours = times as fast")
    both("COCOEvalCap, example script", without_spice(example(annotations, results, limit)))
    with open(annotations, encoding="utf-8") as file:
        rows = json.load(file)["annotations"]
    with open(results, encoding="utf-8") as file:
        hypotheses = {row["image_id"]: [{"caption": row["caption"]}] for row in json.load(file)[:limit]}
    references = {key: [] for key in hypotheses}
    for row in rows:
        if row["image_id"] in references:
            references[row["image_id"]].append({"caption": row["caption"]})
    texts = {}

    def tokenize(load):
        tokenizer = load("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer()
        texts["gts"], texts["res"] = tokenizer.tokenize(references), tokenizer.tokenize(hypotheses)
        return texts["gts"], texts["res"]

    both("PTBTokenizer", tokenize)
    gts, res = texts["gts"], texts["res"]

    def scorer(module, name, *arguments, **options):
        def run(load):
            metric = getattr(load(module), name)(*arguments)
            return metric.method(), metric.compute_score(gts, res, **options)

        return run

    both("Bleu(4)", scorer("pycocoevalcap.bleu.bleu", "Bleu", 4))
    both("Bleu(2), verbose=0", scorer("pycocoevalcap.bleu.bleu", "Bleu", 2, verbose=0))
    both("Cider()", scorer("pycocoevalcap.cider.cider", "Cider"))
    both("Cider(sigma=4)", scorer("pycocoevalcap.cider.cider", "Cider", None, None, 4, 4.0))
    both("Rouge()", scorer("pycocoevalcap.rouge.rouge", "Rouge"))
    both("Meteor()", scorer("pycocoevalcap.meteor.meteor", "Meteor"))
    both("Rouge().calc_score", lambda load: [
        load("pycocoevalcap.rouge.rouge").Rouge().calc_score(res[key], gts[key]) for key in list(gts)[:50]])

    def bleu_scorer(load):
        module = load("pycocoevalcap.bleu.bleu_scorer")
        found = []
        for option in ("closest", "shortest", "average", None):
            scorer = module.BleuScorer(n=4)
            for key in list(gts)[:100]:
                scorer += (res[key][0], gts[key])
            found.append(scorer.compute_score(option=option, verbose=2 if option == "average" else 1))
            found.append(scorer.compute_score(option=option))
            found += [scorer.size(), scorer.reflen(option), scorer.testlen(option)]
        one = module.BleuScorer("a cat sat", ["a cat sits", "the cat sat down"], n=4)
        found.append(one.compute_score())
        found.append(one.rescore("a dog sat"))
        both_of_them = module.BleuScorer(n=4)
        both_of_them += one
        both_of_them += ("two", ["two", "three"])
        found.append(both_of_them.compute_score())
        return found

    both("BleuScorer: +=, options, lengths, rescore", bleu_scorer)

    def cider_scorer(load):
        module = load("pycocoevalcap.cider.cider_scorer")
        scorer = module.CiderScorer(n=4, sigma=6.0)
        for key in list(gts)[:200]:
            scorer += (res[key][0], gts[key])
        other = scorer.copy()
        score = scorer.compute_score()
        other += ("a cat", ["a cat", "the cat"])
        return score, scorer.size(), scorer.ref_len, other.compute_score(), other.size()

    both("CiderScorer: +=, copy", cider_scorer)

    rng = random.Random(1)
    flat = [(res[key][0], [row["caption"] for row in references[key]]) for key in gts]
    hyps = [hypothesis + rng.choice(["", ".", " !", " It's"]) for hypothesis, _ in flat]
    streams = [[texts_[k] for _, texts_ in flat] for k in range(5)]

    def sacrebleu(load):
        module = load("sacrebleu")
        found = []
        for options in ({}, {"lowercase": True}, {"tokenize": "intl"}, {"smooth_method": "add-k"},
                        {"smooth_method": "floor"}, {"smooth_method": "none"}, {"use_effective_order": True}):
            score = module.corpus_bleu(hyps, streams, **options)
            found += [score.score, list(score.counts), list(score.totals), list(score.precisions), score.bp,
                      int(score.sys_len), int(score.ref_len), str(score)]
        for k in range(30):
            found.append(str(module.sentence_bleu(hyps[k], [stream[k] for stream in streams])))
        for options in ({}, {"word_order": 2}, {"beta": 1}, {"remove_whitespace": False}, {"eps_smoothing": True}):
            score = module.corpus_chrf(hyps, streams, **options)
            found += [score.score, str(score), score.char_order, score.word_order, score.beta]
        for options in ({}, {"normalized": True}, {"no_punct": True}, {"case_sensitive": True}):
            score = module.corpus_ter(hyps[:300], [stream[:300] for stream in streams], **options)
            found += [score.score, score.num_edits, float(score.ref_length), str(score)]
        return found

    both("sacrebleu: corpus_bleu, _chrf, _ter, sentence_bleu", sacrebleu)

    def rouge_score(load):
        module = load("rouge_score.rouge_scorer")
        found = []
        for stem in (False, True):
            scorer = module.RougeScorer(["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"], use_stemmer=stem)
            for k in range(200):
                found.append({name: tuple(score) for name, score in scorer.score(streams[0][k], hyps[k]).items()})
            found.append({name: tuple(score) for name, score in
                          scorer.score_multi([stream[0] for stream in streams], hyps[0]).items()})
        return found

    both("RougeScorer: score, score_multi", rouge_score)
