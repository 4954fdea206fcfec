"""Functions with many keywords: what these mean and what they are without being given is told once, in `options`."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from . import options

F = TypeVar("F", bound=Callable[..., Any])

_FIRST = (
    "systems",
    "missing",
    "intervals",
    "tokenizer",
    "ids",
    "kit",
    "groups",
    "gallery",
    "suite",
    "document_frequencies",
)
"""The keywords that people use first."""

_MANY = 15
"""The number of keywords from which on a docstring begins with those that people use first."""


def takes(kind: Any, **defaults: object) -> Callable[[F], F]:
    """Makes a function with ``**options: Unpack[kind]`` one that refuses other keywords and knows the defaults of these,
    or its own `defaults`; its signature and docstring tell all of them.
    """

    def decorate(function: F) -> F:
        known = {key: defaults.get(key, options.DEFAULTS.get(key)) for key in kind.__annotations__}
        own = inspect.signature(function)
        parameters = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        names = {*known, *(one.name for one in parameters)}

        @functools.wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            for name in given.keys() - names:
                raise TypeError(_unexpected(function, name, names))
            if given.get("kit") is not None:
                # The site reads keywords where there is no engine, which kits need.
                from . import _kits

                given = {**dict(zip((one.name for one in parameters), arguments)), **given, "kit": _kits.read(given["kit"])}
                given.update(_kits.keywords(given["kit"], given))
                return function(**{**known, **given})
            return function(*arguments, **{**known, **given})

        told = [Option(key, Option.KEYWORD_ONLY, default=known[key], annotation=_written(kind, key)) for key in known]
        shown = Signature([*parameters, *told], return_annotation=own.return_annotation)
        call.__signature__ = shown  # type: ignore[attr-defined]
        if function.__doc__ is not None:
            call.__doc__ = _docstring(inspect.cleandoc(function.__doc__), kind, known)
        return cast(F, call)

    return decorate


def only(given: Mapping[str, Any], *themes: Any) -> dict[str, Any]:
    """Those of the keywords that belong to themes."""
    return {key: given[key] for theme in themes for key in theme.__annotations__}


class Option(inspect.Parameter):
    """A keyword that is told in a theme."""


class Signature(inspect.Signature):
    """The signature of a function with many keywords, which a printed one abbreviates, since the docstring lists them."""

    def _short(self) -> inspect.Signature:
        parameters = [one for one in self.parameters.values() if not isinstance(one, Option)]
        bare = [one.replace(annotation=one.empty) for one in parameters]
        return inspect.Signature([*bare, inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)])

    def __str__(self) -> str:
        return str(self._short())

    def format(self, **layout: Any) -> str:
        """As Python 3.13 prints it."""
        return str(self._short())


def _written(kind: Any, key: str) -> str:
    """The type of a keyword as it is written."""
    written: str = getattr(kind.__annotations__[key], "__forward_arg__", "Any")
    return written


_MEANINGS = {
    "references": "ref refs reference target targets gt gts gold golds golden truth label labels annotation annotations "
    "ground expected y_true human_captions",
    "candidates": "cand cands candidate pred preds prediction predictions hyp hyps hypo hypos hypothesis hypotheses res "
    "result results output outputs generated generations completions answers captions y_pred mt sys translations",
    "systems": "system models runs methods hypotheses_by_system",
    "metrics": "metric measures measure scorers scorer evaluators",
    "intervals": "ci confidence bootstrap interval confidence_interval",
    "resamples": "n_resamples n_bootstrap bootstraps iterations samples trials permutations shuffles",
    "level": "alpha ci confidence confidence_level significance",
    "seed": "random_state rng random_seed",
    "threads": "n_jobs num_threads workers num_workers jobs n_threads nthreads num_processes",
    "tokenizer": "tok tokenize tokenise tokenizer_name",
    "segments": "per_image per_sample return_segments sentence_level per_segment return_sentence_level_score",
    "progress": "verbose show_progress progress_bar",
    "pictures": "image images_folder image_paths img imgs image_dir",
    "document_frequencies": "df dfs frequencies cached_tokens",
    "model": "model_name model_name_or_path checkpoint encoder",
    "suite": "preset bundle",
    "split": "subset partition",
    "several": "duplicate duplicates multiple",
}
"""Words that other libraries and people use for keywords, by the keyword that means the same."""


def _meant(name: str, names: set[str]) -> str | None:
    """The keyword that other libraries call `name`: by its words, singular or plural, or else nearly so."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    said = {"_".join(words), *words}
    said |= {word.removesuffix("s") for word in said} | {f"{word}s" for word in said}
    there = {key: set(others.split()) | {key} for key, others in _MEANINGS.items() if key in names}
    whole = [key for key, others in there.items() if "_".join(words) in others]
    return next(iter([*whole, *(key for key, others in there.items() if said & others)]), None)


