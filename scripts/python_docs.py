#!/usr/bin/env python3
"""Write docs/reference/python from the docstrings of the installed package, or check that it is up to date.

    python_docs.py [--check]
"""
import importlib
import inspect
import os
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python"

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
    # Those of functions with many keywords print without them.
    text = str(inspect.Signature(bare, return_annotation=kind if kind is found.empty else Bare(kind)))
    return text.replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(")


def block(name, thing):
    """A call with its parameters, one a line if they are many."""
    text = f"{name}{signature(thing)}"
    if len(text) > 100:
        head, tail = text.split("(", 1)
        inside, end = tail.rsplit(")", 1)
        parts = re.split(r", (?=[a-z_*]+[:=,]|\*\*?[a-z_]+|\*,)", inside)
        text = head + "(\n" + "".join(f"    {part},\n" for part in parts) + ")" + end
    return ["```text", text, "```", ""]


def places():
    """The page of everything that is documented, by the names under which docstrings speak of it."""
    found = {}
    for module_name in MODULES + ["capeval.compat"]:
        page = f"{module_name}.md" if module_name != "capeval" else "index.md"
        found[module_name] = page
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if module_name == "capeval":
                inside = f"classes/{name}.md" if inspect.isclass(thing) else f"functions/{name}.md"
            else:
                inside = f"{page}#{name.lower()}"
            found[f"{module_name}.{name}"] = inside
            if module_name == "capeval" or inspect.isclass(thing):
                found.setdefault(name, inside)
    return found


PLACES = {}


def plain(text, page):
    """A docstring as Markdown: arguments as a list, roles as links or code, examples in fences."""

    def role(match):
        name = match[1]
        owner = name if name in PLACES else name.rpartition(".")[0]
        target = PLACES.get(owner)
        if target is None or target == page:
            return f"`{name}`"
        return f"[`{name}`]({os.path.relpath(target, os.path.dirname(page) or '.')})"

    text = re.sub(r":(?:func|class|meth|mod|attr):`~?([^`]*)`", role, inspect.cleandoc(text or ""))
    text = text.replace("``", "`")
    lines, out, listing, example = text.split("\n"), [], False, False
    for line, below in zip(lines, [*lines[1:], ""]):
        if line.startswith(">>>") and not example:
            out.append("```python")
            example = True
        elif example and not line.strip():
            out.append("```")
            example = False
        if not example and re.match(r"[A-Z].*:$", line) and below.startswith("    "):
            listing = True
            out += [f"*{line[:-1]}*", ""]
            continue
        words = line.lstrip()
        if listing and words and line.startswith("    "):
            name, colon, rest = words.partition(": ")
            item = f"- `{name}`: {rest}" if colon and " " not in name else f"- {words.removeprefix('- ')}"
            out.append(item if len(line) == len(words) + 4 else f"  {words}")
        else:
            listing = listing and not line.strip()
            out.append(line)
    if example:
        out.append("```")
    return "\n".join(out).strip()


def of_class(name, kind, page, level):
    init = kind.__dict__.get("__init__")
    named = hasattr(kind, "_fields")
    is_made = init is not None and not named and name not in ("Report", "System", "Comparison")
    out = [f"{level} {name}", "", *(block(name, init) if is_made else []), plain(kind.__doc__, page), ""]
    if is_made and init.__doc__:
        out += [plain(init.__doc__, page), ""]
    if named:
        return [*out, "Fields: " + ", ".join(f"`{field}`" for field in kind._fields) + ".", ""]
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
            out += [f"{level}# .{method}", "", plain(raw.__doc__, page), ""]
        elif inspect.isfunction(raw):
            shown = "[…]" if method == "__getitem__" else f".{method}"
            out += [f"{level}# {shown}", "", *described(shown, raw, page)]
    return out


def summary(thing):
    return inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")


def described(name, thing, page):
    """What it does, how it is called, and the rest."""
    first, _, rest = plain(thing.__doc__, page).partition("\n\n")
    return [first, "", *block(name, thing), *([rest, ""] if rest else [])]


def names(module):
    return sorted(module.__all__, key=lambda name: (inspect.isclass(getattr(module, name)), name.lower()))


def pages():
    """The text of each page by its path in the folder."""
    PLACES.update(places())
    index = [
        "# The Python package",
        "",
        "`scripts/python_docs.py` writes these pages from the docstrings. [Start](../../start/python.md) is the tour,",
        "[migration](../../migration/index.md) is for those who come from another package.",
        "",
    ]
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        things = [(name, getattr(module, name)) for name in names(module)]
        things = [(name, thing) for name, thing in things if callable(thing)]
        is_main = module_name == "capeval"
        title = module_name if is_main else f"[{module_name}]({module_name}.md)"
        about = plain(module.__doc__, "index.md") if is_main else summary(module)
        index += [f"## {title}", "", about, "", "| name | what it does or is |", "|---|---|"]
        page = f"{module_name}.md"
        single = [f"# {module_name}", "", plain(module.__doc__, page), ""]
        for name, thing in things:
            path = PLACES[f"{module_name}.{name}"]
            line = re.sub(r":(?:func|class|meth|mod|attr):`~?([^`]*)`", r"`\1`", summary(thing)).replace("|", "\\|")
            index.append(f"| [`{name}`]({path}) | {line} |")
            level, where = ("#", path) if is_main else ("##", page)
            if inspect.isclass(thing):
                lines = of_class(name, thing, where, level)
            else:
                lines = [f"{level} {name}", "", *described(name, thing, where)]
            if is_main:
                found[path] = lines
            else:
                single += lines
        index.append("")
        if not is_main:
            found[page] = single
    compat = importlib.import_module("capeval.compat")
    found["capeval.compat.md"] = ["# capeval.compat", "", plain(compat.__doc__, "capeval.compat.md")]
    index += ["## [capeval.compat](capeval.compat.md)", "", summary(compat)]
    found["index.md"] = index
    return {path: "\n".join(lines).rstrip() + "\n" for path, lines in found.items()}


def stale():
    """The pages that are not up to date, and those that no name has any more."""
    wanted = pages()
    old = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.md")}
    changed = [path for path, text in wanted.items() if path not in old or (FOLDER / path).read_text(encoding="utf-8") != text]
    return wanted, sorted(changed), sorted(old - set(wanted))


def main():
    wanted, changed, orphans = stale()
    if "--check" in sys.argv:
        if changed or orphans:
            sys.exit(f"docs/reference/python is not up to date ({', '.join(changed + orphans)}); run scripts/python_docs.py")
        return
    for path in changed:
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(wanted[path], encoding="utf-8")
    for path in orphans:
        (FOLDER / path).unlink()


if __name__ == "__main__":
    main()
