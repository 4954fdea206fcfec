"""Recompute the golden numbers in testdata/*.toml and python/tests/golden_compat.json with the reference programs.

    run.py goldens [--check] [--clones DIR] [NAME ...]

`cargo xtask goldens` runs it with the Python named in CAPEVAL_ORACLE; README.md lists what it needs. Without NAMEs
(such as `bleu`, or `golden_compat`) it processes all files.

Each group in a file names its tool; each case names a metric of capeval with settings, and its segments. Only
`version` and the numbers are rewritten. To add a case, write it without numbers and run this script. Groups whose
program is missing keep their numbers.

With --check, nothing is written and the exit status is 1 if a number differs from the files.
"""
import json
import pathlib
import re
import sys
import tomllib

import programs
from shared import ROOT, TESTDATA, Missing, json_lines, options

COMPAT = ROOT / "python/tests/golden_compat.json"


def segments_of(case):
    if "segments" in case:
        return json_lines(TESTDATA / f"{case['segments']}.jsonl")
    return [{"hyp": case["candidate"], "refs": case["references"]}]


def text(value):
    """A TOML string; invisible characters are escaped so that editors do not change them."""
    shown = (c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in
             json.dumps(value, ensure_ascii=False))
    return "".join(shown)


def key(name):
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else text(name)


def plain(value):
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(plain, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(k)} = {plain(v)}" for k, v in value.items()) + " }"
    return repr(value)


def wrapped(values):
    lines, line = [], " "
    for value in values:
        shown = f" {value!r},"
        if len(line) + len(shown) > 120:
            lines.append(line)
            line = " "
        line += shown
    return "[\n" + "\n".join([*lines, line]) + "\n]"


def render(file):
    out = ["# Golden values; see CONTRIBUTING.md. `cargo xtask goldens` recomputes the numbers."]
    for group in file["group"]:
        out += ["", "[[group]]"]
        out += [f"{key(k)} = {plain(v)}" for k, v in group.items() if k != "case"]
        for case in group["case"]:
            out += ["", "[[group.case]]"]
            out += [f"{key(k)} = {plain(v)}" for k, v in case.items() if k not in ("corpus", "segment")]
            scores = [(kind, case[kind], f"{kind} = {plain(case[kind])}") for kind in ("corpus", "segment") if case.get(kind)]
            out += [line for _, _, line in scores if len(line) <= 120]
            for kind, scores, line in scores:
                if len(line) <= 120:
                    continue
                out += ["", f"[group.case.{kind}]"]
                for name, value in scores.items():
                    line = f"{key(name)} = {plain(value)}"
                    out.append(line if len(line) <= 120 else f"{key(name)} = {wrapped(value)}")
    return "\n".join(out) + "\n"


def numbers_of(content):
    cases = [case for group in tomllib.loads(content)["group"] for case in group["case"]]
    return repr([(case["name"], case.get("corpus", {}), case.get("segment", {})) for case in cases])


def recomputed(content, tools):
    """The text of a file with the numbers of the programs that are there."""
    file = tomllib.loads(content)
    for group in file["group"]:
        tool = tools[group["tool"]]
        try:
            group["version"] = tool.version()
        except Missing:
            print(f"skipped {group['tool']}, its numbers are unchanged", file=sys.stderr)
            continue
        for case in group["case"]:
            corpus, by_segment = tool.run(case, segments_of(case))
            case |= {"corpus": corpus, "segment": by_segment}
    return render(file)


def main(arguments):
    parser = options(__doc__, ("names", {"nargs": "*", "metavar": "NAME"}), ("--check", {"action": "store_true"}))
    parser.add_argument("--clones", type=pathlib.Path)
    given = parser.parse_args(arguments)
    tools = programs.all_of(given.clones)
    work = {path: lambda before: recomputed(before, tools) for path in sorted(TESTDATA.glob("*.toml"))}
    work[COMPAT] = lambda before: tools["pycocoevalcap"].stand_ins(json.loads(before))
    differing = False
    for path, recompute in work.items():
        if given.names and path.stem not in given.names:
            continue
        before = path.read_text(encoding="utf-8")
        after = recompute(before)
        same = before == after if path == COMPAT else numbers_of(before) == numbers_of(after)
        differing |= not same
        print(f"{path.name}: {'unchanged' if same else 'changed'}", file=sys.stderr)
        if not given.check:
            path.write_text(after, encoding="utf-8")
    return int(given.check and differing)
