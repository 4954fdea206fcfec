"""How the site reads the docstrings of the Python package: an extension of griffe, which mkdocstrings loads.

Roles such as ``:func:`capeval.score` `` become links, examples become blocks of code, and a function with
``**options: Unpack[…]`` lists each keyword by theme. Nothing is compiled: the extension module is not imported.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from pathlib import Path
from typing import Any

import griffe

# The package without its `__init__`, which wants the extension module.
capeval = sys.modules["capeval"] = types.ModuleType("capeval")
capeval.__path__ = [str(Path(__file__).resolve().parents[1] / "python/capeval")]

from capeval import _keywords, options  # noqa: E402

ROLE = re.compile(r":(?:func|class|meth|mod|attr):`~?([^`]*)`")
EXAMPLE = re.compile(r"^( *)>>> .*(?:\n *\S.*)*", re.MULTILINE)
STUB = ast.parse(Path(capeval.__path__[0], "__init__.pyi").read_text(encoding="utf-8"))
PUBLIC = {alias.name for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}


class Docstrings(griffe.Extension):
    """Changes docstrings before they are read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        _change(pkg)


def _change(obj: griffe.Object) -> None:
    """Changes the docstring of an object and of all that are in it."""
    for member in obj.members.values():
        if not member.is_alias:
            _change(member)
    if obj.docstring is not None:
        taken = _keywords_of(obj) if isinstance(obj, griffe.Function) else None
        if taken is not None:
            text = obj.docstring.value
            ends = [place for section in ("\nReturns:\n", "\nRaises:\n") if (place := text.find(section)) >= 0]
            place = min(ends, default=len(text))
            obj.docstring.value = f"{text[:place].rstrip()}\n\n{taken}\n{text[place:]}"
        text = ROLE.sub(lambda role: _link(role[1], obj), obj.docstring.value)
        text = EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", text)
        # Markdown needs no second colon before an indented block.
        obj.docstring.value = re.sub(r"::(?=\n\n +)", ":", text)


def _keywords_of(function: griffe.Function) -> str | None:
    """Sections with the keywords that ``@takes(THEMES, **defaults)`` gives a function."""
    for decorator in function.decorators:
        call = ast.parse(str(decorator.value), mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "takes":
            kind = getattr(options, ast.unparse(call.args[0]))
            own = {given.arg: ast.literal_eval(given.value) for given in call.keywords}
            return "\n\n".join(_section(theme, keys, kind, own) for theme, keys in _keywords._by_theme(kind).items())
    return None


def _section(theme: str, keys: dict[str, str], kind: Any, own: dict[str, object]) -> str:
    lines = [f"Keyword Args: {theme}"]
    for key, doc in keys.items():
        default = own.get(key, options.DEFAULTS.get(key))
        more = "" if default in (None, False, ()) else f"\n\nThe default is ``{default!r}``."
        # A list needs an empty line above it.
        text = doc.replace(":\n- ", ":\n\n- ") + more
        lines.append(f"    {key} ({_keywords._written(kind, key)}): " + text.replace("\n", "\n        "))
    return "\n".join(lines)


def _link(name: str, obj: griffe.Object) -> str:
    """A link to what a docstring names, by its public path, if it has one."""
    first, dot, rest = name.partition(".")
    try:
        path = obj.resolve(first) + dot + rest
    except griffe.NameResolutionError:
        path = name
    # Modules whose names begin with an underscore are not public; the package has their names.
    path = re.sub(r"[.]_[a-z]+(?=[.])", "", path)
    package, _, inside = path.partition(".")
    is_public = package == "capeval" and (not inside or inside.split(".")[0] in PUBLIC)
    return f"[`{name}`][{path}]" if is_public else f"`{name}`"
