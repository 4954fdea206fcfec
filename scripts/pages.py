#!/usr/bin/env python3
"""Run what the pages in docs show, or write what their commands print.

    pages.py [--update] [PAGE ...]

A fence in a page says what it is. `sh` runs, and must end well; `console` has commands behind `$ ` and what they print, in which a
line `…` stands for any lines; `python` runs, in one process for each page. Others, such as `text` and `json`, are only shown. A
comment `<!-- not run: WHY -->` above a fence leaves it out. A file that is shown, with its name in a comment on its first line, is
there from then on. All blocks of a page run in one folder, in their order, as a reader
would run them; `files` says what is in it. --update replaces what `console` prints.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).resolve().parents[1])
DOCS = ROOT / "docs"
RUN = ("sh", "console", "python")

# How long a block may take; only bounds a hang.
PATIENCE = 600

INTERPRETER = """
import doctest, json, sys, traceback
names = {"__name__": "__main__"}
answers, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    code, error = json.loads(line), None
    try:
        if code.startswith(">>>"):
            said = []
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(doctest.DocTestParser().get_doctest(code, names, "block", None, 0), out=said.append, clear_globs=False)
            error = "".join(said) if runner.failures else None
        else:
            exec(compile(code, "block", "exec"), names)
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps(error), file=answers, flush=True)
"""


class Block(NamedTuple):
    """A fence of a page."""

    language: str
    code: str
    # The line of the fence, from 1.
    line: int
    # Why it is not run.
    skipped: str | None


def blocks(text):
    """The fences of a page."""
    found, lines, start = [], text.split("\n"), None
    for at, line in enumerate(lines):
        if start is None and (fence := re.match(r" *```(\S*)", line)):
            start, language, indent = at, fence[1], len(line) - len(line.lstrip())
            above = lines[at - 1] if at else ""
            reason = re.match(r" *<!-- not run: (.+) -->$", above)
        elif start is not None and line.strip() == "```":
            code = "\n".join(body[indent:] for body in lines[start + 1 : at]) + "\n"
            found.append(Block(language, code, start + 1, reason[1] if reason else None))
            start = None
    return found


def pages():
    """The pages that are written by hand, or show blocks of their own."""
    generated = (DOCS / "reference" / "cli", DOCS / "reference" / "python", DOCS / "reference" / "metrics")
    return sorted(page for page in DOCS.rglob("*.md") if not any(folder in page.parents for folder in generated))


def files(folder):
    """Puts the files into a folder that the pages speak of: the captions of the quick start under several names, scores and ratings
    of them, pictures, and models with random weights."""
    quick, testdata = ROOT / "examples" / "quickstart", ROOT / "testdata"
    named = {
        "references.json": ("references.json", "refs.json", "captions_val2014.json", "c5.json", "c40.json"),
        "good.json": ("good.json", "results.json", "captions.json", "mine.json", "new.json", "b.json", "upper.json", "first.json"),
        "weak.json": ("weak.json", "nearest.json", "base.json", "a.json", "lower.json", "second.json"),
    }
    for source, names in named.items():
        for name in names:
            shutil.copy(quick / source, folder / name)
    for example in [*(ROOT / "examples" / "metrics").iterdir(), ROOT / "examples" / "collection" / "collection.toml"]:
        shutil.copy(example, folder)
    for name, model in (("clip-b32", "clip-quick"), ("clip-vit-base-patch32", "clip-quick"), ("roberta-large", "roberta")):
        shutil.copytree(testdata / "neural" / model, folder / name)
    ids = [annotation["image_id"] for annotation in json.loads((quick / "good.json").read_text(encoding="utf-8"))]
    good, weak = (
        {row["image_id"]: row["caption"] for row in json.loads((quick / f"{name}.json").read_text(encoding="utf-8"))}
        for name in ("good", "weak")
    )
    (folder / "val2014").mkdir()
    for id in ids:
        shutil.copy(testdata / "pictures" / "411.jpg", folder / "val2014" / f"{id}.jpg")

    def write(name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, encoding="utf-8")

    # Numbers that differ from image to image, and of which those of `good` are higher.
    scores = {"a": {id: (id * 7 % 10) / 20 for id in ids}, "b": {id: 0.4 + (id * 3 % 10) / 20 for id in ids}}
    for system, of_images in scores.items():
        write(f"{system}.csv", "image_id,clip\n" + "".join(f"{id},{score}\n" for id, score in of_images.items()))
        write(f"clip_{system}.json", {str(id): {"clip": score} for id, score in of_images.items()})
    shutil.copy(folder / "b.csv", folder / "clip.csv")
    rows = [{"system": name, "image_id": id, "scores": {"clip": scores[name][id]}} for name in scores for id in ids]
    write("clip.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    write("pac.jsonl", "".join(json.dumps({"image_id": id, "scores": {"pac": scores["b"][id]}}) + "\n" for id in ids))
    rated = [(id, captions[id], rating) for captions, rating in ((good, 4), (weak, 2)) for id in ids]
    rated = [(id, caption, rating - id % 2) for id, caption, rating in rated]
    write("ratings.csv", "image_id,caption,rating\n" + "".join(f"{id},{caption},{rating}\n" for id, caption, rating in rated))
    pairs = [{"image_id": id, "captions": [good[id], weak[id]], "votes": [3, id % 3], "category": "HC"} for id in ids]
    references = {id: [] for id in ids}
    for annotation in json.loads((quick / "references.json").read_text(encoding="utf-8"))["annotations"]:
        references[annotation["image_id"]].append(annotation["caption"])
    write("pairs.jsonl", "".join(json.dumps({**pair, "references": references[pair["image_id"]]}) + "\n" for pair in pairs))
    write("pairs.csv", "image_id,caption_a,caption_b,votes_a,votes_b\n" + "".join(f"{id},{good[id]},{weak[id]},3,{id % 3}\n" for id in ids))
    write("caption_scores.csv", "image_id,caption,clip\n" + "".join(f"{id},{caption},{rating / 5}\n" for id, caption, rating in rated))
    write("synonyms.txt", "boat, ship\ndog, puppy\ncat, kitten\nbicycle, bike\ntrain, tram\nperson, man, woman, baby\n")
    for part in ("train", "val"):
        write(f"instances_{part}2014.json", {str(id): ["person"] for id in ids})
    write("probs.jsonl", "".join(json.dumps({"image_id": id, "probs": [0.5, 0.25, 0.125]}) + "\n" for id in ids))
    write("samples.json", [{"image_id": id, "caption": caption} for id in ids for caption in (good[id], weak[id])])
    write("train.json", [{"image_id": id, "caption": weak[id]} for id in ids])


def environment(folder):
    """The variables of a reader who has installed capeval, with caches of their own."""
    here = [str(Path(sys.executable).parent), str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug")]
    own = {"CAPEVAL_CACHE": str(folder / ".cache"), "NLTK_DATA": str(ROOT / "testdata/chair/nltk_data"), "NO_COLOR": "1", "COLUMNS": "160", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **own, "PATH": os.pathsep.join([*here, os.environ["PATH"]])}


def commands(code):
    """The commands of a console, each with the lines that it prints."""
    found = []
    for line in code.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif found:
            found[-1][1].append(line)
    return found


def is_printed(expected, printed):
    """Whether lines are those that are expected, where `…` stands for any."""
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line.rstrip()) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def updated(expected, printed):
    """What is printed, cut where the page cuts it: after its lines before the first `…`. A `…` alone is to be filled."""
    if "…" not in expected[1:]:
        return printed
    return [*printed[: expected.index("…")], "…"]


class Page:
    """A page whose blocks run."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.problems = []
        # Blocks that need data which are not installed.
        self.left_out = []

    def run(self, update=False):
        """Runs its blocks, and returns what is wrong with them."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files(folder)
            self.variables, self.folder, self.interpreter = environment(folder), folder, None
            listed = self.shell("capeval data list")[1]
            self.has_data = "not installed" not in listed
            try:
                for block in blocks(self.text):
                    named = re.match(r"# ([a-z_./-]+\.[a-z]+)\n", block.code)
                    if named and block.language not in RUN:
                        (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
                        (folder / named[1]).write_text(block.code, encoding="utf-8")
                    if block.language not in RUN or block.skipped is not None:
                        continue
                    if not self.has_data and re.search(r"\b(meteor|spice|spider|coco.toml)\b", block.code):
                        self.left_out.append(block.line)
                    else:
                        getattr(self, block.language)(block, update)
            finally:
                if self.interpreter is not None:
                    self.interpreter.communicate()
        return self.problems

    def problem(self, block, what):
        self.problems.append(f"{self.path.relative_to(ROOT)}:{block.line}: {what}")

    def shell(self, code):
        run = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.folder, env=self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        return run.returncode, run.stdout

    def sh(self, block, update):
        code, said = self.shell(block.code)
        if code != 0:
            self.problem(block, f"ends with {code}:\n{block.code}{said}")

    def console(self, block, update):
        new = []
        for command, expected in commands(block.code):
            _, said = self.shell(command)
            printed = [line.rstrip() for line in said.rstrip("\n").split("\n")] if said else []
            new += ["$ " + command, *updated(expected, printed)]
            if not update and not is_printed(expected, printed):
                self.problem(block, f"{command} prints\n{said}")
        text = "\n".join(new) + "\n"
        if update and text != block.code:
            self.text = self.text.replace(f"```console\n{block.code}```", f"```console\n{text}```")
            self.path.write_text(self.text, encoding="utf-8")

    def python(self, block, update):
        if self.interpreter is None:
            self.interpreter = subprocess.Popen(
                [sys.executable, "-c", INTERPRETER], cwd=self.folder, env=self.variables, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        self.interpreter.stdin.write(json.dumps(block.code) + "\n")
        self.interpreter.stdin.flush()
        answer = self.interpreter.stdout.readline()
        error = json.loads(answer) if answer else "Python has ended"
        if error is not None:
            self.problem(block, f"{error}\n{block.code}")


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    wanted = [Path(name).resolve() for name in names] or pages()
    problems = [problem for page in wanted for problem in Page(page).run("--update" in sys.argv)]
    print("\n".join(problems) or f"{len(wanted)} pages: all blocks run")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
