#!/usr/bin/env python3
"""Write docs/python.md from the docstrings of the installed package, or check that it is up to date.

    python_docs.py [--check]
"""
import importlib
import inspect
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python.md"

MODULES = ["capeval", "capeval.adapters", "capeval.meta", "capeval.reward", "capeval.streaming", "capeval.arrow", "capeval.spark"]


class Bare(str):
    """An annotation that shows without quotes."""

    __repr__ = str.__str__


def signature(thing):
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=p.annotation if p.annotation is p.empty else Bare(p.annotation)) for p in found.parameters.values()]
    kind = found.return_annotation
    text = str(found.replace(parameters=bare, return_annotation=kind if kind is found.empty else Bare(kind)))
    return text.replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(")


def plain(text):
    """A docstring as Markdown: arguments as a list, roles as code, examples in fences."""
    import re

    text = re.sub(r":(?:func|class|meth|mod|attr):`~?([^`]*)`", r"`\1`", inspect.cleandoc(text or ""))
    text = text.replace("``", "`")
    lines, out, listing, example = text.split("\n"), [], False, False
    for line in lines:
        if line.startswith(">>>") and not example:
            out.append("```python")
            example = True
        elif example and not line.strip():
            out.append("```")
            example = False
        if not example and line in ("Args:", "Raises:", "Returns:"):
            listing = True
            out += [f"*{line[:-1]}*", ""]
            continue
        if listing and line.startswith("    ") and not line.startswith("        "):
            name, colon, rest = line.strip().partition(": ")
            out.append(f"- `{name}`: {rest}" if colon and " " not in name else f"- {line.strip()}")
        elif listing and line.startswith("        "):
            out.append("  " + line.strip())
        else:
            listing = listing and not line.strip()
            out.append(line)
    if example:
        out.append("```")
    return "\n".join(out).strip()


def of_class(name, kind):
    init = kind.__dict__.get("__init__")
    named = hasattr(kind, "_fields")
    shown = signature(init) if init is not None and not named and name not in ("Report", "System", "Comparison") else ""
    out = [f"### `{name}{shown}`", "", plain(kind.__doc__), ""]
    if init is not None and init.__doc__ and not named and shown:
        out += [plain(init.__doc__), ""]
    if named:
        out += ["Fields: " + ", ".join(f"`{field}`" for field in kind._fields) + ".", ""]
        return out
    members = {}
    for base in kind.__mro__:
        if base.__module__.startswith("capeval"):
            for method, thing in base.__dict__.items():
                members.setdefault(method, thing)
    for method, thing in members.items():
        if method.startswith("_") and method != "__getitem__":
            continue
        raw = thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing
        if isinstance(raw, property):
            out += [f"**`.{method}`**: {plain(raw.__doc__)}", ""]
        elif inspect.isfunction(raw):
            title = f"[{signature(raw)[1:].split(':')[0]}]" if method == "__getitem__" else f".{method}{signature(raw)}"
            out += [f"**`{title}`**", "", plain(raw.__doc__), ""]
    return out


def page():
    out = [
        "# The Python package",
        "",
        "`scripts/python_docs.py` generates this page from the docstrings. [migration.md](migration.md) describes how to "
        "migrate from other packages; [tutorial.ipynb](../examples/python/tutorial.ipynb) is a tour.",
        "",
        "`pip install .` in a checkout builds the package with Rust 1.95 or later. One wheel (abi3) works with CPython 3.10 and",
        "later; PyO3 0.30 does not support 3.9. Free-threaded interpreters cannot load abi3 modules; for these,",
        "`pip install .` builds a wheel for one interpreter, and the module does not require the GIL.",
        "",
    ]
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        out += [f"## `{module_name}`", "", plain(module.__doc__), ""]
        for name in sorted(module.__all__, key=lambda name: (inspect.isclass(getattr(module, name)), name.lower())):
            thing = getattr(module, name)
            if inspect.isclass(thing):
                out += of_class(name, thing)
            elif callable(thing):
                out += [f"### `{name}{signature(thing)}`", "", plain(thing.__doc__), ""]
    compat = importlib.import_module("capeval.compat")
    out += ["## `capeval.compat`", "", plain(compat.__doc__), ""]
    return "\n".join(out).rstrip() + "\n"


def main():
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/python.md is not up to date; run scripts/python_docs.py")


if __name__ == "__main__":
    main()
