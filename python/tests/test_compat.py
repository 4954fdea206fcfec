"""`capeval.compat`: the names, shapes, types and digits of the original packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import capeval
from capeval.compat import evaluate, nlgeval, sacrebleu
from capeval.compat.coco import COCO
from capeval.compat.pyciderevalcap.cider.cider import Cider as PlainCider
from capeval.compat.pyciderevalcap.ciderD.ciderD import CiderD
from capeval.compat.pycocoevalcap import eval as evaluation
from capeval.compat.pycocoevalcap.bleu.bleu import Bleu
from capeval.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer
from capeval.compat.pycocoevalcap.cider.cider import Cider
from capeval.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from capeval.compat.pycocoevalcap.eval import COCOEvalCap
from capeval.compat.pycocoevalcap.meteor.meteor import Meteor
from capeval.compat.pycocoevalcap.rouge.rouge import Rouge
from capeval.compat.pycocoevalcap.spice.spice import Spice
from capeval.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from capeval.compat.rouge_score.rouge_scorer import RougeScorer

# Captions, and what pycocoevalcap returns for them; `oracle/goldens.py` writes the numbers.
GOLDEN = json.loads((Path(__file__).parent / "golden_compat.json").read_text(encoding="utf-8"))
GTS = dict(GOLDEN["gts"])
RES = dict(GOLDEN["res"])


def test_shapes_and_types_are_those_of_pycocoevalcap(capsys):
    score, scores = Bleu(4).compute_score(GTS, RES)
    assert type(score) is list and [type(s) for s in score] == [float] * 4
    assert type(scores) is list and [len(row) for row in scores] == [3] * 4 and type(scores[0][0]) is float
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "{'testlen': 16, 'reflen': 16, 'guess': [16, 13, 10, 7], 'correct': [12, 7, 4, 3]}"
    assert lines[1].startswith("ratio: 0.99999999")
    Bleu(4).compute_score(GTS, RES, verbose=0)
    assert capsys.readouterr().out == ""
    for metric in (Cider(), Rouge()):
        score, scores = metric.compute_score(GTS, RES)
        assert type(score) is np.float64 and type(scores) is np.ndarray
        assert scores.shape == (3,) and scores.dtype == np.float64 and score == np.mean(scores)
    names = [metric.method() for metric in (Bleu(), Rouge(), Cider(), Spice(), CiderD(), PlainCider())]
    assert names == ["Bleu", "Rouge", "CIDEr", "SPICE", "CIDEr-D", "CIDEr"]
    assert Meteor.method(object()) == "METEOR"


def test_numbers_are_those_of_pycocoevalcap():
    assert list(Bleu(4).compute_score(GTS, RES, verbose=0)) == GOLDEN["bleu"]
    assert Cider().compute_score(GTS, RES)[1].tolist() == GOLDEN["cider"]
    assert Rouge().compute_score(GTS, RES)[1].tolist() == GOLDEN["rouge"]
    assert PTBTokenizer().tokenize(GOLDEN["raw"]) == GOLDEN["tokens"]


@pytest.mark.parametrize(
    "res", [{7: ["a"]}, {**RES, 3: ["a", "b"]}, {**RES, 3: "a"}, {**RES, 3: []}], ids=["ids", "two", "str", "none"]
)
def test_what_the_originals_assert_is_asserted(res):
    for metric in (Bleu(), Cider(), Rouge()):
        with pytest.raises(AssertionError):
            metric.compute_score(GTS, res)


def test_scorers_grow_and_take_options():
    scorer = BleuScorer(n=2)
    scorer += ("a cat sat", ["a cat sat down", "cat"])
    scorer += ("a dog", ["a dog runs"])
    closest, by_caption = scorer.compute_score(option="closest")
    assert len(closest) == 2 and [len(row) for row in by_caption] == [2, 2]
    assert scorer.compute_score() == closest, "a second call gives the corpus scores alone, as the original's does"
    assert scorer.recompute_score(option="shortest")[0] > closest
    assert (scorer.size(), scorer.testlen("average"), scorer.reflen("average")) == (2, 5, 4)
    scorer.retest(["a cat sat", "a dog"])
    assert (scorer.testlen("average"), scorer.reflen("average")) == (5, 5.5)
    with pytest.raises(AssertionError):
        scorer.recompute_score(option="longest")
    cider = CiderScorer()
    for key in GTS:
        cider += (RES[key][0], GTS[key])
    assert cider.compute_score()[1].tolist() == Cider().compute_score(GTS, RES)[1].tolist()
    assert cider.ref_len == np.log(3.0) and cider.document_frequency[("a",)] == 3


def test_meteor_and_spice_say_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"capeval.install_data\(\"meteor\"\)"):
        Meteor()
    with pytest.raises(FileNotFoundError, match="SPICE's data are not installed"):
        Spice().compute_score({1: ["a dog"]}, {1: ["a dog"]})


def coco_files(tmp_path):
    raw = {1: ["A dog runs.", "The dog ran!"], 2: ["Two cats sit.", "Cats, sitting"], 5: ["A bus.", "A red bus"]}
    rows = [(key, text) for key, texts in raw.items() for text in texts]
    annotations = [{"id": k, "image_id": key, "caption": text} for k, (key, text) in enumerate(rows)]
    dataset = {"info": {"year": 2026}, "images": [{"id": key} for key in raw], "annotations": annotations}
    results = [{"image_id": 5, "caption": "a bus"}, {"image_id": 1, "caption": "a dog runs"}]
    (tmp_path / "a.json").write_text(json.dumps(dataset))
    (tmp_path / "r.json").write_text(json.dumps(results))
    return tmp_path / "a.json", tmp_path / "r.json", results


def test_the_example_script_of_pycocoevalcap_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    annotations, results, rows = coco_files(tmp_path)
    coco = COCO(annotations)
    coco_result = coco.loadRes(str(results))
    assert coco_result.getImgIds() == [1, 5] and coco.getImgIds() == [1, 2, 5]
    assert coco.loadRes(rows).imgToAnns.keys() == coco_result.imgToAnns.keys()
    coco_eval = COCOEvalCap(coco, coco_result)
    assert coco_eval.params["image_id"] == [1, 2, 5]
    coco_eval.params["image_id"] = coco_result.getImgIds()
    with pytest.warns(UserWarning) as warned:
        coco_eval.evaluate()
    assert {str(warning.message).split()[0] for warning in warned} == {"METEOR", "SPICE"}
    keys = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert list(coco_eval.eval) == keys
    assert list(coco_eval.imgToEval) == [1, 5]
    assert list(coco_eval.imgToEval[5]) == ["image_id", *keys]
    assert coco_eval.evalImgs == list(coco_eval.imgToEval.values())
    printed = capsys.readouterr().out.splitlines()
    assert "tokenization..." in printed and "computing CIDEr score..." in printed
    assert f"ROUGE_L: {coco_eval.eval['ROUGE_L']:.3f}" in printed


def test_the_spice_of_sorted_ids_is_misassigned_under_a_name_of_its_own(monkeypatch):
    def spice(references, candidates, metrics, settings):
        values = np.array([len(text) / 10 for text in candidates])
        scored = {name: SimpleNamespace(segments=np.array([values]), corpus=[0.0]) for name in metrics}
        scored["bleu"] = SimpleNamespace(segments=np.zeros((4, 3)), corpus=[0.0] * 4)
        return [scored[name] for name in metrics]

    monkeypatch.setattr(evaluation, "evaluate", spice)
    monkeypatch.setattr(evaluation, "details", lambda scored: scored.segments[0].tolist())
    monkeypatch.setattr(evaluation, "Meteor", lambda: None)
    monkeypatch.setattr(evaluation.COCOEvalCap, "_print_bleu", lambda self, scored: None)
    monkeypatch.setattr(evaluation.Spice, "compute_score", lambda self, gts, res: None)
    captions = {5: "a", 1: "aaa", 9: "aa"}
    data = SimpleNamespace(imgToAnns={key: [{"caption": text}] for key, text in captions.items()}, getImgIds=lambda: [5, 1, 9])

    def values(of):
        run = of(data, data)
        run.evaluate()
        return {key: scores["SPICE"] for key, scores in run.imgToEval.items()}, run.eval["SPICE"]

    own, mean = values(COCOEvalCap)
    assert own == {5: 0.1, 1: 0.3, 9: 0.2}
    # The ids in order are 1, 5, 9: the first image gets the value of 1, the second that of 5.
    assert values(evaluation.COCOEvalCapBySortedIds) == ({5: 0.3, 1: 0.1, 9: 0.2}, mean)


def test_results_of_other_images_are_refused(tmp_path):
    annotations, _, _ = coco_files(tmp_path)
    with pytest.raises(AssertionError, match="image 9"):
        COCO(annotations).loadRes([{"image_id": 9, "caption": "a"}])


INSTALLED = """
import capeval
capeval.install_as_pycocoevalcap()
capeval.install_as_pycocoevalcap()
from pycocoevalcap.eval import COCOEvalCap, Bleu, Cider, Meteor, Rouge
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from pycocoevalcap.spice.spice import Spice
import pycocoevalcap.rouge.rouge
from importlib.metadata import distribution, version
assert version("pycocoevalcap") == "1.2" and distribution("pycocoevalcap").metadata["Name"] == "pycocoevalcap"
import pyciderevalcap.ciderD.ciderD as c
assert c.CiderD(df="corpus").method() == "CIDEr-D"
assert COCOEvalCap.__module__ == "capeval.compat.pycocoevalcap.eval"
print(Rouge().compute_score({1: ["a b"]}, {1: ["a b"]})[0])
"""


def test_third_party_code_imports_pycocoevalcap_unchanged():
    run = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "1.0", run.stderr


MMPRETRAIN = """
import sys, capeval
capeval.install_as_pycocoevalcap()
from importlib.metadata import distribution
for package in ("pycocotools", "pycocoevalcap"):
    assert distribution(package).version >= "1", package
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO
annotations, results = sys.argv[1:]
coco = COCO(annotations)
evaluation = COCOEvalCap(coco, coco.loadRes(results))
evaluation.evaluate()
print(*(f"{metric}={score:.3f}" for metric, score in evaluation.eval.items()), file=sys.stderr)
"""


def test_the_caption_metric_of_mmpretrain_runs(tmp_path):
    """mmpretrain 1.2 asks for the metadata of both packages, and scores results that it has written to a file, of which
    it drops all but the first of an image."""
    annotations, results, rows = coco_files(tmp_path)
    results.write_text(json.dumps([*rows, {"image_id": 2, "caption": "two cats sit"}]))
    command = [sys.executable, "-W", "ignore", "-c", MMPRETRAIN, str(annotations), str(results)]
    environment = {**os.environ, "CAPEVAL_DATA": str(tmp_path)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    score = capeval.score(annotations, results, ["bleu", "rouge-l", "cider-d"])
    names = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert run.stderr.split() == [f"{name}={value:.3f}" for name, value in zip(names, score.scores.values())]


def test_cider_d_of_self_critical_code_takes_lists_and_tables(tmp_path):
    gts = {key: list(captions) for key, captions in GTS.items()}
    res = [{"image_id": key, "caption": caption} for key, caption in RES.items()]
    score, scores = CiderD(df="corpus").compute_score(gts, res)
    assert scores.tolist() == Cider().compute_score(GTS, RES)[1].tolist() and score == np.mean(scores)
    assert CiderD(df="corpus", sigma=1.0).compute_score(gts, res)[0] == score, "sigma is not used"
    # Two samples of one image, in any order; with a table they do not depend on each other.
    table = capeval.DocumentFrequencies.build(gts, tokenizer="none")
    table.save(tmp_path / "train-idxs.p", format="pickle")
    scorer = CiderD(df=str(tmp_path / "train-idxs"))
    twice = scorer.compute_score(gts, [res[2], res[0], res[0], {"image_id": 7, "caption": ["the dog"]}])[1]
    assert twice[1] == twice[2] and twice.tolist()[:2] == [scores[2], scores[0]]
    assert scorer.compute_score(gts, res)[1].tolist() == scores.tolist()
    assert PlainCider(df=table).compute_score(gts, res)[1].shape == (3,)
    with pytest.raises(FileNotFoundError, match="no document frequencies at 'nowhere'"):
        CiderD(df="nowhere")


def test_rouge_score_gives_named_triples():
    """rouge_score 0.1.2, RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(target, prediction)."""
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    scores = scorer.score("The quick brown fox jumps over the lazy dog", "The quick brown dogs jumped on the log.")
    assert list(scores) == ["rouge1", "rouge2", "rougeL"]
    assert scores["rouge1"] == (0.75, 0.6666666666666666, 0.7058823529411765)
    assert scores["rouge2"].fmeasure == 0.26666666666666666
    assert scores["rougeL"].precision == 0.625
    many = scorer.score_multi(["a cat", "The quick brown dogs"], "the quick dogs")
    assert many["rouge1"].precision == 1.0
    with pytest.raises(ValueError, match="Invalid rouge type: rouge"):
        RougeScorer(["rougeX"]).score("a", "b")


def test_sacrebleu_prints_as_the_original():
    """sacreBLEU 2.6.0 on its README's example."""
    refs = [
        ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
        ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
    ]
    system = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
    bleu = sacrebleu.corpus_bleu(system, refs)
    assert str(bleu) == "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"
    assert bleu.counts == [14, 7, 5, 3] and bleu.totals == [17, 14, 11, 8] and (bleu.sys_len, bleu.ref_len) == (17, 18)
    assert str(sacrebleu.corpus_chrf(system, refs)) == "chrF2 = 59.73"
    assert str(sacrebleu.corpus_chrf(system, refs, word_order=2)).startswith("chrF2++ = ")
    ter = sacrebleu.corpus_ter(system, refs)
    assert str(ter).startswith("TER = ") and ter.num_edits > 0
    with pytest.raises(EOFError):
        sacrebleu.corpus_bleu(system, [refs[0][:2]])
    with pytest.raises(TypeError):
        sacrebleu.corpus_bleu(system, refs[0])


