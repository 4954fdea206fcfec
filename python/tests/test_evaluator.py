"""`Evaluator`: the digits of `score`, from references read once."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import capeval
from capeval import _engine
from capeval.reward import Reward

METRICS = ["bleu", "rouge-l", "cider-d", "chrf"]


def test_an_evaluator_gives_the_digits_of_score(references, candidates, tmp_path):
    expected = capeval.score(references, candidates, METRICS)
    evaluator = capeval.Evaluator(references, METRICS)
    evaluator.save(tmp_path / "refs.capeval")
    loaded = capeval.Evaluator.load(tmp_path / "refs.capeval", METRICS)
    for one in (evaluator, loaded):
        assert one.ids == [1, 2, 3]
        report = one.score(candidates)
        assert report.scores == expected.scores and report.signatures == expected.signatures
        assert one.score(candidates, ["ter"]).scores == capeval.score(references, candidates, ["ter"]).scores
    both = evaluator.score(systems={"a": candidates, "b": {**candidates, 3: "a red bus"}})
    assert both.systems["a"].scores == expected.scores


def test_metrics_of_models_and_judges_are_given_what_they_need_by_the_calls(references, candidates):
    names = [metric["name"] for metric in _engine.metrics()]
    outside = [name for name in names if _engine.engine_names([name]) == []]
    assert {"clip-s", "chair", "judge"} <= set(outside)
    for name in outside:
        evaluator = capeval.Evaluator(references, [name, "rouge-l"])
        with pytest.raises(ValueError, match=name):
            evaluator.score(candidates)
    assert capeval.Evaluator(references, outside).ids == [1, 2, 3]


def test_a_file_of_something_else_is_refused(quickstart, tmp_path):
    with pytest.raises(ValueError, match="references.json"):
        capeval.Evaluator.load(quickstart / "references.json")
    with pytest.raises(FileNotFoundError):
        capeval.Evaluator.load(tmp_path / "none")


def test_an_evaluator_is_pickled_for_spawned_workers(references, candidates):
    evaluator = capeval.Evaluator(references, METRICS, settings={"n": 3})
    again = pickle.loads(pickle.dumps(evaluator))
    assert repr(again) == repr(evaluator) and again.ids == evaluator.ids
    assert again.score(candidates).to_dict() == evaluator.score(candidates).to_dict()
    data = bytearray(pickle.dumps(evaluator))
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        pickle.loads(bytes(data))


def test_a_call_adds_its_settings_to_those_of_the_evaluator(references, candidates):
    def signature(report):
        return report.signatures["cider-d"]

    of_settings = capeval.Evaluator(references, ["cider-d"], settings={"sigma": 4})
    assert "sigma:4" in signature(of_settings.score(candidates, idf="uniform"))
    assert "idf:uniform" in signature(of_settings.score(candidates, idf="uniform"))
    of_idf = capeval.Evaluator(references, ["cider-d"], idf="uniform")
    assert "idf:uniform" in signature(of_idf.score(candidates, settings={"sigma": 4}))
    assert "sigma:3" in signature(of_settings.score(candidates, settings={"sigma": 3}))
    assert "idf" not in of_idf.score(candidates, ["bleu"]).signatures["bleu"], "which has no such setting"


TABLE = capeval.DocumentFrequencies.build({7: ["a dog", "a cat"], 8: ["a red bus"], 9: ["two dogs"]})
CHOICES = {
    "suite": "rouge-score",
    "tokenizer": "13a",
    "settings": {"sigma": 4},
    "idf": "uniform",
    "document_frequencies": TABLE,
    "ids": "text",
}
"""What changes the scores of calls."""

READING = {
    "ref_format": "csv",
    "ref_id_column": "key",
    "ref_caption_columns": "said",
    "ref_drop": "bad",
    "split": "test",
    "spice_cache": "none",
    "threads": 1,
}
"""What changes how references are read."""


def known(evaluator, candidates):
    report = evaluator.score(candidates)
    return report.scores, report.signatures, repr(evaluator)


def kept(evaluator, tmp_path):
    """The evaluator from a file, and from a pickle."""
    evaluator.save(tmp_path / "kept.capeval")
    loaded = capeval.Evaluator.load(tmp_path / "kept.capeval")
    loaded.save(tmp_path / "again.capeval")
    assert (tmp_path / "again.capeval").read_bytes() == (tmp_path / "kept.capeval").read_bytes()
    return loaded, pickle.loads(pickle.dumps(evaluator)), pickle.loads(pickle.dumps(loaded))


@pytest.mark.parametrize("key", CHOICES)
def test_what_an_evaluator_was_made_with_is_kept(references, candidates, tmp_path, key):
    plain = capeval.Evaluator(references, ["cider-d"])
    evaluator = capeval.Evaluator(references, ["cider-d"], **{key: CHOICES[key]})
    if key == "ids":
        candidates = {str(key): caption for key, caption in candidates.items()}
        with pytest.raises(ValueError, match='pass ids="text"'):
            plain.score(candidates)
    else:
        assert known(evaluator, candidates) != known(plain, candidates)
    for one in kept(evaluator, tmp_path):
        assert known(one, candidates) == known(evaluator, candidates)


def test_references_that_were_read_are_kept(candidates, tmp_path):
    table = tmp_path / "references.csv"
    table.write_text("key,said,bad\n1,a dog runs,false\n1,a cat,true\n2,two cats,false\n3,a bus,false\n")
    images = [{"split": "test", "cocoid": key, "sentences": [{"raw": "a dog runs"}]} for key in (1, 2, 3)]
    karpathy = {"images": [*images, {"split": "train", "cocoid": 4, "sentences": [{"raw": "a cat"}]}]}
    of_table = {key: value for key, value in READING.items() if key != "split"}
    for source, options in [(table, of_table), (karpathy, {"split": READING["split"]})]:
        evaluator = capeval.Evaluator(source, METRICS, **options)
        for one in (evaluator, *kept(evaluator, tmp_path)):
            assert one.ids == [1, 2, 3] and known(one, candidates) == known(evaluator, candidates)
    # `clean` has a test of its own below.
    options = set(capeval.options.EvaluatorOptions.__annotations__)
    assert {*CHOICES, *READING, "clean"} == options, "an option without a test"


def test_what_is_given_to_load_comes_before_what_was_saved(references, candidates, tmp_path):
    capeval.Evaluator(references, ["cider-d"], settings={"sigma": 4}, idf="uniform").save(tmp_path / "file")
    loaded = capeval.Evaluator.load(tmp_path / "file", ["cider-d", "rouge-l"], settings={"sigma": 5})
    report = loaded.score(candidates)
    assert "rouge-l" in report.scores
    assert "sigma:5" in report.signatures["cider-d"] and "idf:uniform" in report.signatures["cider-d"]


def test_functions_are_given_to_load_again(references, candidates, tmp_path):
    length = capeval.metric("length", lambda candidates, references: [len(text) for text in candidates])
    evaluator = capeval.Evaluator(references, ["rouge-l", length])
    evaluator.save(tmp_path / "file")
    with pytest.raises(ValueError, match="file was made for the function length, which no file can hold; pass metrics="):
        capeval.Evaluator.load(tmp_path / "file")
    for metrics in (["rouge-l", length], "rouge-l"):
        loaded = capeval.Evaluator.load(tmp_path / "file", metrics)
        assert loaded.score(candidates).scores == capeval.score(references, candidates, metrics).scores


def test_prepared_references_of_the_command_line_keep_their_metrics_and_ids(references, candidates, tmp_path):
    (tmp_path / "references.json").write_text(json.dumps({str(key): texts for key, texts in references.items()}))
    command = [sys.executable, "-m", "capeval", "prepare", "references.json", "-m", "cider-d:sigma=4", "--ids", "text"]
    subprocess.run([*command, "-o", "file"], check=True, cwd=tmp_path)
    report = capeval.Evaluator.load(tmp_path / "file").score(candidates)
    assert list(report.scores) == ["cider-d"] and "sigma:4" in report.signatures["cider-d"]


def test_ids_and_settings_of_an_evaluator_hold_wherever_it_stands(references, candidates, tmp_path):
    by_text = {str(key): caption for key, caption in candidates.items()}
    evaluator = capeval.Evaluator(references, "cider-d", settings={"sigma": 4}, ids="text", document_frequencies=TABLE)
    expected = evaluator.score(by_text)
    assert capeval.score(evaluator, by_text).scores == expected.scores
    assert [one.id for one in capeval.explain(evaluator, by_text, images="1")] == [1]
    compared = capeval.compare(evaluator, {"a": by_text, "b": by_text})
    assert compared.report.systems["a"].scores == expected.scores
    assert capeval.diversity({key: [text, "a cat"] for key, text in by_text.items()}, evaluator, "self-cider").scores
    evaluator.save(tmp_path / "file")
    for ground in (evaluator, tmp_path / "file"):
        reward = Reward(ground, {"cider-d": 1.0}, dtype="float64")
        assert "sigma:4" in reward.signatures["cider-d"] and TABLE.fingerprint in reward.signatures["cider-d"]
        assert reward.score(list(by_text), list(by_text.values())).shape == (3,)


def test_references_are_cleaned_once_and_captions_as_they_were(references, candidates, tmp_path):
    marked = {id: [f"<s> {text} </s>" for text in texts] for id, texts in references.items()}
    expected = capeval.score(marked, candidates, METRICS, clean="special-tokens")
    evaluator = capeval.Evaluator(marked, METRICS, clean="special-tokens")
    evaluator.save(tmp_path / "refs.capeval")
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator)), capeval.Evaluator.load(tmp_path / "refs.capeval")):
        for more in ({}, {"clean": ["special-tokens"]}):
            report = one.score(candidates, **more)
            assert (report.scores, report.signatures) == (expected.scores, expected.signatures)
        with pytest.raises(ValueError, match=r'call capeval.Evaluator\(…, clean=\["quotes"\]\), or pass clean="special-tokens"'):
            one.score(candidates, clean="quotes")
