"""Compare metrics on words with their programs, on random, hostile and real segments.

    run.py scores [--n N] [--seed S] [--captions FILE] [--segments FILE] [--clones DIR] [--show N] [PROGRAM ...]

Every metric with the settings that cases of testdata/*.toml give it is computed by its PROGRAM (the `tool` of a group,
by default all that are installed) and by `capeval score`, on N segments (5,000) that segments.py makes of the captions
in FILE, one a line, or on a file of segments. Tolerances are those of testdata. Cases that need a list of words are
left out. README.md lists what the programs need.
"""
import pathlib
import tomllib

import programs
import segments
from shared import TESTDATA, Comparison, Missing, json_lines, options, score


def cases():
    """The cases of testdata by program and metric with settings, each with its tolerances."""
    found = {}
    for path in sorted(TESTDATA.glob("*.toml")):
        for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]:
            tolerances = {kind: 0.0 if gap == "bits" else gap for kind, gap in group["tolerance"].items() if kind != "why"}
            for case in group["case"]:
                if case.get("segments", "captions") == "captions" and not {"stop_words", "exceptions"} & set(case):
                    found.setdefault(group["tool"], {})[case["metric"]] = tolerances
    return found


def main(arguments):
    parser = options(__doc__, ("programs", {"nargs": "*", "metavar": "PROGRAM"}))
    parser.add_argument("--n", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--captions")
    parser.add_argument("--segments")
    parser.add_argument("--clones", type=pathlib.Path)
    parser.add_argument("--show", type=int, default=3)
    given = parser.parse_args(arguments)
    whole = json_lines(given.segments) if given.segments else list(segments.make(given.n, given.seed, given.captions))
    comparison = Comparison(given.show)
    tools = programs.all_of(given.clones)
    for tool, metrics in cases().items():
        if given.programs and tool not in given.programs:
            continue
        try:
            print(f"{tool} {tools[tool].version()}: {len(whole)} segments", flush=True)
        except (Missing, ImportError, OSError) as error:
            print(f"{tool}: left out, {str(error) or 'it is not installed'}")
            continue
        some = [tools[tool].fit(segment) for segment in whole]
        candidates, references = {k: s["hyp"] for k, s in enumerate(some)}, {k: s["refs"] for k, s in enumerate(some)}
        for metric, tolerance in metrics.items():
            corpus, rows = score(candidates, references, [metric])
            their_corpus, by_segment = tools[tool].run({"metric": metric}, some)
            for key, values in by_segment.items():
                comparison.add(f"{metric} {key}", [row[key] for row in rows], values, tolerance["segment"], some)
            for key, value in their_corpus.items():
                comparison.add(f"{metric} {key}, corpus", [corpus[key]], [value], tolerance["corpus"])
    return comparison.end()
