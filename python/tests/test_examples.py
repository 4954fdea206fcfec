"""The examples of trainers, evaluation kits and build servers run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import capeval

ROOT = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).resolve().parents[2])
EXAMPLES = ROOT / "examples"
QUICK = EXAMPLES / "quickstart"
TOGETHER = (["a dog runs", "two cats sleep"], [["a dog runs", "the dog ran"], ["two cats sleep", "cats sleep"]])

if not EXAMPLES.exists():
    pytest.skip("the examples are not here; set CAPEVAL_ROOT to a checkout", allow_module_level=True)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "needs"), [("lightning_validation", "lightning"), ("accelerate_scst", "accelerate"), ("trl_grpo", "trl")]
)
def test_a_tiny_model_learns(name, needs):
    pytest.importorskip(needs)
    before, after = load(EXAMPLES / "training" / f"{name}.py").main()
    assert after > before


def test_the_class_of_torchmetrics_gives_one_number():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchmetrics")
    metric = load(EXAMPLES / "training" / "torchmetrics_metric.py").CiderD()
    metric.update(*TOGETHER)
    captions, references = TOGETHER
    assert metric.compute() == torch.tensor(capeval.score(references, captions, "cider-d")["cider-d"])


def test_the_module_of_evaluate_computes(monkeypatch, tmp_path):
    pytest.importorskip("evaluate")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    captions, references = TOGETHER
    module = load(EXAMPLES / "evaluate" / "capeval_metric.py").Captions()
    found = module.compute(predictions=captions, references=references)
    assert found["cider-d"] == capeval.score(references, captions, "cider-d")["cider-d"]
    assert found["signatures"]["cider-d"].startswith("cider-d|n:4|")


def test_the_task_of_lmms_eval_scores_all_results_together():
    task = load(EXAMPLES / "evaluation-kits" / "lmms_eval" / "utils.py")
    captions, references = TOGETHER
    docs = [{"question_id": f"image_{k}", "answer": answers} for k, answers in enumerate(references)]
    rows = [task.process(doc, [caption]) for doc, caption in zip(docs, captions)]
    report = capeval.score(references, captions, "bleu,cider-d")
    assert task.cider_d([row["cider_d"] for row in rows]) == report["cider-d"]
    assert task.bleu_4([row["bleu_4"] for row in rows]) == report["bleu-4"]
    config = (EXAMPLES / "evaluation-kits" / "lmms_eval" / "capeval_coco.yaml").read_text(encoding="utf-8")
    for name in config.split("!function utils.")[1:]:
        assert callable(getattr(task, name.split()[0]))


def test_the_scores_of_vlmevalkit_have_its_keys():
    score = load(EXAMPLES / "evaluation-kits" / "vlmevalkit.py").caption_scores
    captions, references = TOGETHER
    found = score({"prediction": captions, "answer": [str(texts) for texts in references]})
    assert found["CIDEr"] == 100 * capeval.score(references, captions, "cider-d")["cider-d"] and len(found["Bleu"]) == 4


@pytest.mark.parametrize(("baseline", "candidate", "code"), [("weak", "good", 0), ("good", "weak", 1), ("good", "none", 2)])
def test_the_action_fails_where_a_system_got_worse(baseline, candidate, code, tmp_path):
    summary = tmp_path / "summary.md"
    files = {"REFERENCES": "references", "BASELINE": baseline, "CANDIDATE": candidate}
    variables = {key: str(QUICK / f"{name}.json") for key, name in files.items()}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        [EXAMPLES / "ci" / "compare.sh"], env={**os.environ, **variables, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == code, run.stderr
    assert ("CIDEr-D" in summary.read_text(encoding="utf-8")) == (code < 2)
