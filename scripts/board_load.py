#!/usr/bin/env python3
"""Measure a leaderboard of many submissions under load, on loopback.

    board_load.py SERVER SCRATCH [--submissions N] [--teams N] [--measures N] [--seconds N]

SERVER is the program, SCRATCH an empty folder. Makes a phase, writes made-up scores into its SQLite database (12,000
submissions of 200 teams by 20 measures), and prints for every form of the board what wrk measures with 16 connections
(requests a second, the 95th percentile of latencies) and the server's memory: the page as visitors share it, with an
address that no one has asked for, and for a person who is signed in; JSON and CSV; and the API.
"""
import argparse
import json
import pathlib
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--submissions", type=int, default=12_000)
    parser.add_argument("--teams", type=int, default=200)
    parser.add_argument("--measures", type=int, default=20)
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
        page, api = "/b/many/val/leaderboard", f"/api/v1/phases/{phase}/leaderboard"
        cookie = session(site, "person@example.org")
        for name, path, header in (
            ("page, shared", page, "Accept: text/html"),
            ("page, address not asked for before", page + "?zz=1", "Accept: text/html"),
            ("page, signed in", page, f"Cookie: {cookie}"),
            ("page, signed in, by another measure", page + "?sort=measure-7", f"Cookie: {cookie}"),
            ("JSON", page + "?format=json", "Accept: */*"),
            ("CSV", page + "?format=csv", "Accept: */*"),
            ("API", api, f"Authorization: Bearer {token}"),
        ):
            status, body = ask(site, path, header)
            if status != 200:
                sys.exit(f"{path} answered {status}")
            rate, p95 = wrk(site, path, 16, "identity", header)
            print(f"{name}: {rate:.0f} requests a second, p95 {p95:.1f} ms, {len(body) / 1000:.0f} kB; "
                  f"{memory(process):.0f} MB", flush=True)
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
