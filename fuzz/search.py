#!/usr/bin/env python3
"""Search with all fuzz targets: run them in turn, print what each got, keep small corpora.

    python fuzz/search.py search PROGRAM STATE [--seconds 60] [--processes 2] [--only NAME …]
    python fuzz/search.py table STATE
    python fuzz/search.py keep PROGRAM STATE [--only NAME …]

PROGRAM is what `fuzz/README.md` builds. `search` goes through the targets again and again until it is stopped, and gives
a target that finds nothing new a third of the time. STATE, a folder outside of the tree, gets a corpus for each, the
inputs that break a property, and `runs.jsonl`, from which `table` prints the table of docs/why/reliability.md. `keep`
chooses the inputs that reach most edges, few and small, and writes them to fuzz/corpora: JSON Lines, a string where an
input is text, a list of bytes elsewhere. The test of crates/checks reads them, and so does the next search.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=2048"]
# What is kept of a target; the test of crates/checks knows these limits.
MOST_INPUTS, MOST_BYTES, LARGEST = 32, 20_000, 4096


def targets(only):
    """The names of the targets with the folders of their seeds."""
    text = (ROOT / "crates/checks/src/lib.rs").read_text()
    seeds = {"pictures": ROOT / "testdata/pictures"}
    for name, folder in re.findall(r'target\("(\w+)", "(\w+)"', text):
        if not only or name in only:
            yield name, seeds.get(folder, ROOT / "fuzz/seeds" / folder)


def run(program, name, arguments):
    """Runs a target at the lowest priority; returns what it prints, and its exit code."""
    command = ["nice", "-n", "19", program, *map(str, arguments)]
    environment = os.environ | {"CAPEVAL_TARGET": name}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    return done.stderr, done.returncode


def last(pattern, output):
    found = re.findall(pattern, output)
    return int(found[-1]) if found else None


def kept(name):
    """The inputs of a corpus in the tree."""
    path = ROOT / "fuzz/corpora" / f"{name}.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        value = json.loads(line)
        yield value.encode() if isinstance(value, str) else bytes(value)


def packed(data):
    try:
        return json.dumps(data.decode())
    except UnicodeDecodeError:
        return json.dumps(list(data), separators=(",", ":"))


class Search:
    """The turns of all targets, which processes take one after the other."""

    def __init__(self, options):
        self.options = options
        self.state = Path(options.state).resolve()
        self.lock = threading.Lock()
        self.idle = {}  # the runs of a target, the newest ones, that reached no new edge
        self.turns = self.take_turns()

    def take_turns(self):
        turn = 0
        while True:
            for name, seeds in targets(self.options.only):
                yield turn, name, seeds
            turn += 1

    def work(self):
        while True:
            with self.lock:
                turn, name, seeds = next(self.turns)
            self.one(turn, name, seeds)

    def one(self, turn, name, seeds):
        place = self.state / name
        corpus, found = place / "corpus", place / "found"
        if not corpus.exists():
            corpus.mkdir(parents=True)
            for data in kept(name):
                (corpus / sha256(data).hexdigest()[:40]).write_bytes(data)
        found.mkdir(exist_ok=True)
        seconds = self.options.seconds // (3 if self.idle.get(name, 0) > 1 else 1)
        more = [f"-max_total_time={seconds}", "-print_final_stats=1", f"-seed={int(time.time()) % 10**9}", "-reload=0"]
        more += [f"-artifact_prefix={found}/", f"-dict={ROOT / 'fuzz/captions.dict'}"]
        first, _ = run(self.options.program, name, [seeds, "-runs=0", *LIMITS])
        start = time.time()
        output, code = run(self.options.program, name, [corpus, seeds, *more, *LIMITS])
        before, after = last(r"INITED\s+cov: (\d+)", output), last(r"cov: (\d+)", output)
        record = {
            "target": name,
            "executions": last(r"stat::number_of_executed_units:\s*(\d+)", output) or last(r"#(\d+)\s", output) or 0,
            "seeds": last(r"INITED\s+cov: (\d+)", first),
            "edges": after,
            "inputs": len(list(corpus.iterdir())),
            "seconds": round(time.time() - start, 1),
            "code": code,
        }
        (place / "last.log").write_text(output)
        if code:
            shutil.copy(place / "last.log", place / f"failed-{int(start)}.log")
        with self.lock:
            self.idle[name] = self.idle.get(name, 0) + 1 if before == after else 0
            with (self.state / "runs.jsonl").open("a") as out:
                out.write(json.dumps(record) + "\n")


def search(options):
    Path(options.state).mkdir(exist_ok=True)
    one = Search(options)
    threads = [threading.Thread(target=one.work) for _ in range(options.processes)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]


def table(options):
    sums, newest, seconds = {}, {}, 0
    for line in (Path(options.state) / "runs.jsonl").read_text().splitlines():
        record = json.loads(line)
        name = record["target"]
        sums[name] = sums.get(name, 0) + record["executions"]
        seconds += record["seconds"]
        # The edges of the newest program, since each has its own.
        newest[name] = {**newest.get(name, {}), **{key: value for key, value in record.items() if value is not None}}
    print("| target | executions | edges of seeds | edges reached |\n|---|--:|--:|--:|")
    for name, record in sorted(newest.items()):
        numbers = [sums[name], record.get("seeds", 0), record.get("edges", 0)]
        print(f"| `{name}` | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    failed = sorted(name for name, record in newest.items() if record["code"])
    print(f"\n{len(newest)} targets, {sum(sums.values()):,} executions, {seconds / 3600:.2f} hours of processes")
    print(f"The last run found something: {failed}")


def keep(options):
    for name, seeds in targets(options.only):
        corpus, path = Path(options.state) / name / "corpus", ROOT / "fuzz/corpora" / f"{name}.jsonl"
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            inputs, merged, control = folder / "inputs", folder / "merged", folder / "control"
            inputs.mkdir()
            merged.mkdir()
            files = [file.read_bytes() for file in [*corpus.glob("*"), *seeds.iterdir()] if file.is_file()]
            for data in [*files, *kept(name)]:
                if len(data) <= LARGEST:
                    (inputs / sha256(data).hexdigest()[:40]).write_bytes(data)
            # Without counters, a feature is an edge.
            arguments = ["-merge=1", "-use_counters=0", f"-merge_control_file={control}", *LIMITS]
            run(options.program, name, [*arguments, merged, inputs])
            chosen = [file.read_bytes() for file in choose(control.read_text())]
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{packed(data)}\n" for data in sorted(chosen)))
        print(name, len(chosen), sum(map(len, chosen)), flush=True)


def choose(control):
    """The files that together reach most edges, each time the one that adds most for its size."""
    lines = control.split("\n")
    files = [Path(line) for line in lines[2 : 2 + int(lines[0])]]
    reached = {}
    for line in lines[2 + len(files) :]:
        kind, *numbers = line.split() or [""]
        if kind == "FT":
            reached[files[int(numbers[0])]] = set(numbers[1:])
    # What an input takes of both limits.
    chosen, room, share = [], MOST_BYTES, MOST_BYTES // MOST_INPUTS
    while reached and len(chosen) < MOST_INPUTS:
        sizes = {path: path.stat().st_size for path in reached}
        gains = {path: len(new) / (share + sizes[path]) for path, new in reached.items() if sizes[path] <= room}
        best = max(gains, key=lambda path: (gains[path], path.name), default=None)
        if best is None or not gains[best]:
            break
        chosen.append(best)
        room -= sizes[best]
        new = reached.pop(best)
        reached = {path: more for path, old in reached.items() if (more := old - new)}
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function in [("search", search), ("table", table), ("keep", keep)]:
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if name != "table":
            command.add_argument("program")
        command.add_argument("state")
        command.add_argument("--only", nargs="*")
        if name == "search":
            command.add_argument("--seconds", type=int, default=60)
            command.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
