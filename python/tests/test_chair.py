"""CHAIR: which objects captions mention, and which of them are not in the image."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import capeval

DATA = Path(__file__).resolve().parents[2] / "testdata" / "chair"
REFERENCES = {1: ["a dog and a man"], 2: ["nothing"], 3: ["a bird"]}
CAPTIONS = {1: "two dogs and a horse", 2: "a puppy", 3: "green"}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="testdata/chair is not here")


def test_scores_are_quotients_of_sums(tmp_path: Path) -> None:
    instances = tmp_path / "instances.json"
    instances.write_text(json.dumps({"1": ["dog"], "2": ["cat", "car"]}))
    chair = capeval.Chair(objects=DATA / "objects.txt", instances=instances, nltk_data=DATA / "nltk_data")
    report = capeval.score(REFERENCES, CAPTIONS, metrics=["chair:words=pattern", "rouge-l"], chair=chair)
    keys = ["chair-i", "chair-s", "chair-recall", "chair-words"]
    assert [report[key] for key in keys] == [2 / 3, 2 / 3, 1 / 5, 8 / 3]
    assert report.signatures["chair"].startswith("chair|words:pattern|objects:")
    explained = capeval.explain(REFERENCES, CAPTIONS, ["chair:words=pattern"], images=[1], chair=chair)
    assert "horse" in str(explained[0])
    both = capeval.score(REFERENCES, CAPTIONS, metrics=["chair"], chair=capeval.Chair(DATA / "objects.txt", [instances], DATA / "nltk_data"))
    assert both.signatures["chair"].startswith("chair|words:wordnet|")


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none is named; pass chair=capeval.Chair\(objects=\"synonyms.txt\"\)"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["chair"])
    with pytest.raises(ValueError, match="only chair takes objects"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["bleu"], chair=capeval.Chair(DATA / "objects.txt"))
    with pytest.raises(ValueError, match="python -m nltk.downloader punkt_tab"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["chair"], chair=capeval.Chair(DATA / "objects.txt", nltk_data=tmp_path))
    with pytest.raises(TypeError, match="chair must be a capeval.Chair, not str"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["chair"], chair="synonyms.txt")  # type: ignore[arg-type]
    from capeval.arrow import RowScorer

    with pytest.raises(ValueError, match="chair reads instances of images"):
        RowScorer(["chair"])


def test_it_is_listed() -> None:
    listed = {metric["name"]: metric for metric in capeval.metrics()}
    assert listed["chair"]["keys"] == ["chair-i", "chair-s", "chair-recall", "chair-words"]
    assert not listed["chair"]["higher_is_better"] and listed["chair"]["settings"]["words"][0] == "wordnet"
