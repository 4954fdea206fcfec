"""Scores that someone else computed: every form of `scores=`, and what is refused."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import capeval
import numpy as np
import pytest

REFERENCES = {1: ["a dog runs", "the dog runs"], 2: ["a kite flies", "the kite"], 3: ["a red train", "a train"]}
MINE = {1: "a dog", 2: "a kite flies", 3: "the red train"}
YOURS = {1: "a dog runs", 2: "the bus", 3: "a train"}
CLIP = {1: 0.5, 2: 0.25, 3: 0.75}


def test_scores_alone_are_measures() -> None:
    report = capeval.score(scores={key: {"clip": value, "wer": value} for key, value in CLIP.items()}, lower_is_better="wer", intervals=True, resamples=50)
    assert report["clip"] == 0.5
    assert report.measures["wer"].higher_is_better is False
    assert list(report.segments["clip"]) == [0.5, 0.25, 0.75]
    assert report.signatures["clip"].startswith("given|measure:clip|file:")


def test_every_form_gives_the_same_scores(tmp_path: Path) -> None:
    named = {key: {"clip": value} for key, value in CLIP.items()}
    rows = [{"image_id": key, "clip": value} for key, value in CLIP.items()]
    table = tmp_path / "clip.csv"
    table.write_text("image_id,clip\n" + "".join(f"{key},{value}\n" for key, value in CLIP.items()))
    array = tmp_path / "clip.npy"
    np.save(array, np.array(list(CLIP.values())))
    about = capeval.Measure("clip")
    forms: list[Any] = [
        named,
        {"per_item": named},
        {"mine": named},
        rows,
        table,
        str(table),
        capeval.Scores(CLIP, measures=about),
        capeval.Scores(np.array(list(CLIP.values()), dtype=np.float32), measures=about, ids=list(CLIP)),
        capeval.Scores(array, measures=about, ids=list(CLIP)),
        capeval.Scores({key: np.float64(value) for key, value in CLIP.items()}, "mine", measures=[about]),
    ]
    pandas = pytest.importorskip("pandas")
    forms.append(pandas.DataFrame(rows))
    signatures = set()
    for scores in forms:
        report = capeval.score(scores=scores)
        assert report["clip"] == 0.5, scores
        signatures.add(report.signatures["clip"])
    assert len(signatures) == 1, signatures


def test_metrics_and_scores_are_one_report_and_one_test(tmp_path: Path) -> None:
    systems = {"mine": MINE, "yours": YOURS}
    whole = capeval.compare(REFERENCES, systems, "cider-d,rouge-l", resamples=100)
    path = tmp_path / "segments.jsonl"
    report = capeval.score(REFERENCES, systems=systems, metrics="rouge-l")
    rows = []
    for name in systems:
        own = report.systems[name]
        rows += [{"system": name, "image_id": key, "rouge-l": value} for key, value in zip(MINE, own.segments["rouge-l"].tolist())]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    joined = capeval.compare(REFERENCES, systems, "cider-d", scores=path, resamples=100)
    for measure in ("cider-d", "rouge-l"):
        assert whole["yours", measure] == joined["yours", measure]
    alone = capeval.compare(scores=rows, resamples=100)
    assert alone["yours", "rouge-l"].interval == whole["yours", "rouge-l"].interval


def test_a_measure_has_the_direction_and_range_that_are_given() -> None:
    about = capeval.Measure("clip", (0, 2.5), lower_is_better=True)
    report = capeval.score(scores=capeval.Scores(CLIP, measures=about))
    assert report.measures["clip"] == about
    assert pickle.loads(pickle.dumps(about)) == about
    assert all(notice.code != "direction-assumed" for notice in report.notices)
    assert capeval.Measure("x")[3:] == (-math.inf, math.inf)


def test_scores_are_correlated_and_preferred_beside_metrics() -> None:
    ratings = [{"image_id": key, "caption": text, "rating": key} for key, text in MINE.items()]
    found = capeval.correlate(ratings, REFERENCES, "rouge-l", scores=CLIP)
    assert set(found) == {"rouge-l", "score"}
    alone = capeval.correlate(ratings, scores=CLIP)
    assert alone["score"] == found["score"]
    pairs = [{"image_id": 1, "captions": ["a dog", "a bus"], "winner": "a", "references": ["a dog"]}]
    captions = [{"image_id": 1, "caption": "a dog", "clip": 1}, {"image_id": 1, "caption": "a bus", "clip": 0}]
    preferred = capeval.prefer(pairs, metrics="rouge-l", scores=captions)
    assert preferred.to_dict()["accuracies"]["clip"]["mean"] == 1.0


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({1: 0.5, 2: 0.25}, "1 of 3 images in references has no score by score: 3; pass missing=\"skip\""),
        ({1: 0.5, 2: None, 3: 1}, "no score by score but NaN: 2"),
        ({**CLIP, 9: 1}, "has no reference in references: 9"),
        ({1: "high", 2: 1, 3: 1}, "the score by score is \"high\", not a number"),
        ({1: math.inf, 2: 1, 3: 1}, "is inf, which is not a finite number"),
        ([0.5, 0.25], "2 numbers without ids"),
        (capeval.Scores([0.5], ids=[1, 2]), "there are 1 numbers, and 2 ids"),
        (capeval.Scores(CLIP, "yours"), "scores has scores of yours, and the captions are of candidates"),
        (capeval.Scores(CLIP, measures=capeval.Measure("score", (0, 0.5))), "outside of its range from 0 to 0.5"),
        ({key: {"rouge-l": 1} for key in CLIP}, "rouge-l is both computed and given"),
        ({}, "there are no scores"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(scores: Any, words: str) -> None:
    with pytest.raises(ValueError) as refused:
        capeval.score(REFERENCES, MINE, "rouge-l", scores=scores)
    assert words in str(refused.value)


def test_metrics_need_captions() -> None:
    with pytest.raises(ValueError, match="metrics need captions and references, and there are only scores"):
        capeval.score(scores=CLIP, metrics="bleu")
    with pytest.raises(ValueError, match="captions are compared with references"):
        capeval.score(None, MINE, scores=CLIP)
    with pytest.raises(TypeError, match="capeval.Measure"):
        capeval.Scores(CLIP, measures=["clip"])  # type: ignore[list-item]
