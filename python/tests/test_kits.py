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
    assert sorted(kit["name"] for kit in capeval.kits()) == sorted(SAMPLES) == sorted(GOLDEN)


@pytest.mark.filterwarnings("ignore::capeval.CaptionWarning")
@pytest.mark.parametrize("kit", SAMPLES)
def test_a_kit_gives_the_scores_of_its_program(kit: str) -> None:
    options: dict[str, Any] = {"ref_caption_columns": SAMPLES[kit].get("ref-caption-column")}
    try:
        report = capeval.score(*files(kit), kit=kit, **options)
    except FileNotFoundError as error:
        pytest.skip(f"data are not installed: {error}")
    for key, value in GOLDEN[kit].items():
        if key == "spice" and key not in report.measures:
            pytest.skip("SPICE's data are not installed")
        assert report[key] == pytest.approx(value, abs=1e-12, rel=0), key
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
