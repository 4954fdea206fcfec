"""What the oracles share: capeval's programs, segments, clones of repositories, and the comparison of numbers."""
import argparse
import functools
import gzip
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESTDATA = ROOT / "testdata"


class Missing(Exception):
    """A reference program is not installed."""


def options(about, *arguments):
    """A parser with the head of a module as its help; each argument is a name or a name with its settings."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for argument in arguments:
        name, settings = argument if isinstance(argument, tuple) else (argument, {})
        parser.add_argument(name, **settings)
    return parser


def output(command, text=None, **settings):
    """What a command prints; ends the oracle if it fails."""
    # As bytes, since texts may contain every kind of line break.
    given = None if text is None else text.encode("utf-8")
    done = subprocess.run([str(part) for part in command], input=given, capture_output=True, check=False, **settings)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.decode('utf-8', 'replace')[-2000:]}")
    return done.stdout.decode("utf-8")


@functools.cache
def built(package, example=None, features=()):
    """capeval's program, or an example of one of its crates, built for release."""
    kind = ["--example", example] if example else ["--bin", package]
    crate = package if example else "capeval-cli"
    more = ["--features", ",".join(features)] if features else []
    subprocess.run(["cargo", "build", "--release", "--quiet", "--package", crate, *kind, *more], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return target / "examples" / example if example else target / package


def capeval():
    """The program: CAPEVAL, or one that is built now."""
    return os.environ.get("CAPEVAL") or built("capeval")


def score(candidates, references, metrics, *more):
    """The scores of the corpus, and of each image as a dictionary, by capeval's command line.

    Candidates are a dictionary of captions by id, and references one of lists of captions.
    """
    with tempfile.TemporaryDirectory() as folder:
        refs, hyps, rows = (pathlib.Path(folder, name) for name in ("refs.jsonl", "hyps.jsonl", "rows.jsonl"))
        refs.write_text("".join(json.dumps({"image_id": key, "captions": list(references[key])}) + "\n" for key in candidates))
        hyps.write_text("".join(json.dumps({"image_id": key, "caption": text}) + "\n" for key, text in candidates.items()))
        command = [capeval(), "score", "-q", "-r", refs, hyps, "-m", ",".join(metrics), "--empty", "keep", "-f", "json"]
        said = output([*command, "--segments", rows, "--score-cache", "none", "--spice-cache", "none", *more])
        by_image = {row["image_id"]: row["scores"] for row in json_lines(rows)}
    return json.loads(said)["systems"][0]["scores"], [by_image[key] for key in candidates]


class Comparison:
    """Numbers of capeval beside those of a program: prints a line for each kind, and counts what differs."""

    def __init__(self, shown=3):
        self.shown, self.n_different = shown, 0

    def add(self, name, ours, theirs, tolerance=0.0, inputs=None):
        """Compares numbers; a number that the program does not give (NaN) is left out."""
        assert len(ours) == len(theirs), (name, len(ours), len(theirs))
        pairs = [(k, float(a), float(b)) for k, (a, b) in enumerate(zip(ours, theirs)) if not math.isnan(float(b))]
        apart = {k: distance(a, b) for k, a, b in pairs}
        wrong = [k for k, gap in apart.items() if not gap <= tolerance]
        n_unequal, most = sum(gap != 0 for gap in apart.values()), max(apart.values(), default=0.0)
        print(f"{name}: {n_unequal} of {len(pairs)} differ, by at most {most:.1e}" + (f"; {len(wrong)} WRONG" if wrong else ""), flush=True)
        for k in wrong[: self.shown]:
            print(f"    {ours[k]!r} by capeval, {theirs[k]!r} by the program" + (f": {inputs[k]!r}" if inputs else ""))
        self.n_different += len(wrong)

    def texts(self, name, ours, theirs, inputs):
        """Compares texts, such as tokens."""
        assert len(ours) == len(theirs), (name, len(ours), len(theirs))
        wrong = [k for k, (a, b) in enumerate(zip(ours, theirs)) if a != b]
        print(f"{name}: {len(wrong)} of {len(theirs)} differ", flush=True)
        for k in wrong[: self.shown]:
            print(f"    {inputs[k]!r}\n      capeval {ours[k]!r}\n      program {theirs[k]!r}")
        self.n_different += len(wrong)

    def end(self):
        """The exit status."""
        print(f"{self.n_different} differences")
        return int(self.n_different > 0)


def distance(a, b):
    """The difference of two numbers, relative to large ones; infinite if one of them is not a number."""
    if a == b:
        return 0.0
    gap = abs(a - b) / max(1.0, abs(b))
    return math.inf if math.isnan(gap) else gap


def lines(path):
    """The lines of a text file, which may be compressed."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def json_lines(path):
    return [json.loads(line) for line in lines(path) if line.strip()]


def module(path, name=None):
    """A module of another program, from its file."""
    spec = importlib.util.spec_from_file_location(name or pathlib.Path(path).stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def commit(folder):
    """The commit of a clone."""
    return output(["git", "-C", folder, "log", "-1", "--format=%h"]).strip()


def meteor_jar(given=None):
    """METEOR's jar: the one that is given, or that of the Python package pycocoevalcap."""
    if given is None:
        import pycocoevalcap.meteor

        given = pathlib.Path(next(iter(pycocoevalcap.meteor.__path__)), "meteor-1.5.jar")
    return pathlib.Path(given)
