#!/usr/bin/env python3
"""Run an oracle: a reference program beside capeval, on the same captions.

    python oracle/run.py                    lists the oracles
    python oracle/run.py NAME --help        says what one compares and what it needs
    python oracle/run.py NAME [ARGUMENT ...]

The exit status is 1 if anything differs. README.md says which golden values each of them writes.
"""
import ast
import importlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
# Modules that oracles import, which are none of their own.
PARTS = ("run", "shared", "programs")


def main():
    # The heads are read without the modules, which import what may not be installed.
    oracles = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem not in PARTS}
    head = lambda name: ast.get_docstring(ast.parse(oracles[name].read_text(encoding="utf-8")))
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(__doc__, *(f"    {name:16} {head(name).splitlines()[0]}" for name in oracles), sep="\n")
        return 0
    if name not in oracles:
        sys.exit(f"no oracle is called {name!r}; there are {', '.join(oracles)}")
    if arguments in (["-h"], ["--help"]):
        print(head(name))
        return 0
    return importlib.import_module(name).main(arguments)


if __name__ == "__main__":
    sys.exit(main())
