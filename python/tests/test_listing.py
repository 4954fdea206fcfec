"""The lists of metrics, suites and tokenizers."""

from __future__ import annotations

import pytest

import capeval


def test_metrics_are_described():
    metrics = {metric["name"]: metric for metric in capeval.metrics()}
    cider = metrics["cider-d"]
    assert cider["keys"] == ["cider-d"] and cider["max"] == 10 and cider["settings"]["sigma"][0] == "6"
    assert metrics["ter"]["higher_is_better"] is False
    assert metrics["meteor"]["needs"] == "METEOR's resources"


def test_suites_hold_metrics():
    assert "cider-d" in capeval.suites()["coco"]


def test_tokenizers_cut():
    assert "ptb" in capeval.tokenizers()
    assert capeval.tokenize("It's 5 p.m.") == ["it", "'s", "5", "p.m."]
    assert capeval.tokenize(["A cat.", ""]) == [["a", "cat"], []]
    assert capeval.tokenize("Hi, you", "13a") == ["Hi", ",", "you"]
    with pytest.raises(ValueError, match="tokenizer"):
        capeval.tokenize("a", "nope")
