"""Document frequencies: built, merged, saved, loaded, imported."""

from __future__ import annotations

import collections
import gzip
import pickle

import pytest

import capeval
from capeval import DocumentFrequencies


@pytest.fixture
def table(references):
    return DocumentFrequencies.build(references)


def test_images_are_counted_once_each(table):
    assert table.n_images == 3 and table.n == 4
    assert table["a"] == 3 and table["a dog"] == 1 and table[("red", "bus")] == 1 and table["unicorn"] == 0
    assert len(table) == len(table.to_dict())


def test_what_is_saved_comes_back(table, tmp_path):
    for format in ("capeval", "pickle"):
        path = tmp_path / format
        table.save(path, format=format)
        again = DocumentFrequencies.load(path)
        assert again.fingerprint == table.fingerprint and again.n_images == 3
    packed = tmp_path / "packed.p.gz"
    packed.write_bytes(gzip.compress((tmp_path / "pickle").read_bytes()))
    assert DocumentFrequencies.load(packed).fingerprint == table.fingerprint
    assert pickle.loads(pickle.dumps(table)).fingerprint == table.fingerprint


def test_pickles_of_the_python_programs_are_read(table, tmp_path):
    counts = collections.defaultdict(float, {ngram: float(n) for ngram, n in table.to_dict().items()})
    scst = tmp_path / "scst.p"
    scst.write_bytes(pickle.dumps({"document_frequency": counts, "ref_len": 3}, protocol=2))
    assert DocumentFrequencies.load(scst).fingerprint == table.fingerprint
    bare = tmp_path / "bare.p"
    bare.write_bytes(pickle.dumps(counts))
    with pytest.raises(ValueError, match="n_images"):
        DocumentFrequencies.load(bare)
    assert DocumentFrequencies.load(bare, n_images=3).fingerprint == table.fingerprint
    assert DocumentFrequencies.from_counts(counts, 3).fingerprint == table.fingerprint


def test_a_pickle_that_runs_code_is_refused(tmp_path):
    class Bad:
        def __reduce__(self):
            return (print, ("run",))

    path = tmp_path / "bad.p"
    path.write_bytes(pickle.dumps(Bad()))
    with pytest.raises(ValueError):
        DocumentFrequencies.load(path)


def test_tables_of_parts_merge_to_the_table_of_all(references, table):
    parts = [DocumentFrequencies.build({key: captions}) for key, captions in references.items()]
    assert parts[0].merge(*parts[1:]).fingerprint == table.fingerprint


def test_a_table_makes_scores_independent_of_the_other_images(references, candidates, table):
    whole = capeval.score(references, candidates, ["cider-d"], document_frequencies=table)
    one = capeval.score({2: references[2]}, {2: candidates[2]}, ["cider-d"], document_frequencies=table)
    assert one["cider-d"] == whole.segments["cider-d"][1] > 0
    assert table.fingerprint in one.signatures["cider-d"]


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        DocumentFrequencies.load(tmp_path / "none")
