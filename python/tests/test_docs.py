"""The notebook and the examples run, and the reference has every name."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import capeval

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


def run_notebook(name):
    """What the cells of a notebook show."""
    book = ROOT / "examples" / "python" / name
    if not book.exists():
        pytest.skip("the notebook is not here; set CAPEVAL_ROOT to a checkout")
    json.loads(book.read_text(encoding="utf-8"))
    run = subprocess.run(
        [sys.executable, "-c", RUNNER, book], capture_output=True, text=True, check=False, cwd=book.parent
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_notebook_about_spark_runs():
    pytest.importorskip("pysail.spark")
    shown = run_notebook("spark.ipynb")
    for part in ("<table>", "worst image:", "DocumentFrequencies(", "('missing:skip', [-1])", "('surplus:ignore', [-2])"):
        assert part in shown, part


def test_the_tutorial_runs():
    printed = run_notebook("tutorial.ipynb")
    for shown in ("<table>", "worst image:", 'missing="skip"', "DocumentFrequencies(", "np.float64"):
        assert shown in printed, shown


def test_the_policy_of_the_example_learns():
    first, last = load(ROOT / "examples" / "python" / "grpo_reward.py").main()
    assert last > 2 * first


def test_the_reference_has_every_public_name_once():
    pages = ROOT / "docs" / "reference" / "python"
    if not pages.exists():
        pytest.skip("docs/reference/python is not here; set CAPEVAL_ROOT to a checkout")
    listed = [name for page in pages.glob("*.md") for name in re.findall("^::: (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)]
    assert len(listed) == len(set(listed)) and {"capeval", *(f"capeval.{name}" for name in capeval._MODULES if name[0] != "_")} <= set(listed)


def docstrings():
    """Every docstring of the package, by where it is."""
    folder = Path(capeval.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                place = f"{path.relative_to(folder).as_posix()} {getattr(node, 'name', '')}"
                yield place, ast.get_docstring(node) or ""


def examples():
    return [(place, block) for place, text in docstrings() for block in re.findall(r"^ *>>> .*(?:\n.+)*", text, re.MULTILINE)]


@pytest.mark.parametrize(("place", "block"), examples())
def test_each_example_of_the_reference_runs_alone(place, block):
    if "pyarrow" in block:
        pytest.importorskip("pyarrow")
    example = doctest.DocTestParser().get_doctest(block, {}, "example", place, 0)
    said = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(example, out=said.append)
    assert example.examples and not runner.failures, "".join(said)


def test_docstrings_have_no_tables_that_only_sphinx_draws():
    assert not [place for place, text in docstrings() if re.search(r"^(===|---\+|\+---)", text, re.MULTILINE)]


def test_pairs_of_pascal50s_keep_their_order_and_no_winner_is_dropped():
    line = load(ROOT / "scripts" / "pascal50s.py").line
    rows = [("r1", "a", "b", 1), ([["r2"]], "b", "a", [[1]]), ("r3", "a", "b", -1), ("r4", "a", "b", 0), ("r5", "b", "a", -1)]
    expected = {"image_id": "x.jpg", "captions": ["b", "a"], "category": "HI", "votes": [2.5, 2.5]}
    expected["references"] = ["r1", "r2", "r3", "r4", "r5"]
    assert line(0, rows, (("x.jpg", "b", "a"), 2)) == expected
    assert line(0, rows)["votes"] == [2.5, 2.5] and line(0, rows[:1])["votes"] == [1, 0]
    assert line(0, rows[:1], (("x.jpg", "b", "a"), 1))["votes"] == [0, 1]
    for wrong, words in [(("r", "a", "b", 2), "vote 2 .* the winner 2 is not"), (("r", "a", "c", 1), "vote 2 has other captions")]:
        with pytest.raises(ValueError, match=words):
            line(0, [rows[0], wrong])
    with pytest.raises(ValueError, match="the category 5"):
        line(0, rows, (("x.jpg", "b", "a"), 5))


def test_messages_name_arguments_and_their_choices():
    pairs = [{"image_id": 1, "captions": ["a", "b"], "votes": [1, 1]}]
    with pytest.raises(ValueError, match="pass references=….* or pass scores=…"):
        capeval.prefer(pairs, metrics="rouge-l")
    pairs = [{"image_id": 1, "captions": ["a", "b"], "votes": [1, 2], "references": ["a", "b"]}]
    notices = {notice.code: notice.message for notice in capeval.prefer(pairs, metrics="rouge-l", references_per_pair=1).notices}
    assert 'pass own_reference="remove" to draw no such reference, or own_reference="skip" to' in notices["own-reference:keep"]