def _unexpected(function: Callable[..., Any], name: str, names: set[str]) -> str:
    """The message about a keyword that a function does not take."""
    import difflib

    message = f"{function.__qualname__.removesuffix('.__init__')}() got an unexpected keyword {name!r}"
    owners = sorted({one for kind in vars(options).values() if name in _keys(kind) for one in _owner(kind)})
    # Another function's keyword is meant unless it is nearly one of these.
    near = difflib.get_close_matches(name, sorted(names), 1, 0.8)
    near = near or [meant for meant in [_meant(name, names)] if meant and not owners]
    near = near or difflib.get_close_matches(name, sorted(names), 1, 0.8 if owners else 0.6)
    if near:
        return f"{message}; did you mean {near[0]!r}?"
    return f"{message}, which {', '.join(owners)} {'takes' if len(owners) == 1 else 'take'}" if owners else message


def _keys(kind: Any) -> Mapping[str, Any]:
    """The keywords of a theme; none if it is something else."""
    return kind.__annotations__ if hasattr(kind, "__total__") else {}


def _owner(kind: Any) -> list[str]:
    """The function whose keywords these are, if they are not a theme of several."""
    return re.findall(r"The keywords of :\w+:`([\w.]+)`", kind.__doc__ or "")


def _docstring(text: str, kind: Any, known: Mapping[str, object]) -> str:
    """The docstring `text` with the keywords that people use first, and then all keywords by theme."""
    themes = _by_theme(kind)
    docs = {key: doc for keys in themes.values() for key, doc in keys.items()}
    first = [key for key in _FIRST if key in docs] if len(docs) > _MANY else []
    parts = [f"    {key}: {_briefly(docs[key])}" for key in first]
    lists = ["\n".join(["Keywords that people use first, of those below:", *parts])] if first else []
    for theme, keys in themes.items():
        lists.append("\n".join([f"{theme}:", *(_item(key, known[key], doc) for key, doc in keys.items())]))
    ends = [place for section in ("\nReturns:\n", "\nRaises:\n") if (place := text.find(section)) >= 0]
    place = min(ends, default=len(text))
    return "\n\n".join([text[:place].strip(), *lists, text[place:].strip()]).strip() + "\n"


def _item(key: str, default: object, doc: str) -> str:
    """A keyword with its default, if that says something, and what it means."""
    name = key if default in (None, False, ()) else f"{key}={default!r}"
    return f"    {name}: " + doc.replace("\n", "\n        ")


def _briefly(doc: str) -> str:
    """The first sentence, or what comes before a list and the values that are listed."""
    head, _, values = doc.partition(":\n- ")
    first = re.split(r"[.;:]\s", head.replace("\n", " "), maxsplit=1)[0].rstrip(".")
    names = re.findall(r"^(?:- )?(``.*?``):", values, re.M)
    return f"{first}: {', '.join(names)}." if names else f"{first}."


def _by_theme(kind: Any) -> dict[str, dict[str, str]]:
    """The keywords with what they mean, by theme and in order; several types may have one theme."""
    themes: dict[str, dict[str, str]] = {}

    def add(name: str) -> None:
        bases, theme, docs = _types().get(name, ([], "", {}))
        for base in bases:
            add(base)
        if docs:
            themes.setdefault(theme, {}).update(docs)

    add(kind.__name__)
    return themes


@functools.cache
def _types() -> dict[str, tuple[list[str], str, dict[str, str]]]:
    """The types in `options` by name: the names of their bases, their themes, and what their own keys mean.

    Only the source has these, and frozen programs leave it out.
    """
    try:
        source = inspect.getsource(options)
    except OSError:
        return {}
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            theme = (ast.get_docstring(node) or "").rstrip(".")
            found[node.name] = (bases, theme, dict(_documented(node)))
    return found


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The keys of a type, each with the text below it."""
    for key, text in zip(node.body, node.body[1:]):
        if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name) and isinstance(text, ast.Expr):
            yield key.target.id, inspect.cleandoc(ast.literal_eval(text.value))
