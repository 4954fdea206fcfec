"""Explanations of single scores."""

import numpy as np
import pytest

import capeval

REFERENCES = {1: ["a dog runs along the beach", "a dog running"], "x": ["two cats sleep", "cats sleeping"]}
CANDIDATES = {1: "a dog runs", "x": "two cats"}


def test_the_roots_of_the_trees_are_the_scores_of_images():
    metrics = ["bleu", "rouge-l", "cider-d"]
    found = capeval.explain(REFERENCES, CANDIDATES, metrics, images=["x", 1])
    assert [(one.id, one.system, one.caption) for one in found] == [("x", "candidates", "two cats"), (1, "candidates", "a dog runs")]
    assert found[0].references == REFERENCES["x"]
    report = capeval.score(REFERENCES, CANDIDATES, metrics)
    for one in found:
        roots = [step.value for explanation in one.metrics.values() for step in explanation.scores]
        at = report.ids.index(one.id)
        np.testing.assert_allclose(roots, [scores[at] for scores in report.segments.values()], rtol=1e-12)


def test_a_tree_has_words_matches_and_text():
    (one,) = capeval.explain(REFERENCES, CANDIDATES, "rouge-l", images=1)
    explanation = one.metrics["rouge-l"]
    assert explanation.candidate == ["a", "dog", "runs"] and explanation.references[1] == ["a", "dog", "running"]

    def walk(step):
        yield step
        for part in step.parts:
            yield from walk(part)

    steps = [step for root in explanation.scores for step in walk(root)]
    matches = [match for step in steps for match in step.matches]
    assert any(match.candidate == [0, 1, 2] and match.references.get(0) == [0, 1, 2] for match in matches)
    assert any(step.formula for step in steps)
    assert str(one).startswith("image 1 · candidates\n  candidate    a dog runs\n")
    assert "ROUGE-L" in str(one) and "└─ " in str(one)
    assert repr(one) == "Explained('candidates', 1, 'a dog runs', metrics=['rouge-l'])"


def test_several_systems_and_prepared_references_are_explained():
    systems = {"a": CANDIDATES, "b": {1: "a cat", "x": "two dogs"}}
    evaluator = capeval.Evaluator(REFERENCES, "rouge-l")
    found = capeval.explain(evaluator, systems=systems, images=iter([1]))
    assert [(one.id, one.system) for one in found] == [(1, "a"), (1, "b")]


def test_an_image_that_was_not_scored_cannot_be_explained():
    with pytest.raises(ValueError, match="image 3 cannot be explained"):
        capeval.explain(REFERENCES, CANDIDATES, "rouge-l", images=3)


def test_explaining_reports_its_progress():
    told = []
    capeval.explain(REFERENCES, CANDIDATES, "rouge-l", images=1, progress=lambda *stage: told.append(stage))
    assert told and all(done <= total for _, done, total in told)
