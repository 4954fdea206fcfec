"""Files and texts as people write them, from testdata/kinds: read right, refused with a remedy that works, or noted."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import capeval
from conftest import ROOT

if sys.version_info < (3, 11):
    pytest.skip("tomllib comes with Python 3.11", allow_module_level=True)

import tomllib

KINDS = ROOT / "testdata" / "kinds"


def load(name: str) -> dict[str, Any]:
    path = KINDS / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {"captions": {}, "kind": []}


SHAPES, TEXTS = load("shapes"), load("texts")
FILES = {kind["name"]: kind.get("files", {}) for kind in SHAPES["kind"]}


def content(text: str | dict[str, Any]) -> bytes:
    if isinstance(text, str):
        return text.encode()
    ((how, inner),) = text.items()
    if how == "gzip":
        return gzip.compress(inner.encode())
    if how != "zip":
        return inner.encode({"utf16": "utf-16-le", "bytes": "latin-1"}[how])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for name, member in inner.items():
            members.writestr(name, member)
    return archive.getvalue()


def keyword(flag: str) -> str:
    """The keyword of a flag."""
    name = flag.removeprefix("--").replace("-", "_")
    return "ref_caption_columns" if name == "ref_caption_column" else name


def keywords(args: list[str]) -> dict[str, Any]:
    """The arguments of `score` that `capeval score ARGS` stands for."""
    found: dict[str, Any] = {"metrics": ["bleu", "rouge-l", "cider-d"]}
    rest = iter(args)
    for arg in rest:
        if arg == "-r":
            found["references"] = next(rest)
        elif arg.startswith("--"):
            value, name = next(rest), keyword(arg)
            found[name] = [*found.get(name, []), value] if name == "ref_caption_columns" else value
        else:
            found["candidates"] = arg
    return found


def in_python(word: str) -> str:
    """What Python says where the command line says `word`."""
    flag, _, value = word.partition(" ")
    if not flag.startswith("--"):
        return word
    return f'{keyword(flag)}="{value}"' if value else f"{keyword(flag)}="


def score(options: dict[str, Any]) -> capeval.Report | str:
    """A report, or the words of a refusal."""
    try:
        return capeval.score(**options)
    except (ValueError, TypeError) as error:
        return str(error)


def expect(report: capeval.Report | str, values: dict[str, float]) -> capeval.Report:
    assert not isinstance(report, str), f"it is refused: {report}"
    assert {key: report[key] for key in values} == pytest.approx(values, abs=1e-9), report.notices
    return report


def check_shape(kind: dict[str, Any], folder: Path) -> None:
    files = FILES[kind.get("files_of", kind["name"])]
    for name, text in files.items():
        (folder / name).write_bytes(content(text))
    values = SHAPES["captions"][kind["captions"]]["values"]

    def run(args: list[str]) -> capeval.Report | str:
        return score(keywords([str(folder / arg) if arg in files else arg for arg in args]))

    found = run(kind["args"])
    if "refused" not in kind or (kind.get("may_read") and not isinstance(found, str)):
        codes = {notice.code for notice in expect(found, values).notices}
        assert codes >= set(kind.get("noted", []))
        return
    assert isinstance(found, str), "it is not refused"
    for word in kind["refused"]:
        assert in_python(word) in found
    if "remedy" in kind:
        expect(run(kind["args"] + kind["remedy"]), values)


def check_text(kind: dict[str, Any], folder: Path) -> None:
    captions = SHAPES["captions"]["two"]
    options = {
        "references": dict(enumerate(kind.get("references", captions["references"]))),
        "candidates": dict(enumerate(kind["captions"])),
        "metrics": ["bleu", "rouge-l", "cider-d"],
    }
    found = score(options)
    said = [found] if isinstance(found, str) else [f"{notice.code}: {notice.message}" for notice in found.notices]
    wanted = kind["finding"] + kind.get("words", [])
    assert any(word in line for word in wanted for line in said) if wanted else not said, said
    if "clean" in kind:
        expect(score({**options, "clean": kind["clean"]}), captions["values"])


def check(kind: dict[str, Any], folder: Path, how: Any) -> None:
    if not kind.get("open"):
        how(kind, folder)
        return
    with pytest.raises(AssertionError):
        how(kind, folder)
        pytest.fail("is right: remove the mark `open`")


@pytest.mark.parametrize("kind", SHAPES["kind"], ids=lambda kind: kind["name"])
def test_files_are_read_right_or_refused_with_a_remedy_that_works(kind: dict[str, Any], tmp_path: Path) -> None:
    check(kind, tmp_path, check_shape)


@pytest.mark.parametrize("kind", TEXTS["kind"], ids=lambda kind: kind["name"])
def test_texts_that_are_no_captions_are_named(kind: dict[str, Any], tmp_path: Path) -> None:
    check(kind, tmp_path, check_text)
