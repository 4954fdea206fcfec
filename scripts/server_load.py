#!/usr/bin/env python3
"""Measure the evaluation server under load, on loopback.

    server_load.py SERVER DATA SCRATCH [--people N] [--data-of-metrics DIR]

SERVER is the program, DATA the folder with COCO's `captions_val2014.json.gz`, `loo_hyps.json.gz` and
`fakecap_results.json`, SCRATCH an empty folder. It starts SERVER with limits that do not interfere, and prints: the time to
the first page; memory when idle; the time from the upload of 40,504 captions to their scores; requests a second and
latencies of the board, with `wrk` too where it is installed, as this script is slower than the server; and how long N
people wait who submit a file of 1,000 images each within the same minute.
"""
import argparse
import gzip
import http.client
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import quote

BENCHMARK = """
slug = "{slug}"
title = "{slug}"
[[phases]]
slug = "val"
title = "Validation"
human = false
metrics = ["bleu", "meteor", "rouge-l", "cider-d"]
[[phases.references]]
name = "c5"
file = "val2014.json"
images = "{slug}-ids.json"
"""


class Site:
    """A server that runs, and how to ask it."""

    def __init__(self, given, port):
        self.folder = given.scratch / "data"
        self.program = [given.server, "--data", self.folder]
        self.port = port
        limits = {"REQUESTS": 10**8, "SIGN_INS": 10**6, "UPLOADS": 10**6}
        self.environment = {
            **os.environ,
            **{f"CAPEVAL_SERVER_{name}_PER_MINUTE": str(limit) for name, limit in limits.items()},
            "CAPEVAL_SERVER_LISTEN": f"127.0.0.1:{port}",
            "CAPEVAL_SERVER_LOG": "warn",
            "CAPEVAL_SERVER_WORKERS": "2",
            "CAPEVAL_SERVER_BACKUP_HOUR": "-1",
            "CAPEVAL_SERVER_CAPEVAL_DATA": str(given.data_of_metrics or ""),
        }

    def admin(self, *arguments, said=""):
        command = [*self.program, "admin", *map(str, arguments)]
        done = subprocess.run(command, input=said, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr}")
        return done.stdout.strip()

    def person(self, name):
        """Creates an account and returns a token that allows submitting results."""
        email = f"{name}@example.org"
        self.admin("user", "add", "--email", email, "--password-stdin", said="a long password\n")
        return self.admin("token", "create", "--email", email, "--scope", "submit").split()[-1]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def ask(self, method, path, token=None, body=None, connection=None):
        """The status and the body of an answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        mine = connection or self.connect()
        mine.request(method, path, body, headers)
        answer = mine.getresponse()
        return answer.status, answer.read()

    def wait(self):
        """Waits until the server answers."""
        while True:
            try:
                self.ask("GET", "/")
                return
            except OSError:
                time.sleep(0.002)

    def submit(self, phase, token, body, method="load"):
        """Submits, waits for the scores, and returns the seconds that this took."""
        begin = time.perf_counter()
        status, answer = self.ask("POST", f"/api/v1/phases/{phase}/submissions?method={quote(method)}", token, body)
        if status != 201:
            sys.exit(f"a submission was refused with {status}: {answer[:500]}")
        path = f"/api/v1/submissions/{json.loads(answer)['id']}"
        while True:
            submission = json.loads(self.ask("GET", path, token)[1])
            if submission["state"] == "scored":
                return time.perf_counter() - begin
            if submission["state"] not in ("queued", "scoring", "running"):
                sys.exit(f"a submission ended as {submission}")
            time.sleep(0.05)

    def phase(self, slug):
        """The id of a benchmark's only phase, when its references are prepared."""
        while True:
            listed = json.loads(self.ask("GET", "/api/v1/benchmarks")[1])["benchmarks"]
            (phase,) = [b["phases"][0] for b in listed if b["slug"] == slug]
            if phase["is_open"]:
                return phase["id"]
            time.sleep(0.1)


