"""Kits: each gives its sample the scores of its field's program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import capeval
from conftest import ROOT

FOLDER = ROOT / "testdata/kits"
SAMPLES: dict[str, dict[str, str]] = json.loads((FOLDER / "samples.json").read_text(encoding="utf-8"))
GOLDEN: dict[str, dict[str, float]] = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))


def files(kit: str) -> tuple[str, str]:
    return str(FOLDER / SAMPLES[kit]["references"]), str(FOLDER / SAMPLES[kit]["candidates"])


def signature(report: capeval.Report) -> str:
    return next(iter(next(iter(report.systems.values())).signatures.values()))


def test_every_kit_has_a_sample() -> None:
    assert sorted(SAMPLES) == sorted(GOLDEN)
    assert {kit["name"] for kit in capeval.kits()} == {sample.get("kit", name) for name, sample in SAMPLES.items()}


@pytest.mark.filterwarnings("ignore::capeval.CaptionWarning")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_kit_gives_the_scores_of_its_program(name: str) -> None:
    sample = {key: value for key, value in SAMPLES[name].items() if key not in ("references", "candidates")}
    kit = sample.get("kit", name)
    keywords = {"ref-caption-column": "ref_caption_columns", "caption-column": "caption_column", "group-by": "groups"}
    options: dict[str, Any] = {keywords[key]: value for key, value in sample.items() if key in keywords}
    if "group-by" in sample:
        path = FOLDER / sample["group-by"]
        options["groups"] = str(path) if path.exists() else sample["group-by"]
    if "nltk-data" in sample:
        options["chair"] = capeval.Chair(nltk_data=FOLDER / sample["nltk-data"])
    try:
        report = capeval.score(*files(name), kit=kit, **options)
    except FileNotFoundError as error:
        pytest.skip(f"data are not installed: {error}")
    for key, value in GOLDEN[name].items():
        if key == "spice" and key not in report.measures:
            pytest.skip("SPICE's data are not installed")
        measure, _, group = key.partition("@")
        found = report[key] if not group else next(iter(report.groups.values()))[group]["candidates"][measure]
        assert found == pytest.approx(value, abs=1e-12, rel=0), key
    assert f"|kit:{kit}|" in signature(report)


def test_keywords_win_over_a_kit() -> None:
    report = capeval.score(*files("r2gen"), "rouge-l", kit="r2gen")
    assert "|tok:none|" in signature(report) and "|kit:r2gen|" in signature(report)
    report = capeval.score(*files("r2gen"), "rouge-l", kit="r2gen", tokenizer="13a")
    assert "|tok:13a|" in signature(report) and "kit:" not in signature(report)
    assert "kit-changed" in [notice.code for notice in report.notices]
    report = capeval.score(*files("mart"), "rouge-l", kit="mart", missing="skip")
    assert "kit:" not in signature(report)


def test_a_kit_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\nsummary = "x"\n[options]\nmetrics = ["bleu:n=2"]\n')
    report = capeval.score(*files("lmms-eval"), kit=mine)
    assert list(report.measures) == ["bleu-1", "bleu-2"] and "|kit:mine|" in signature(report)
    systems = {name: files("lmms-eval")[1] for name in "ab"}
    assert "|kit:mine|" in signature(capeval.compare(files("lmms-eval")[0], systems, kit=mine).report)
    mine.write_text('name = "mine"\nsummary = "x"\n[options]\nmetric = ["bleu:n=2"]\n')
    with pytest.raises(ValueError, match="line 4: a kit has no key 'metric'; did you mean metrics"):
        capeval.score(*files("lmms-eval"), kit=mine)
    with pytest.raises(ValueError, match="no kit is called 'viswiz'"):
        capeval.score(*files("lmms-eval"), kit="viswiz")


def test_keys_of_a_kit_are_keywords(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    head = 'name = "mine"\nsummary = "x"\n[options]\nmetrics = ["rouge-l"]\nmissing = "skip"\nsurplus = "ignore"\n'
    mine.write_text(f'{head}ref-drop = ["is_rejected"]\ngroup-by = ["references:count"]\nderive = ["half = rouge-l / 2"]\n')
    options: dict[str, Any] = {"missing": "skip", "surplus": "ignore"}
    by_kit = capeval.score(*files("vizwiz"), kit=mine)
    by_keywords = capeval.score(
        *files("vizwiz"), "rouge-l", ref_drop="is_rejected", groups="references:count", derive={"half": "rouge-l / 2"}, **options
    )
    assert by_kit["half"] == by_keywords["half"] == by_kit["rouge-l"] / 2
    assert len(by_kit.groups) == len(by_keywords.groups) == 1
    assert "|ref-drop:is_rejected|kit:mine|" in signature(by_kit) and "|ref-drop:is_rejected|" in signature(by_keywords)
    bare = capeval.score(*files("vizwiz"), kit=mine, groups=[])
    assert not bare.groups and "|kit:mine|" in signature(bare)
    assert "kit:" not in signature(capeval.score(*files("vizwiz"), kit=mine, ref_drop="none"))


def test_captions_in_memory_are_left_out_by_a_key() -> None:
    rows = [{"image_id": 1, "caption": "a dog", "lang": "en"}, {"image_id": 1, "caption": "ein Hund", "lang": "de"}]
    report = capeval.score(rows, {1: "a dog"}, "rouge-l", ref_drop="lang=de")
    assert "nrefs:1|ref-drop:lang=de|" in signature(report)
    with pytest.raises(ValueError, match="it has no key 'lnag' .* did you mean lang"):
        capeval.score(rows, {1: "a dog"}, "rouge-l", ref_drop="lnag=de")
    with pytest.raises(ValueError, match="no records with keys|no key"):
        capeval.score({1: ["a dog"]}, {1: "a dog"}, "rouge-l", ref_drop="lang=de")
