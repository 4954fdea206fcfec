"""What the pages of the documentation show runs, and prints what they say."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).resolve().parents[2])
SCRIPT = ROOT / "scripts" / "pages.py"

if not SCRIPT.exists():
    pytest.skip("the pages are not here; set CAPEVAL_ROOT to a checkout", allow_module_level=True)
spec = importlib.util.spec_from_file_location("pages", SCRIPT)
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.relative_to(pages.DOCS).as_posix())
def test_the_blocks_of_a_page_run(page):
    shown = pages.Page(page)
    problems = shown.run()
    assert not problems, "\n".join(problems)
    assert not (shown.left_out and os.environ.get("CI")), "CI has the data of METEOR and SPICE"


def test_each_fence_says_what_it_is():
    bare = [f"{page.name}:{block.line}" for page in pages.pages() for block in pages.blocks(page.read_text(encoding="utf-8")) if not block.language]
    assert not bare


def test_a_console_that_prints_something_else_is_found():
    assert pages.is_printed(["a", "…", "d"], ["a", "b", "c", "d"]) and pages.is_printed(["a", "…"], ["a"])
    assert not pages.is_printed(["a", "…", "d"], ["a", "b"]) and not pages.is_printed(["a"], ["a", "b"])
    assert pages.commands("$ one \\\n  two\nx\n$ three\n") == [("one \\\n  two", ["x"]), ("three", [])]
