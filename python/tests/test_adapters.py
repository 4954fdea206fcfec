"""Adapters: metrics of other packages with the scores that these packages give, each tested where its package is installed."""

from __future__ import annotations

import math
import os
import pickle
import statistics

import pytest

import capeval
from capeval import adapters
from capeval.compat.pycocoevalcap.bleu.bleu import Bleu
from capeval.compat.pycocoevalcap.cider.cider import Cider
from capeval.compat.pycocoevalcap.rouge.rouge import Rouge

# Modules of evaluate are loaded from a file.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

REFERENCES = {k: [f"A dog number {k} runs.", "the dog runs again, today", "dogs run"][: 1 + k % 3] for k in range(30)}
CANDIDATES = {k: ["a dog", "The dog runs again today", "the cat sat on the mat"][k // 3 % 3] for k in range(30)}


def segments(metric, candidates=CANDIDATES):
    """The scores of all captions by a metric, by measure."""
    report = capeval.score(REFERENCES, candidates, [metric])
    return {key: list(values) for key, values in report.segments.items()}


def reduced(score, reduce):
    """The scores of all captions by a function of a caption and one reference."""
    return [reduce([score(CANDIDATES[k], text) for text in REFERENCES[k]]) for k in REFERENCES]


class Protocol:
    """What adapters know of torchmetrics: a metric that gives one number for all captions."""

    higher_is_better = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    def __init__(self):
        self.reset()

    def update(self, preds: list[str], target: list[str]) -> None:
        self.rows += zip(preds, target)

    def compute(self):
        return statistics.fmean(distance(caption, text) for caption, text in self.rows)

    def reset(self):
        self.rows = []


def distance(caption, text):
    mine, yours = set(caption.split()), set(text.split())
    return 2 * len(mine ^ yours) / len(mine | yours)


class Higher(Protocol):
    higher_is_better = True


class Lists(Protocol):
    """A metric that takes lists of references and gives several scores of each caption, but fails on a single one."""

    higher_is_better = True

    def update(self, preds: list[str], target: list[list[str]]) -> None:
        super().update(preds, target)

    def compute(self):
        assert len(self.rows) > 1
        return {"best": [1 + 1e-6 if caption in texts else 0.25 for caption, texts in self.rows], "n": [len(texts) / 4 for _, texts in self.rows]}


class AmongOthers(Lists):
    def compute(self):
        known = " ".join(text for _, texts in self.rows for text in texts).split()
        return [sum(1 / known.count(word) for word in caption.split() if word in known) / 10 for caption, _ in self.rows]


def test_an_object_for_one_reference_is_asked_about_each():
    best = adapters.from_torchmetrics(Protocol())
    assert best.name == "torchmetrics-protocol"
    (measure,) = best.measures
    assert (measure.key, measure.min, measure.max, measure.higher_is_better) == ("torchmetrics-protocol", 0.0, math.inf, False)
    assert segments(best) == {"torchmetrics-protocol": reduced(distance, min)}
    mean = adapters.from_torchmetrics(Protocol(), name="mine", references="mean", version="3", range=(0, 2))
    assert segments(mean) == {"mine": reduced(distance, lambda scores: sum(scores) / len(scores))}
    signature = capeval.score(REFERENCES, CANDIDATES, [pickle.loads(pickle.dumps(mean))]).signatures["mine"]
    assert signature.startswith("mine|version:3|by:function|")


def test_an_object_for_several_references_gives_several_measures():
    metric = adapters.from_torchmetrics(Lists(), name="lists", batch_size=29)
    captions = {k: REFERENCES[k][0] if k % 2 else "a dog" for k in REFERENCES}
    expected = {"lists-best": [1.0 if k % 2 else 0.25 for k in REFERENCES], "lists-n": [(1 + k % 3) / 4 for k in REFERENCES]}
    assert segments(metric, captions) == expected
    assert segments(adapters.from_torchmetrics(Lists(), name="one", keys=["n"])) == {"one": expected["lists-n"]}
    # Numbers of 32 bits exceed a range by rounding.
    best = adapters.from_torchmetrics(Lists(), name="one", keys="best", range=(0, 1), batch_size=7)
    assert segments(best, captions) == {"one": expected["lists-best"]}


def test_scores_that_depend_on_other_captions_are_found():
    metric = adapters.from_torchmetrics(AmongOthers(), name="among", tokenizer="char")
    signature = capeval.score(REFERENCES, CANDIDATES, [metric]).signatures["among"]
    assert "captions:together" in signature
    both = capeval.score(REFERENCES, systems={"a": CANDIDATES, "b": CANDIDATES, "c": dict.fromkeys(REFERENCES, "a dog")}, metrics=[metric])
    alone = capeval.score(REFERENCES, CANDIDATES, [metric])
    assert both.systems["a"].scores == both.systems["b"].scores == alone.scores
    with pytest.raises(ValueError, match="among needs all captions, so the score of a row would depend on its batch; leave it out"):
        capeval.arrow.RowScorer([metric])
    assert "together" not in str(capeval.score(REFERENCES, CANDIDATES, [adapters.from_torchmetrics(AmongOthers(), name="among", corpus=False)]).signatures)


def test_what_adapters_cannot_know_is_asked_for():
    def collected():
        metric = Protocol()
        metric.update_called = True
        return metric

    for call, error, words in [
        (lambda: adapters.from_torchmetrics(Higher()), ValueError, "says of torchmetrics-higher that higher scores are better, but a caption that"),
        (lambda: adapters.from_torchmetrics(collected()), ValueError, "has collected captions, which would be lost; pass a new one"),
        (lambda: adapters.from_torchmetrics(Protocol(), references="worst"), ValueError, "references must be 'all', 'best' or 'mean', not 'worst'"),
        (lambda: adapters.from_torchmetrics(Protocol(), references="all"), ValueError, "cannot score two captions: AttributeError"),
        (lambda: adapters.from_torchmetrics(Lists(), keys="worst"), ValueError, "gives no number 'worst' of each caption, but 'best', 'n'"),
        (lambda: adapters.from_torchmetrics(Lists(), keys=[]), ValueError, "gives no number None"),
        (lambda: adapters.from_torchmetrics(Protocol(), colour=1), TypeError, "adapters have no option 'colour'; they have name"),
        (lambda: adapters.from_torchmetrics(Protocol(), name="bleu"), ValueError, "capeval has a metric bleu of its own"),
        (lambda: adapters.from_aac_metrics(lambda captions, texts: [1.0, 0.0], name="f"), ValueError, "pass lower_is_better"),
    ]:
        with pytest.raises(error, match=words):
            call()
    right = adapters.from_torchmetrics(Higher(), lower_is_better=True)
    assert not right.measures[0].higher_is_better and right.measures[0].max == math.inf


@pytest.mark.parametrize("name, scorer, own", [("rouge", Rouge(), ["rouge-l"]), ("bleu", Bleu(4), ["bleu-1", "bleu-4"]), ("cider", Cider(), ["cider-d"])])
def test_objects_in_the_form_of_pycocoevalcap_have_the_scores_of_capeval(name, scorer, own):
    metric = adapters.from_pycocoevalcap(scorer, name=f"of-{name}")
    systems = {"a": CANDIDATES, "b": dict.fromkeys(REFERENCES, "A dog runs, again.")}
    report = capeval.score(REFERENCES, systems=systems, metrics=["bleu", "rouge-l", "cider-d", metric], tokenizer="ptb-each")
    for system in report.systems.values():
        for key in own:
            other = f"of-{key}" if name == "bleu" else f"of-{name}"
            assert list(system.segments[key]) == pytest.approx(list(system.segments[other]), abs=1e-12), key
        assert ("together" in system.signatures[f"of-{name}"]) == (name == "cider")


def test_torchmetrics():
    text = pytest.importorskip("torchmetrics.text")
    metric = adapters.from_torchmetrics(text.WordErrorRate())
    found = segments(metric)["torchmetrics-word-error-rate"]
    from torchmetrics.functional.text import chrf_score, word_error_rate

    assert found == reduced(lambda caption, reference: word_error_rate([caption], [reference]).item(), min)
    assert max(found) > 1
    for sentence in (False, True):
        metric = adapters.from_torchmetrics(text.CHRFScore(return_sentence_level_score=sentence), name="chrf-of-them")
        assert segments(metric)["chrf-of-them"] == [chrf_score([CANDIDATES[k]], [REFERENCES[k]]).item() for k in REFERENCES]
    with pytest.raises(ValueError, match="torchmetrics-word-info-preserved that lower scores are better, but"):
        adapters.from_torchmetrics(text.WordInfoPreserved())
    preserved = adapters.from_torchmetrics(text.WordInfoPreserved(), lower_is_better=False)
    assert (preserved.measures[0].min, preserved.measures[0].max) == (0, 1)
    rates = [text.TranslationEditRate(), text.ExtendedEditDistance(), text.EditDistance(), text.CharErrorRate()]
    assert not any(adapters.from_torchmetrics(rate).measures[0].higher_is_better for rate in rates)
    signature = capeval.score(REFERENCES, CANDIDATES, [preserved]).signatures["torchmetrics-word-info-preserved"]
    assert "|version:torchmetrics-" in signature


MODULE = '''
import datasets
import evaluate

class Shares(evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        features = datasets.Features({"predictions": string, "references": REFERENCES})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references, offset=0.0):
        exact = [offset + (caption in texts) for caption, texts in zip(predictions, references)]
        return {"shares": sum(exact) / len(exact), "each": exact, "hashcode": "x"}
'''


def test_evaluate(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    evaluate = pytest.importorskip("evaluate")
    path = tmp_path / "shares.py"
    path.write_text(MODULE.replace("REFERENCES", "[string]"))
    module = evaluate.load(str(path), cache_dir=str(tmp_path / "cache"))
    captions = {k: REFERENCES[k][-1] if k % 2 else "a dog" for k in REFERENCES}
    expected = [float(k % 2) for k in REFERENCES]
    with pytest.raises(ValueError, match="evaluate does not say whether higher scores by evaluate-shares are better; pass lower_is_better"):
        adapters.from_evaluate(module)
    metric = adapters.from_evaluate(module, lower_is_better=False, range=(0, 1))
    assert segments(metric, captions) == {"evaluate-shares": expected}
    shifted = adapters.from_evaluate(module, lower_is_better=False, keys="each", name="each", arguments={"offset": 1.0})
    assert segments(shifted, captions) == {"each": [1 + score for score in expected]}
    with pytest.raises(ValueError, match="gives no number 'hashcode' of each caption, but 'shares', 'each'"):
        adapters.from_evaluate(module, lower_is_better=False, keys="hashcode")
    path = tmp_path / "texts.py"
    path.write_text(MODULE.replace('"references": REFERENCES', '"texts": string').replace("Shares", "Texts"))
    with pytest.raises(ValueError, match="the module takes predictions, texts, not predictions and references"):
        adapters.from_evaluate(evaluate.load(str(path), cache_dir=str(tmp_path / "cache")), lower_is_better=False)
    path = tmp_path / "one.py"
    path.write_text(MODULE.replace("REFERENCES", "string").replace("Shares", "One"))
    module = evaluate.load(str(path), cache_dir=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="evaluate-one gives 'shares', 'each', 'hashcode'; say which of them are measures, as in keys="):
        adapters.from_evaluate(module, lower_is_better=False)
    assert segments(adapters.from_evaluate(module, lower_is_better=False, keys="each"), captions)["evaluate-one"] == expected


def test_aac_metrics():
    pytest.importorskip("aac_metrics")
    from aac_metrics.classes.cider_d import CIDErD
    from aac_metrics.classes.rouge_l import ROUGEL

    metric = adapters.from_aac_metrics(ROUGEL(), tokenizer="ptb-each")
    assert (metric.name, metric.measures[0].max) == ("aac-metrics-rouge-l", 1.0)
    report = capeval.score(REFERENCES, CANDIDATES, ["rouge-l", metric], tokenizer="ptb-each")
    assert list(report.segments["rouge-l"]) == pytest.approx(list(report.segments["aac-metrics-rouge-l"]), abs=1e-12)
    metric = adapters.from_aac_metrics(CIDErD(), tokenizer="ptb-each")
    systems = {"a": CANDIDATES, "b": dict.fromkeys(REFERENCES, "A dog runs, again.")}
    report = capeval.score(REFERENCES, systems=systems, metrics=["cider-d", metric], tokenizer="ptb-each")
    for system in report.systems.values():
        assert list(system.segments["cider-d"]) == pytest.approx(list(system.segments["aac-metrics-cider-d"]), abs=1e-9)
        assert "together" in system.signatures["aac-metrics-cider-d"]


def test_pycocoevalcap():
    pytest.importorskip("pycocoevalcap.rouge.rouge")
    import pycocoevalcap.bleu.bleu
    import pycocoevalcap.cider.cider
    import pycocoevalcap.rouge.rouge

    scorers = [pycocoevalcap.bleu.bleu.Bleu(4), pycocoevalcap.cider.cider.Cider(), pycocoevalcap.rouge.rouge.Rouge()]
    metrics = [adapters.from_pycocoevalcap(scorer) for scorer in scorers]
    systems = {"a": CANDIDATES, "b": dict.fromkeys(REFERENCES, "A dog runs, again.")}
    report = capeval.score(REFERENCES, systems=systems, metrics=["bleu", "cider-d", "rouge-l", *metrics], tokenizer="ptb-each")
    for system in report.systems.values():
        for mine, other in [("bleu-1", "bleu-1"), ("bleu-4", "bleu-4"), ("cider-d", "cider"), ("rouge-l", "rouge")]:
            assert list(system.segments[mine]) == list(system.segments[f"pycocoevalcap-{other}"]), mine


def test_scores_are_kept_if_a_version_is_given(tmp_path):
    counts = []

    class Counting(Protocol):
        def compute(self):
            counts.append(len(self.rows))
            return super().compute()

    def asked(**options):
        metric = adapters.from_torchmetrics(Counting(), **options)
        counts.clear()
        capeval.score(REFERENCES, CANDIDATES, [metric], score_cache=tmp_path)
        return len(counts)

    assert asked() == asked() > 0, "of the settings of an object, nothing is known"
    assert asked(version="1") > 0 == asked(version="1")
