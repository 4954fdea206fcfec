"""Keywords: each is told once, and functions, editors and `help` know all of them."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import capeval
from capeval import _keywords, options, spark
from capeval.arrow import RowScorer
from capeval.reward import Bleu, CiderD, Meteor, Reward, RougeL
from capeval.streaming import CaptionMetric

FUNCTIONS = {
    capeval.score: options.ScoreOptions,
    capeval.explain: options.ExplainOptions,
    capeval.compare: options.CompareOptions,
    capeval.correlate: options.CorrelateOptions,
    capeval.prefer: options.PreferOptions,
    capeval.meta.run: options.RunOptions,
    capeval.diversity: options.DiversityOptions,
    capeval.submit: options.SubmitOptions,
    capeval.Evaluator: options.EvaluatorOptions,
    capeval.Evaluator.load: options.LoadOptions,
    capeval.Evaluator.score: options.EvaluatorScoreOptions,
    capeval.DocumentFrequencies.build: options.FrequencyOptions,
    CaptionMetric: options.StreamOptions,
    RowScorer: options.RowOptions,
    spark.evaluate: options.TableOptions,
    spark.score: options.TableScoreOptions,
    Reward: options.RewardOptions,
    CiderD: options.RewardOptions,
    Bleu: options.RewardOptions,
    RougeL: options.RewardOptions,
    Meteor: options.RewardOptions,
}

ALL = pytest.mark.parametrize(("function", "kind"), FUNCTIONS.items(), ids=[kind.__qualname__ for kind in FUNCTIONS])


def undecorated(function):
    """The function as it is written."""
    code = function.__init__ if inspect.isclass(function) else function
    return inspect.unwrap(getattr(code, "__func__", code))


@ALL
def test_functions_know_the_keywords_of_their_type(function, kind):
    assert undecorated(function).__annotations__["options"] == f"Unpack[{kind.__name__}]"
    parameters = inspect.signature(function).parameters
    known = [name for name, one in parameters.items() if isinstance(one, _keywords.Option)]
    assert known == list(kind.__annotations__)
    assert all(parameters[name].annotation != "Any" for name in known)
    told = (function.__init__ if inspect.isclass(function) else function).__doc__
    assert all(f"\n    {name}" in told for name in known)


@ALL
def test_a_keyword_that_a_function_does_not_take_is_refused_by_name(function, kind):
    arguments = {one.name: None for one in inspect.signature(function).parameters.values() if one.default is one.empty}
    name = function.__qualname__
    for key in kind.__annotations__:
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword '{key}x'; did you mean '{key}'\?$"):
            function(**arguments, **{f"{key}x": None})
    for key in options.DEFAULTS.keys() - inspect.signature(function).parameters.keys():
        words = r"(, which .*\w+ takes?|; did you mean '\w+'\?)$"
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword '{key}'{words}"):
            function(**arguments, **{key: None})


def test_messages_about_keywords():
    with pytest.raises(TypeError) as found:
        capeval.score({}, {}, tokeniser="ptb")
    assert str(found.value) == "score() got an unexpected keyword 'tokeniser'; did you mean 'tokenizer'?"
    with pytest.raises(TypeError) as found:
        capeval.score({}, {}, level=0.9)
    assert str(found.value) == "score() got an unexpected keyword 'level', which capeval.compare, capeval.meta.run take"
    with pytest.raises(TypeError) as found:
        capeval.score({}, {}, candidate={})
    assert str(found.value) == "score() got an unexpected keyword 'candidate'; did you mean 'candidates'?"
    with pytest.raises(TypeError, match=r"^score\(\) got an unexpected keyword 'xyz'$"):
        capeval.score({}, {}, xyz=1)
    with pytest.raises(TypeError, match="explain.. missing 1 required keyword-only argument: 'images'"):
        capeval.explain({}, {})


def test_every_keyword_is_explained_and_every_default_is_one_of_a_keyword():
    keys = set()
    for name, kind in vars(options).items():
        if hasattr(kind, "__total__"):
            told = {key: doc for docs in _keywords._by_theme(kind).values() for key, doc in docs.items()}
            assert told.keys() == kind.__annotations__.keys(), name
            assert all(doc[0].isupper() or doc[0] == "`" for doc in told.values())
            keys |= told.keys()
    assert options.DEFAULTS.keys() < keys and set(_keywords._FIRST) < keys


def test_types_of_functions_are_told_in_their_docstrings():
    of_functions = [kind for name, kind in vars(options).items() if name.endswith("Options")]
    owners = [owner for kind in of_functions for owner in _keywords._owner(kind)]
    assert len(owners) == len(of_functions) == len(set(owners))
    assert {"capeval.score", "capeval.Evaluator.load", "capeval.meta.run"} < set(owners)


def test_no_keyword_of_a_theme_is_told_again_in_a_docstring():
    for function in FUNCTIONS:
        text = inspect.cleandoc(undecorated(function).__doc__)
        assert not [key for key in FUNCTIONS[function].__annotations__ if f"\n    {key}: " in text], function


def test_the_first_screen_of_help_is_for_people():
    text = pydoc.plain(pydoc.render_doc(capeval.score, "%s"))
    screen = text.splitlines()[:40]
    assert screen[2].startswith("score(references=None, candidates=None, metrics=None, **options)")
    assert "    Scores captions against references" in screen[3]
    assert any(line.strip().startswith(">>> report = capeval.score(") for line in screen)
    place = next(k for k, line in enumerate(screen) if "Keywords that people use first" in line)
    first = [line.split(":")[0].strip() for line in screen[place + 1 : place + 11]]
    assert first == list(_keywords._FIRST)
    assert all(len(line) <= 140 for line in screen[place:])
    assert str(inspect.signature(capeval.score)) == "(references=None, candidates=None, metrics=None, **options)"
    assert "missing='error': What to do about images without a candidate:\n" in text


def test_signatures_bind_all_keywords():
    signature = inspect.signature(capeval.Evaluator.score)
    assert "self" in signature.parameters and signature.parameters["seed"].default == 12_345
    assert inspect.signature(capeval.meta.run).parameters["resamples"].default == 1_000
    bound = inspect.signature(capeval.Evaluator({1: ["a"]}).score).bind({1: "a"}, seed=1)
    assert bound.arguments == {"candidates": {1: "a"}, "seed": 1}
    with pytest.raises(TypeError, match="unexpected keyword argument 'sed'"):
        signature.bind(None, sed=1)


def test_without_its_source_the_package_works_and_help_is_shorter(monkeypatch):
    def fails(_):
        raise OSError("could not get source code")

    monkeypatch.setattr(inspect, "getsource", fails)
    _keywords._types.cache_clear()
    try:
        again = _keywords.takes(options.ScoreOptions)(inspect.unwrap(capeval.score))
        assert "Keywords that people" not in again.__doc__ and "Raises:" in again.__doc__
        assert again({1: ["a"]}, {1: "a"}, "rouge-l")["rouge-l"] == 1.0
    finally:
        _keywords._types.cache_clear()


def test_type_checkers_know_the_keywords(tmp_path):
    """Of each wrong call in `typed.py` mypy complains, and it would if it were right."""
    pytest.importorskip("mypy")
    program = Path(__file__).with_name("typed.py")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.10", str(program)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
