#!/usr/bin/env python3
"""Measure a leaderboard of many submissions under load, on loopback.

    board_load.py SERVER SCRATCH [--submissions N] [--teams N] [--measures N] [--rate N] [--seconds N] [--rounds N]

SERVER is the program, SCRATCH an empty folder. Makes a phase, writes made-up scores into its SQLite database (12,000
submissions of 200 teams by 20 measures), and prints for every form of the board, as medians of some rounds: the 50th, 95th
and 99th percentile of latencies at 200 requests a second, each counted from the moment at which it was due, and the time of
a processor that a request takes, which says more on a busy machine; what wrk measures with 16 connections and no pause; and
the server's memory. The forms are the page as visitors share it, the page
with addresses that no one has asked for, packed as browsers ask for it, and for a person who is signed in; its other views;
JSON and CSV; and the API.
"""
import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

from server_load import Site, memory, wrk

BENCHMARK = """
slug = "many"
title = "Many submissions"
[[phases]]
slug = "val"
title = "Validation"
human = false
per_day = 1000
in_total = 1000
metrics = ["bleu"]
main_metric = "bleu-4"
[[phases.references]]
name = "c5"
file = "references.json"
"""


def fill(database, teams, submissions, measures, account):
    """Writes teams, their submissions and made-up scores."""
    draw = random.Random(29)
    rows = sqlite3.connect(database)
    phase, score_set = rows.execute("SELECT id, score_set FROM phase").fetchone()
    (reference_set,) = rows.execute("SELECT id FROM reference_set").fetchone()
    (own,) = rows.execute("SELECT id FROM account WHERE email = ?", [account]).fetchone()
    names = ["bleu-4"] + [f"measure-{number}" for number in range(1, measures)]
    described = [{"key": key, "label": key, "lower_is_better": False, "is_count": False} for key in names]
    rows.execute("UPDATE reference_set SET measures = ?", [json.dumps(described)])
    for number in range(teams):
        team = f"team-{number:04}"
        rows.execute("INSERT INTO team VALUES (?, ?, ?, 0)", [team, f"Team {number}", own])
        rows.execute("INSERT INTO entry (phase, team, created_at) VALUES (?, ?, 0)", [phase, team])
    for number in range(submissions):
        identity, team = f"submission-{number:06}", f"team-{number % teams:04}"
        rows.execute(
            "INSERT INTO submission (id, phase, team, kind, method, description, link, state, blob, size, refunded, "
            "created_at) VALUES (?, ?, ?, 'entry', ?, '', '', 'scored', ?, 1000, 0, ?)",
            [identity, phase, team, f"method {number}", f"{number:064x}", 1_700_000_000_000 + number],
        )
        rows.execute("INSERT INTO scored_by VALUES (?, ?, '[]')", [score_set, identity])
        for key in names:
            value = draw.random()
            row = [score_set, identity, reference_set, key, value, value - 0.01, value + 0.01]
            rows.execute("INSERT INTO score VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    rows.execute("UPDATE phase SET settled = 0")
    rows.commit()
    rows.close()


def processor(process):
    """The time of processors that a process has taken, in ms."""
    times = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(times[11]) + int(times[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def session(site, email):
    """The cookie of a person who signs in."""
    connection = site.connect()
    form = urllib.parse.urlencode({"email": email, "password": "a long password"})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", "/sign-in", form, headers)
    answer = connection.getresponse()
    cookie = answer.getheader("Set-Cookie")
    if cookie is None:
        sys.exit(f"signing in was refused with {answer.status}")
    return cookie.split(";")[0]


def paced(site, paths, header, rate, seconds):
    """The 50th, 95th and 99th percentile of latencies in ms of requests that are due at fixed moments."""
    name, _, value = header.partition(": ")
    due, lock, latencies, failures = itertools.count(), threading.Lock(), [], []
    begin = time.perf_counter() + 0.2

    def visit():
        connection = site.connect()
        while True:
            with lock:
                number = next(due)
            if number >= rate * seconds:
                return
            moment = begin + number / rate
            time.sleep(max(0.0, moment - time.perf_counter()))
            with lock:
                path = next(paths)
            connection.request("GET", path, headers={name: value})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failures.append(answer.status)
            latencies.append((time.perf_counter() - moment) * 1e3)

    visitors = [threading.Thread(target=visit) for _ in range(32)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    if failures:
        sys.exit(f"requests were answered with {set(failures)}")
    ranked = sorted(latencies)
    return [ranked[int(share * (len(ranked) - 1))] for share in (0.5, 0.95, 0.99)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--submissions", type=int, default=12_000)
    parser.add_argument("--teams", type=int, default=200)
    parser.add_argument("--measures", type=int, default=20)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    given.data_of_metrics = None
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: install it with apt")
    given.scratch.mkdir(parents=True, exist_ok=True)
    captions = [{"image_id": number, "id": number, "caption": f"a cat on mat {number}"} for number in range(20)]
    images = [{"id": number} for number in range(20)]
    (given.scratch / "references.json").write_text(json.dumps({"images": images, "annotations": captions}))
    (given.scratch / "many.toml").write_text(BENCHMARK)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = Site(given, port)

    def start():
        process = subprocess.Popen(site.program, env=site.environment, stdout=subprocess.DEVNULL)
        site.wait()
        return process

    process = start()
    try:
        site.admin("benchmark", "apply", given.scratch / "many.toml")
        token = site.person("person")
        phase = site.phase("many")
        process.terminate()
        process.wait()
        fill(site.folder / "capeval.db", given.teams, given.submissions, given.measures, "person@example.org")
        begin = time.perf_counter()
        process = start()
        print(f"first start with {given.submissions} submissions: {time.perf_counter() - begin:.2f} s")
        here = "/b/many/val"
        page, api = f"{here}/leaderboard", f"/api/v1/phases/{phase}/leaderboard"
        cookie = session(site, "person@example.org")
        person = f"Cookie: {cookie}"
        packed = "Accept-Encoding: gzip"
        for name, path, header in (
            ("page, shared", page, "Accept: text/html"),
            ("page, new addresses", page + "?zz={}", "Accept: text/html"),
            ("page, new addresses, packed", page + "?zz={}", packed),
            ("page, signed in", page, person),
            ("page, signed in, by another measure", page + "?sort=measure-7", person),
            ("page, signed in, four columns", page + "?column=measure-1&column=measure-2&column=measure-3", person),
            ("intervals, signed in", f"{here}/intervals", person),
            ("progress, signed in", f"{here}/progress", person),
            ("JSON", page + "?format=json", "Accept: */*"),
            ("CSV", page + "?format=csv", "Accept: */*"),
            ("API", api, f"Authorization: Bearer {token}"),
        ):
            status, body = ask(site, path, header)
            if status == 404:
                continue
            if status != 200:
                sys.exit(f"{path} answered {status}")
            numbers = itertools.count(1)
            paths = (path.format(number) for number in numbers)
            before = processor(process)
            rounds = [paced(site, paths, header, given.rate, given.seconds) for _ in range(given.rounds)]
            each = (processor(process) - before) / (given.rounds * given.rate * given.seconds)
            at_rate = " ".join(f"{statistics.median(column):.1f}" for column in zip(*rounds))
            flat_out = ""
            # wrk asks for one address again and again.
            if "{}" not in path:
                measured = [wrk(site, path, 16, "identity", header) for _ in range(given.rounds)]
                rate, p95 = (statistics.median(column) for column in zip(*measured))
                flat_out = f"flat out {rate:.0f} requests a second, p95 {p95:.1f} ms; "
            print(f"{name}: p50, p95, p99 {at_rate} ms at {given.rate} requests a second, {each:.2f} ms of a processor "
                  f"each; {flat_out}{len(body) / 1000:.0f} kB; {memory(process):.0f} MB; load {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        process.terminate()
        process.wait()


def ask(site, path, header):
    """The status and the body of an answer to a request with a header."""
    connection = site.connect()
    name, _, value = header.partition(": ")
    connection.request("GET", path, headers={name: value})
    answer = connection.getresponse()
    return answer.status, answer.read()


if __name__ == "__main__":
    main()