def memory(process):
    """The resident memory of a process in MB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def load(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return json.load(file)


def board(site, path, seconds, visitors):
    """Has visitors ask for a page again and again; returns the sorted latencies in ms, and the rate."""
    latencies, lock, end = [], threading.Lock(), time.perf_counter() + seconds

    def visit():
        mine, connection = [], site.connect()
        while time.perf_counter() < end:
            begin = time.perf_counter()
            status, _ = site.ask("GET", path, connection=connection)
            mine.append((time.perf_counter() - begin) * 1e3)
            if status != 200:
                sys.exit(f"{path} answered {status}")
        with lock:
            latencies.extend(mine)

    threads = [threading.Thread(target=visit) for _ in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(latencies), len(latencies) / seconds


def wrk(site, path, visitors, encoding, header="Accept: */*"):
    """Has wrk ask for a page with a header; returns the requests a second and the 95th percentile of their latencies in ms."""
    report = (
        "done = function(summary, latency, requests) io.write(string.format("
        "'%.1f %.3f', summary.requests / summary.duration * 1e6, latency:percentile(95) / 1e3)) end"
    )
    script = site.folder.parent / "report.lua"
    script.write_text(report)
    command = ["wrk", "-t1", f"-c{visitors}", "-d10s", "-s", script, "-H", f"Accept-Encoding: {encoding}", "-H", header]
    done = subprocess.run([*command, f"http://127.0.0.1:{site.port}{path}"], capture_output=True, text=True, check=True)
    rate, p95 = done.stdout.splitlines()[-1].split()
    return float(rate), float(p95)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--data-of-metrics", metavar="DIR", help="where METEOR's data are")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)

    whole, small = load(given.data / "loo_hyps.json.gz"), load(given.data / "fakecap_results.json")
    (given.scratch / "val2014.json").write_bytes(gzip.open(given.data / "captions_val2014.json.gz").read())
    for slug, results in (("whole", whole), ("small", small)):
        ids = [result["image_id"] for result in results]
        (given.scratch / f"{slug}-ids.json").write_text(json.dumps(ids))
        (given.scratch / f"{slug}.toml").write_text(BENCHMARK.format(slug=slug))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = Site(given, port)
    begin = time.perf_counter()
    process = subprocess.Popen(site.program, env=site.environment, stdout=subprocess.DEVNULL)
    try:
        site.wait()
        print(f"first page after {time.perf_counter() - begin:.3f} s, {memory(process):.0f} MB", flush=True)
        for slug in ("whole", "small"):
            site.admin("benchmark", "apply", given.scratch / f"{slug}.toml")
        tokens = [site.person(f"person-{number}") for number in range(given.people)]
        phases = {slug: site.phase(slug) for slug in ("whole", "small")}
        time.sleep(5)
        print(f"idle: {memory(process):.0f} MB", flush=True)

        times = []
        for number, token in enumerate(tokens[:5]):
            # New captions, since those submitted before are refused.
            whole[0]["caption"] = f"a picture {number}"
            times.append(site.submit(phases["whole"], token, json.dumps(whole)))
        print(
            f"40,504 captions: scores {statistics.median(times):.2f} s after the upload begins, "
            f"at most {max(times):.2f} s",
            flush=True,
        )

        for visitors in (1, 16):
            sorted_times, rate = board(site, "/b/whole/val/leaderboard", 10, visitors)
            p95 = sorted_times[int(0.95 * len(sorted_times))]
            print(f"board, {visitors} visitors: {rate:.0f} requests a second, p95 {p95:.1f} ms", flush=True)
        if shutil.which("wrk"):
            for encoding in ("identity", "gzip"):
                rate, p95 = wrk(site, "/b/whole/val/leaderboard", 16, encoding)
                print(f"board by wrk, {encoding}: {rate:.0f} requests a second, p95 {p95:.1f} ms", flush=True)

        waits, errors = [None] * given.people, []
        first = time.perf_counter()

        def hand_in(number):
            time.sleep(60 * number / given.people)
            mine = [dict(result) for result in small]
            mine[0]["caption"] = f"a picture of person {number}"
            try:
                waits[number] = site.submit(phases["small"], tokens[number], json.dumps(mine))
            except (OSError, SystemExit) as error:
                errors.append(error)

        threads = [threading.Thread(target=hand_in, args=(number,)) for number in range(given.people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            sys.exit(f"{len(errors)} people failed, the first with {errors[0]}")
        print(
            f"{given.people} people within a minute: all scored after {time.perf_counter() - first:.1f} s, "
            f"each waits {statistics.median(waits):.2f} s, at most {max(waits):.2f} s; {memory(process):.0f} MB"
        )
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
