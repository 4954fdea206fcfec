"""The notebook runs, the examples do what they say, the pages are up to date."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).resolve().parents[2])


def load(path):
    if not path.exists():
        pytest.skip(f"{path.name} is not here; set CAPEVAL_ROOT to a checkout")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = """
import ast, json, sys
book = json.load(open(sys.argv[1], encoding="utf-8"))
names = {"__name__": "__main__"}
for cell in book["cells"]:
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell["id"], "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
        print(getattr(shown, "_repr_html_", shown.__repr__)())
"""


def test_the_tutorial_runs():
    book = ROOT / "examples" / "python" / "tutorial.ipynb"
    if not book.exists():
        pytest.skip("the notebook is not here; set CAPEVAL_ROOT to a checkout")
    json.loads(book.read_text(encoding="utf-8"))
    run = subprocess.run(
        [sys.executable, "-c", RUNNER, book], capture_output=True, text=True, check=False, cwd=book.parent
    )
    assert run.returncode == 0, run.stderr
    for shown in ("<table>", "worst image:", 'missing="skip"', "DocumentFrequencies(", "np.float64"):
        assert shown in run.stdout, shown


def test_the_policy_of_the_example_learns():
    first, last = load(ROOT / "examples" / "python" / "grpo_reward.py").main()
    assert last > 2 * first


def test_the_api_page_is_up_to_date():
    docs = load(ROOT / "scripts" / "python_docs.py")
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page(), "run scripts/python_docs.py"