def test_evaluate_computes_what_hugging_face_does():
    """From evaluate's own pages: load("bleu") and load("rouge") on these sentences."""
    predictions = ["hello there general kenobi", "foo bar foobar"]
    references = [["hello there general kenobi", "hello there !"], ["foo bar foobar"]]
    found = evaluate.load("bleu").compute(predictions=predictions, references=references)
    assert found == {
        "bleu": 1.0,
        "precisions": [1.0, 1.0, 1.0, 1.0],
        "brevity_penalty": 1.0,
        "length_ratio": 1.1666666666666667,
        "translation_length": 7,
        "reference_length": 6,
    }
    rouge = evaluate.load("rouge")
    rouge.add_batch(predictions=["hello there", "general kenobi"], references=["hello there", "general kenobi"])
    assert rouge.compute() == {"rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0, "rougeLsum": 1.0}
    assert evaluate.load("chrf").compute(predictions=["a"], references=[["a"]])["score"] == 100.0
    with pytest.raises(ValueError, match="METEOR"):
        evaluate.load("meteor")
    with pytest.raises(ValueError, match="nothing"):
        rouge.compute()


def test_nlg_eval_scores_files_and_lists(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    (tmp_path / "hyp").write_text("a dog runs\ntwo cats\n")
    (tmp_path / "ref1").write_text("a dog runs\ncats sit\n")
    (tmp_path / "ref2").write_text("the dog ran\ntwo cats sit\n")
    with pytest.warns(UserWarning, match="METEOR"):
        found = nlgeval.compute_metrics(tmp_path / "hyp", [tmp_path / "ref1", tmp_path / "ref2"])
    assert list(found) == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert f"CIDEr: {found['CIDEr']:0.6f}" in capsys.readouterr().out
    streams = [["a dog runs", "cats sit"], ["the dog ran", "two cats sit"]]
    omit = ["METEOR", "SPICE"]
    quiet = {"no_skipthoughts": True, "no_glove": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = nlgeval.NLGEval(metrics_to_omit=omit, **quiet).compute_metrics(streams, ["a dog runs", "two cats"])
    assert again == found
    with pytest.warns(UserWarning, match="SPICE is left out"):
        nlgeval.NLGEval(metrics_to_omit=["METEOR"], **quiet).compute_metrics(streams, ["a dog runs", "two cats"])
    with pytest.warns(UserWarning, match="SkipThoughtCS, .*GreedyMatchingScore: not computed"):
        nlgeval.NLGEval()
    with pytest.warns(UserWarning, match="^GreedyMatchingScore: not computed.*no_glove=True"):
        nlgeval.NLGEval(no_skipthoughts=True, metrics_to_omit=nlgeval._GLOVE[:2])
    with pytest.warns(UserWarning):
        assert nlgeval.compute_individual_metrics("a cat||<|>||the cat", "a cat")["ROUGE_L"] == 1.0


def test_everything_equals_the_originals_side_by_side(real, tmp_path):
    """1,000 images; needs CAPEVAL_ORACLE, a Python with the originals, Java, and METEOR's data or the wheel."""
    oracle = os.environ.get("CAPEVAL_ORACLE")
    if not oracle:
        pytest.skip("set CAPEVAL_ORACLE to a Python that has pycocoevalcap 1.2, with Java on the PATH")
    script = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).parents[2], "oracle/run.py")
    data = real / "coco"
    environment = {**os.environ, "PYTHONPATH": str(Path(capeval.__file__).parents[1])}
    environment.setdefault("CAPEVAL_DATA", str(tmp_path))
    install = "import capeval, os; os.path.exists(os.environ['CAPEVAL_DATA'] + '/meteor-1.5.bin') or capeval.install_data('meteor')"
    subprocess.run([oracle, "-c", install], env=environment, check=True)
    run = subprocess.run(
        [oracle, script, "drop_in", data / "captions_val2014.json.gz", data / "fakecap_results.json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("equal ") >= 13


def test_options_of_hugging_face_work_or_are_refused():
    """Provenance: evaluate's modules call sacrebleu 2.6.0, which gives chrF 100.0 for captions that differ in case
    alone with lowercase=True."""
    from capeval.compat import evaluate

    pair = {"predictions": ["A DOG RUNS"], "references": [["a dog runs"]]}
    assert evaluate.load("chrf").compute(**pair, lowercase=True)["score"] == pytest.approx(100.0)
    assert evaluate.load("chrf").compute(**pair)["score"] < 20
    for name in ("bleu", "rouge"):
        with pytest.raises(NotImplementedError, match="tokenizer"):
            evaluate.load(name).compute(**pair, tokenizer=str.split)
        with pytest.raises(TypeError, match="smoothly"):
            evaluate.load(name).compute(**pair, smoothly=True)


def test_add_k_leaves_counts_alone_where_nothing_matches():
    """Provenance: sacrebleu 2.6.0, corpus_bleu(["x y z u v"], [["a b c d e"]], "add-k", 1)."""
    from capeval.compat import sacrebleu

    found = sacrebleu.corpus_bleu(["x y z u v"], [["a b c d e"]], "add-k", 1)
    assert (found.counts, found.totals, found.score) == ([0, 0, 0, 0], [5, 4, 3, 2], 0.0)


@pytest.mark.parametrize("method", ["floor", "add-k"])
def test_smoothing_by_nothing_is_none(method):
    """Provenance: sacrebleu 2.6.0, corpus_bleu(["a b c x y"], [["a b c d e"]], method, 0)."""
    from capeval.compat import sacrebleu

    found = sacrebleu.corpus_bleu(["a b c x y"], [["a b c d e"]], method, 0)
    assert (found.counts, found.totals) == ([3, 2, 1, 0], [5, 4, 3, 2])
    assert found.score == 0.0 and found.precisions[3] == 0.0
    with pytest.raises(ValueError, match="smooth"):
        sacrebleu.corpus_bleu(["a b c x y"], [["a b c d e"]], "plenty")


def test_lengths_of_a_bleu_scorer_compute_its_score():
    """Provenance: pycocoevalcap 1.2, BleuScorer: asking for a length computes, and what is computed stays."""
    from capeval.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer

    def scorer():
        made = BleuScorer(n=4)
        made += ("a b c", ["a b", "a b c d"])
        made += ("a c", ["a c d e f", "a"])
        return made

    asked = scorer()
    shortest = asked.reflen("shortest")
    found = asked.compute_score("average")
    assert found == scorer().compute_score("shortest")[0]
    assert asked.reflen("average") == shortest == 3
