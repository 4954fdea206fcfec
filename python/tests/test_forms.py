"""Captions in every form against references in every form: one value."""

from __future__ import annotations

import json
from typing import Any

import pytest

import capeval

WHO = ["dog", "woman", "red train", "surfer", "clock tower"]
WHERE = ["on the beach", "in a kitchen", "near a bridge", "under tall trees"]
IMAGES = [
    (f"im_{100 + 7 * k}", f"there is a {WHO[k % 5]} {WHERE[k % 4]}", [f"one {WHO[k % 5]} is {WHERE[k % 4]} today", f"the {WHO[k % 5]} waits"])
    for k in range(20)
]
FORMS = ["dictionary", "records", "json", "csv", "parquet", "pandas", "polars", "pyarrow", "duckdb"]


def columns(references: bool) -> dict[str, list[Any]]:
    """Columns of no known names."""
    return {"which": [row[0] for row in IMAGES], "people" if references else "said": [row[2 if references else 1] for row in IMAGES]}


def write(form: str, references: bool, folder: Any) -> Any:
    """The captions of all images in a form."""
    table = columns(references)
    path = folder / f"{'r' if references else 'c'}.{form}"
    rows = [dict(zip(table, values)) for values in zip(*table.values())]
    if form == "dictionary":
        return dict(zip(*table.values()))
    if form == "records":
        return rows
    if form == "json":
        path.write_text(json.dumps({"results": rows}), encoding="utf-8")
        return path
    if form == "csv":
        flat = pytest.importorskip("pandas").DataFrame(table)
        flat.to_csv(path, index=False)
        return path
    package = {"parquet": "pandas"}.get(form, form)
    library = pytest.importorskip(package)
    if form == "duckdb":
        frame = pytest.importorskip("pyarrow").table(table)
        return library.connect().from_arrow(frame)
    if form == "parquet":
        pytest.importorskip("pyarrow")
        library.DataFrame(table).to_parquet(path)
        return path
    return library.table(table) if form == "pyarrow" else library.DataFrame(table)


@pytest.mark.parametrize("there", FORMS)
@pytest.mark.parametrize("here", FORMS)
def test_every_form_is_read_beside_every_other(here: str, there: str, tmp_path: Any) -> None:
    plain = capeval.score({row[0]: row[2] for row in IMAGES}, {row[0]: row[1] for row in IMAGES}, ["bleu", "cider-d"])
    report = capeval.score(write(there, True, tmp_path), write(here, False, tmp_path), ["bleu", "cider-d"])
    assert {key: report[key] for key in plain.scores} == pytest.approx(dict(plain.scores), abs=1e-12)
