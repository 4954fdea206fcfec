#!/usr/bin/env python3
"""Measure the evaluation server under load, on loopback and on SQLite.

    server.py submissions SERVER SCRATCH DATA [--people N] [--data-of-metrics DIR]
    server.py board SERVER SCRATCH [--submissions N] [--teams N] [--measures N] [--rates N,N] [--seconds N] [--rounds N]
    server.py mail SERVER SCRATCH [--submissions N]
    server.py collections SERVER SCRATCH [--people N] [--queue N] [--uploads N] [--seconds S] [--think S]
    server.py soak SERVER SCRATCH [--people N] [--minutes M] [--restart-minutes M] [--fills N] [--postgres BIN --aways N]
                   [--faketime LIBRARY --jumps N]

SERVER is the program, SCRATCH an empty folder. The server starts with limits that do not interfere.

`submissions` prints the time to the first page; memory when idle; the time from the upload of 40,504 captions to their
scores; and how long N people wait who submit a file of 1,000 images each within the same minute. DATA is the folder with
COCO's `captions_val2014.json.gz`, `loo_hyps.json.gz` and `fakecap_results.json`.

`board` writes made-up scores into the database (12,000 submissions of 200 teams by 20 measures, and as many notes of the
audit log), and prints for every form of the board, for the lists of hosts and members, and for each rate of requests, as
medians of some rounds: the 50th, 95th and 99th percentile of latencies, each counted from the moment at which it was due,
and the time of a processor that a request takes, which says more on a busy machine; what wrk, if it is installed, measures
with 16 connections and no pause; and the server's memory.

`mail` prints how long a link for a new password takes from the request until a mail server has it: with nothing to do, and
while 2,500 small submissions are being scored.

`collections` writes people, their sessions and a queue of pictures into the database. It prints how long the page with the
next picture takes; what people wait who describe pictures at once, each with THINK seconds on average to write a caption;
and what visitors of pages wait before and while screenshots of 2 MB are uploaded and decoded, 20 at a time.

`soak` has people do everything at once: submit, read pages, upload pictures, describe, rate, report, while hosts score all
again, moderate, release and back up, and the server is killed or stopped in turn and starts again. N times, the file system
of SCRATCH, which should be a small one of its own, is full for ten seconds. With the folder of PostgreSQL's programs, the site
moves to a database in SCRATCH, which ends without a warning N times and comes back ten seconds later. With libfaketime's
library, the server's clock jumps N times in turn: 20 hours ahead, 20 back, ten minutes back, ten ahead. It prints what
people waited, what was refused, memory minute by minute, and in the end what `doctor --deep` says; it fails if an invariant
does not hold.
"""
import argparse
import collections as collections_of
import contextlib
import email
import gzip
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import socket
import socketserver
import sqlite3
import statistics
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
import zlib

BENCHMARK = """
slug = "{slug}"
title = "{slug}"
[[phases]]
slug = "val"
title = "Validation"
human = false
per_day = 1000
in_total = 1000
metrics = {metrics}
main_metric = "bleu-4"
[[phases.references]]
name = "c5"
file = "{references}"
"""
WIDTH, HEIGHT = 1600, 900


class Site:
    """A server that runs, and how to ask it."""

    def __init__(self, given, **settings):
        self.folder = given.scratch / "data"
        self.program = [given.server, "--data", self.folder]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        limits = {"REQUESTS": 10**8, "SIGN_INS": 10**6, "UPLOADS": 10**6, "CAPTIONS": 10**6, "PICTURES": 10**6}
        self.environment = {
            **os.environ,
            **{f"CAPEVAL_SERVER_{name}_PER_MINUTE": str(limit) for name, limit in limits.items()},
            "CAPEVAL_SERVER_LISTEN": f"127.0.0.1:{self.port}",
            "CAPEVAL_SERVER_LOG": "warn",
            "CAPEVAL_SERVER_WORKERS": "2",
            "CAPEVAL_SERVER_BACKUP_HOUR": "-1",
            "CAPEVAL_SERVER_CAPEVAL_DATA": str(getattr(given, "data_of_metrics", None) or ""),
            **{f"CAPEVAL_SERVER_{name.upper()}": value for name, value in settings.items()},
        }

    def run(self, *arguments):
        """Runs a command of the program to its end, and returns what it prints."""
        done = subprocess.run([*self.program, *arguments], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"{arguments} failed: {done.stderr}")
        return done.stdout

    def admin(self, *arguments, said=""):
        command = [*self.program, "admin", *map(str, arguments)]
        done = subprocess.run(command, input=said, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr}")
        return done.stdout.strip()

    def person(self, name, role="member", scope="submit"):
        """Creates an account and returns a token that allows submitting results."""
        email = f"{name}@example.org"
        self.admin("user", "add", "--email", email, "--role", role, "--password-stdin", said="a long password\n")
        return self.admin("token", "create", "--email", email, "--scope", scope).split()[-1]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def ask(self, method, path, token=None, body=None, connection=None):
        """The status and the body of an answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        mine = connection or self.connect()
        mine.request(method, path, body, headers)
        answer = mine.getresponse()
        return answer.status, answer.read()

    @contextlib.contextmanager
    def running(self):
        """The process of a server that answers."""
        process = subprocess.Popen(self.program, env=self.environment, stdout=subprocess.DEVNULL)
        try:
            while True:
                with contextlib.suppress(OSError):
                    self.ask("GET", "/")
                    break
                time.sleep(0.002)
            yield process
        finally:
            process.terminate()
            process.wait()

    def submit(self, phase, token, body, method="load"):
        """Submits, waits for the scores, and returns the seconds that this took."""
        begin = time.perf_counter()
        status, answer = self.ask("POST", f"/api/v1/phases/{phase}/submissions?method={urllib.parse.quote(method)}", token, body)
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


def memory(process, line="VmRSS"):
    """The resident memory of a process in MB: now, or the most so far with `VmHWM`."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) / 1024


def load(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        return json.load(file)


def together(act, people):
    """Runs `act` for all people at once, and ends the program if one of them fails."""
    errors = []

    def one(number):
        try:
            act(number)
        except (OSError, AssertionError, SystemExit) as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        sys.exit(f"{len(errors)} failed, the first with {errors[0]}")


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


def submissions(given):
    whole, small = load(given.data / "loo_hyps.json.gz"), load(given.data / "fakecap_results.json")
    (given.scratch / "val2014.json").write_bytes(gzip.open(given.data / "captions_val2014.json.gz").read())
    metrics = json.dumps(["bleu", "meteor", "rouge-l", "cider-d"])
    for slug, results in (("whole", whole), ("small", small)):
        ids = [result["image_id"] for result in results]
        (given.scratch / f"{slug}-ids.json").write_text(json.dumps(ids))
        plan = BENCHMARK.format(slug=slug, metrics=metrics, references="val2014.json")
        (given.scratch / f"{slug}.toml").write_text(f'{plan}images = "{slug}-ids.json"\n')
    site, begin = Site(given), time.perf_counter()
    with site.running() as process:
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
        print(f"40,504 captions: scores {statistics.median(times):.2f} s after the upload begins, at most {max(times):.2f} s", flush=True)
        waits, first = [0.0] * given.people, time.perf_counter()

        def submit(number):
            time.sleep(60 * number / given.people)
            mine = [dict(result) for result in small]
            mine[0]["caption"] = f"a picture of person {number}"
            waits[number] = site.submit(phases["small"], tokens[number], json.dumps(mine))

        together(submit, given.people)
        print(
            f"{given.people} people within a minute: all scored after {time.perf_counter() - first:.1f} s, "
            f"each waits {statistics.median(waits):.2f} s, at most {max(waits):.2f} s; {memory(process):.0f} MB"
        )


def fill_board(database, teams, submissions, measures, account):
    """Writes teams, their submissions, made-up scores and notes of the audit log; the account is a member of the first team."""
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
    rows.execute("INSERT INTO team_member VALUES ('team-0000', ?, 0)", [own])
    rows.execute("INSERT INTO entry_member VALUES (?, ?, 'team-0000')", [phase, own])
    (benchmark,) = rows.execute("SELECT benchmark FROM phase").fetchone()
    for number in range(submissions):
        identity, team = f"submission-{number:06}", f"team-{number % teams:04}"
        rows.execute(
            "INSERT INTO submission (id, phase, team, kind, method, description, link, state, blob, size, refunded, "
            "created_at) VALUES (?, ?, ?, 'entry', ?, '', '', 'scored', ?, 1000, 0, ?)",
            [identity, phase, team, f"method {number}", f"{number:064x}", 1_700_000_000_000 + number],
        )
        rows.execute("INSERT INTO scored_by VALUES (?, ?, '[]')", [score_set, identity])
        note = [f"note-{number:06}", own, benchmark, number]
        rows.execute(
            "INSERT INTO audit (id, actor, subject, at, action, detail) VALUES (?, ?, ?, ?, 'phase.change', '{}')", note
        )
        for key in names:
            value = draw.random()
            row = [score_set, identity, reference_set, key, value, value - 0.01, value + 0.01]
            rows.execute("INSERT INTO score VALUES (?, ?, ?, ?, ?, ?, ?)", row)
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


def board(given):
    annotations = [{"image_id": number, "id": number, "caption": f"a cat on mat {number}"} for number in range(20)]
    whole = {"images": [{"id": number} for number in range(20)], "annotations": annotations}
    (given.scratch / "references.json").write_text(json.dumps(whole))
    plan = BENCHMARK.format(slug="many", metrics='["bleu"]', references="references.json")
    (given.scratch / "many.toml").write_text(plan)
    (given.scratch / "before.toml").write_text(plan.replace('"bleu-4"', '"bleu-1"'))
    site = Site(given)
    with site.running():
        site.admin("benchmark", "apply", given.scratch / "before.toml")
        token = site.person("person")
        of_host = site.person("host", "admin", "host")
        phase = site.phase("many")
    fill_board(site.folder / "capeval.db", given.teams, given.submissions, given.measures, "person@example.org")
    begin = time.perf_counter()
    # With another measure that ranks, the rows of boards are written again, from what was written into the database.
    site.admin("benchmark", "apply", given.scratch / "many.toml")
    print(f"board of {given.submissions} submissions written again after {time.perf_counter() - begin:.2f} s")
    with site.running() as process:
        here = "/b/many/val"
        page, api = f"{here}/leaderboard", f"/api/v1/phases/{phase}"
        person = f"Cookie: {session(site, 'person@example.org')}"
        host = f"Cookie: {session(site, 'host@example.org')}"
        packed = "Accept-Encoding: gzip"
        rows = json.loads(site.ask("GET", f"{api}/leaderboard", token)[1])["rows"]
        if len(rows) != given.teams:
            sys.exit(f"the board has {len(rows)} rows, not one for each of {given.teams} teams")
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
            ("API", f"{api}/leaderboard", f"Authorization: Bearer {token}"),
            ("host's page", f"{here}/host", host),
            ("host's list, API", f"/api/v1/host/phases/{phase}/submissions", f"Authorization: Bearer {of_host}"),
            ("audit log", "/b/many/audit", host),
            ("audit log, API", "/api/v1/host/benchmarks/many/audit", f"Authorization: Bearer {of_host}"),
            ("member's list", "/submissions", person),
            ("member's list, API", f"{api}/submissions", f"Authorization: Bearer {token}"),
        ):
            connection, (what, _, value) = site.connect(), header.partition(": ")
            connection.request("GET", path, headers={what: value})
            answer = connection.getresponse()
            status, body = answer.status, answer.read()
            if status == 404:
                continue
            if status != 200:
                sys.exit(f"{path} answered {status}")
            numbers = itertools.count(1)
            paths = (path.format(number) for number in numbers)
            report = []
            for rate in map(int, given.rates.split(",")):
                before = processor(process)
                rounds = [paced(site, paths, header, rate, given.seconds) for _ in range(given.rounds)]
                each = (processor(process) - before) / (given.rounds * rate * given.seconds)
                at_rate = " ".join(f"{statistics.median(column):.1f}" for column in zip(*rounds))
                report.append(f"p50, p95, p99 {at_rate} ms at {rate} requests a second, {each:.2f} ms of a processor each")
            # wrk asks for one address again and again.
            if "{}" not in path and shutil.which("wrk"):
                measured = [wrk(site, path, 16, "identity", header) for _ in range(given.rounds)]
                rate, p95 = (statistics.median(column) for column in zip(*measured))
                report.append(f"flat out {rate:.0f} requests a second, p95 {p95:.1f} ms")
            report.append(f"{len(body) / 1000:.0f} kB; {memory(process):.0f} MB; load {os.getloadavg()[0]:.1f}")
            print(f"{name}: {'; '.join(report)}", flush=True)
        print(f"most memory: {memory(process, 'VmHWM'):.0f} MB")


class Mailbox(socketserver.ThreadingTCPServer):
    """A mail server that notes when a link for a new password arrives, counts other messages, and keeps none."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Session)
        self.arrivals, self.others = [], itertools.count()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Session(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"220 here\r\n")
            for line in self.rfile:
                command = line.strip().upper()
                if command == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = b"".join(iter(self.rfile.readline, b".\r\n"))
                    if b"/reset/" in email.message_from_bytes(lines).get_payload(decode=True):
                        self.server.arrivals.append(time.perf_counter())
                    else:
                        next(self.server.others)
                self.wfile.write(b"221 bye\r\n" if command == b"QUIT" else b"250 ok\r\n")

    def after(self, begin):
        """The seconds from `begin` to the next link."""
        known = len(self.arrivals)
        while len(self.arrivals) == known:
            time.sleep(0.005)
        return self.arrivals[known] - begin


def mail(given):
    annotations = [{"image_id": number, "id": number, "caption": f"a cat on mat {number}"} for number in range(20)]
    whole = {"images": [{"id": number} for number in range(20)], "annotations": annotations}
    (given.scratch / "references.json").write_text(json.dumps(whole))
    (given.scratch / "few.toml").write_text(BENCHMARK.format(slug="few", metrics='["bleu"]', references="references.json"))
    mailbox = Mailbox()
    address = mailbox.server_address[1]
    site = Site(given, smtp=f"smtp://127.0.0.1:{address}", mail_from="captions@example.org", workers="1")
    people = -(-given.submissions // 900)
    with site.running() as process:
        site.admin("benchmark", "apply", given.scratch / "few.toml")
        tokens = [site.person(f"person-{number}") for number in range(people)]
        phase = site.phase("few")

        def forgotten():
            # One address gets two links a minute.
            form = urllib.parse.urlencode({"email": f"person-{len(waits) % people}@example.org"})
            connection, begin = site.connect(), time.perf_counter()
            arrival = threading.Thread(target=lambda: waits.append(mailbox.after(begin)))
            arrival.start()
            status = ask(connection, "POST", "/forgotten", "", form)[1]
            if status != 200:
                sys.exit(f"a link was refused with {status}")
            arrival.join()

        waits = []
        forgotten()
        print(f"nothing to do: the message is there after {waits[-1]:.2f} s", flush=True)

        def submit(number):
            connection = site.connect()
            for turn in range(number, given.submissions, people):
                body = [{"image_id": image, "caption": f"a dog {turn} of mat {image}"} for image in range(20)]
                path = f"/api/v1/phases/{phase}/submissions?method=m{turn}"
                status, text = site.ask("POST", path, tokens[number], json.dumps(body), connection)
                if status != 201:
                    sys.exit(f"a submission was refused with {status}: {text[:300]}")

        together(submit, people)
        begin = time.perf_counter()
        while True:
            left = sum(
                float(line.rsplit(b" ")[-1])
                for line in site.ask("GET", "/metrics")[1].splitlines()
                if line.startswith(b"capeval_jobs{") and b'kind="score"' in line
            )
            if left == 0:
                break
            forgotten()
            print(f"{left:.0f} submissions to score: the message is there after {waits[-1]:.2f} s", flush=True)
            time.sleep(max(0, 20 - waits[-1]))
        if len(mailbox.arrivals) != len(waits):
            sys.exit(f"{len(mailbox.arrivals)} links came, {len(waits)} were asked for")
        print(f"all scored {time.perf_counter() - begin:.0f} s after the last upload, {next(mailbox.others)} other messages; most memory "
              f"{memory(process, 'VmHWM'):.0f} MB; load {os.getloadavg()[0]:.1f}")


def fill_collection(database, people, queue):
    """Makes people with sessions and a collection with a queue of pictures; returns the cookies."""
    with sqlite3.connect(database) as db:
        db.execute(
            "INSERT INTO collection (id, slug, title, summary, guide, visibility, state, languages, licences, approvals,"
            " own_pictures, releases, created_at, goals) VALUES ('c', 'c', 'Load', '', '', 'public', 'open', '[\"en\"]',"
            " '[\"CC0-1.0\"]', 0, 0, 'contributors', 0, '[{\"language\":\"\",\"captions\":5,\"target\":100000}]')"
        )
        cookies = []
        for number in range(people):
            account, token = f"person-{number:06}", uuid.uuid4().hex
            db.execute(
                "INSERT INTO account (id, email, name, password, role, created_at) VALUES (?, ?, ?, '-', 'member', 0)",
                (account, f"{account}@example.org", account),
            )
            hashed = hashlib.sha256(token.encode()).hexdigest()
            db.execute("INSERT INTO session VALUES (?, ?, 0, ?)", (hashed, account, 1 << 52))
            db.execute("INSERT INTO quiz VALUES ('c', ?, 1, 1)", (account,))
            cookies.append(f"capeval={token}")
        pictures = (
            (f"0{number:035}", f"source {number}", random.randrange(1 << 40)) for number in range(queue)
        )
        db.executemany(
            "INSERT INTO image (id, collection, licence, game, platform, source_hash, split_group, state,"
            " shuffle, width, height, created_at)"
            " VALUES (?, 'c', 'CC0-1.0', 'Game', 'PC', ?, 'g', 'open', ?, 1600, 900, 0)",
            pictures,
        )
        db.execute(
            "INSERT INTO image_slots (image, language, collection, wanted, taken, accepted, is_shown, shuffle)"
            " SELECT id, '', collection, 5, 0, 0, 1, shuffle FROM image WHERE collection = 'c'"
        )
    return cookies


def screenshot(path, width=WIDTH, height=HEIGHT):
    """Writes a PNG, of about 2 MB unless it is smaller, whose noise no other has."""
    noise = os.urandom(width * height * 3).translate(bytes(16 * (level // 16) for level in range(256)))
    rows = b"".join(
        b"\0" + noise[row * width * 3 : (row + 1) * width * 3] for row in range(height)
    )
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 1)),
        (b"IEND", b""),
    ]
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, body in chunks:
            file.write(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))


def ask(connection, method, path, cookie, body=None, kind="application/x-www-form-urlencoded"):
    """The milliseconds that an answer took, its status, its address to go to, and its body."""
    headers = {"Cookie": cookie, "Content-Type": kind, "Sec-Fetch-Site": "same-origin"}
    begin = time.perf_counter()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    return (time.perf_counter() - begin) * 1e3, answer.status, answer.getheader("location"), text


def shares(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    return f"median {at(0.5):.1f} ms, p95 {at(0.95):.1f} ms, most {times[-1]:.1f} ms of {len(times):,}"


def new_caption():
    """A caption that no one has written."""
    # Long numbers are refused as telephone numbers.
    name = uuid.uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))
    return f"A person in a coat labelled {name} walks past an old house"


def describe(site, cookies, seconds, think):
    """Has all people describe pictures; returns how long they waited for pages and for captions."""
    pages, captions, end = [], [], time.perf_counter() + seconds

    def person(number):
        connection, path = site.connect(), "/c/c/caption"
        time.sleep(random.uniform(0, think))
        while time.perf_counter() < end:
            took, status, _, page = ask(connection, "GET", path, cookies[number])
            assert status == 200, status
            pages.append(took)
            image = re.search(rb'data-image="([^"]+)"', page)
            assert image, "no picture"
            time.sleep(random.expovariate(1 / think) if think else 0)
            form = urllib.parse.urlencode({"image": image[1].decode(), "text": new_caption(), "language": "en"})
            took, status, to, _ = ask(connection, "POST", "/c/c/caption", cookies[number], form)
            assert status == 303 and "done=caption" in to, (status, to)
            captions.append(took)
            path = to

    together(person, len(cookies))
    return pages, captions


def visit(site, cookies, is_over):
    """Has four people look at pages until it is over; returns what they waited."""
    times = []

    def person(number):
        connection = site.connect()
        while not is_over():
            for path in ("/c/c", "/c/c/caption", "/c/c/guide"):
                took, status, _, _ = ask(connection, "GET", path, cookies[number])
                assert status == 200, status
                times.append(took)
            time.sleep(0.05)

    together(person, 4)
    return times


def form_of(paths):
    """The type and the body of a form with pictures."""
    edge = uuid.uuid4().hex
    fields = {"game": "Load", "licence": "CC0-1.0", "rights": "1"}
    body = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    for path in paths:
        head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{path.name}"\r\n\r\n'
        body += [head.encode(), path.read_bytes(), b"\r\n"]
    body.append(f"--{edge}--\r\n".encode())
    return f"multipart/form-data; boundary={edge}", b"".join(body)


def upload(site, cookies, files):
    """Uploads files, 20 in a request and four requests at once."""
    requests = [files[k : k + 20] for k in range(0, len(files), 20)]
    lock = threading.Lock()

    def person(number):
        connection = site.connect()
        while True:
            with lock:
                if not requests:
                    return
                mine = requests.pop()
                cookie = cookies[len(requests) % len(cookies)]
            kind, body = form_of(mine)
            _, status, _, text = ask(connection, "POST", "/c/c/upload", cookie, body, kind)
            assert status == 303, (status, text[:300])

    together(person, 4)


def waiting(site):
    lines = site.ask("GET", "/metrics")[1].splitlines()
    return any(line.startswith(b"capeval_jobs{") and not line.endswith(b" 0.0") for line in lines)


def collections(given):
    site = Site(given)
    site.admin("user", "add", "--email", "host@example.org", "--role", "host", "--password-stdin", said="a long password\n")
    cookies = fill_collection(site.folder / "capeval.db", given.people, given.queue)
    files = [given.scratch / f"{number}.png" for number in range(given.uploads)]
    for path in files:
        screenshot(path)
    with site.running() as process:
        connection = site.connect()
        for what in ("first visit", "again"):
            times = [ask(connection, "GET", "/c/c/caption", cookie)[0] for cookie in cookies]
            print(f"page with the next of {given.queue:,} pictures, {what}: {shares(times)}", flush=True)
        times = [ask(connection, "GET", "/c/c", cookies[0])[0] for _ in range(20)]
        print(f"page of the collection: {shares(times)}", flush=True)
        pages, captions = describe(site, cookies, given.seconds, given.think)
        rate = len(captions) / given.seconds
        print(f"{given.people} people at once, {rate:.0f} captions a second", flush=True)
        print(f"  next picture: {shares(pages)}\n  caption: {shares(captions)}", flush=True)
        if files:
            begin = time.perf_counter()
            before = visit(site, cookies, lambda: time.perf_counter() > begin + 10)
            print(f"pages before the uploads: {shares(before)}", flush=True)
            begin, is_done = time.perf_counter(), threading.Event()
            during = []
            visitors = threading.Thread(target=lambda: during.extend(visit(site, cookies, is_done.is_set)))
            visitors.start()
            upload(site, cookies[4:] or cookies, files)
            received = time.perf_counter() - begin
            while waiting(site):
                time.sleep(0.2)
            is_done.set()
            visitors.join()
            size = sum(path.stat().st_size for path in files) / len(files) / 1e6
            print(
                f"{len(files):,} screenshots of {size:.1f} MB: received after {received:.1f} s, "
                f"processed after {time.perf_counter() - begin:.1f} s; {memory(process):.0f} MB"
            )
            print(f"  pages during that time: {shares(during)}")


class Soak:
    """People who use a site, whatever happens to it."""

    def __init__(self, site, cookies, tokens, phase, end):
        self.site, self.cookies, self.tokens, self.phase, self.end = site, cookies, tokens, phase, end
        self.times, self.refused, self.lock = [], collections_of.Counter(), threading.Lock()

    def is_over(self):
        return time.perf_counter() > self.end

    def ask(self, number, method, path, body=None, kind="application/x-www-form-urlencoded"):
        """The body of an answer; nothing if there is none, or the server refuses because of itself."""
        try:
            took, status, _, text = ask(self.site.connect(), method, path, self.cookies[number], body, kind)
        except (OSError, http.client.HTTPException) as error:
            took, status, text = 0, type(error).__name__, b""
        with self.lock:
            if status in (200, 303):
                self.times.append(took)
            else:
                self.refused[status if isinstance(status, str) else f"{status} {path.split('/')[1]}"] += 1
        return text if status in (200, 303) else b""

    def post(self, number, path, **fields):
        return self.ask(number, "POST", path, urllib.parse.urlencode(fields))

    def person(self, number):
        scratch = self.site.folder.parent / f"{number}.png"
        while not self.is_over():
            time.sleep(random.expovariate(1))
            what = random.random()
            if what < 0.3:
                self.ask(number, "GET", random.choice(("/", "/b/few/val/leaderboard", "/c/c", "/c/c/caption", "/collections")))
            elif what < 0.4:
                results = [{"image_id": image, "caption": f"a dog {uuid.uuid4().hex[:8]} of mat {image}"} for image in range(20)]
                path = f"/api/v1/phases/{self.phase}/submissions?method=soak"
                with contextlib.suppress(OSError, http.client.HTTPException):
                    status, _ = self.site.ask("POST", path, self.tokens[number % len(self.tokens)], json.dumps(results))
                    self.refused[f"{status} submissions"] += 1
            elif what < 0.7:
                image = re.search(rb'data-image="([^"]+)"', self.ask(number, "GET", "/c/c/caption"))
                if image:
                    self.post(number, "/c/c/caption", image=image[1].decode(), text=new_caption(), language="en")
            elif what < 0.9:
                item = re.search(rb'name="item" value="([^"]+)"', self.ask(number, "GET", "/c/c/rate"))
                if item:
                    self.post(number, "/c/c/rate", item=item[1].decode(), grade=random.choice((1, 3, 4, 4)))
            elif what < 0.97:
                screenshot(scratch, 96, 96)
                kind, body = form_of([scratch])
                self.ask(number, "POST", "/c/c/upload", body, kind)
            else:
                shown = re.search(rb'data-image="([^"]+)"', self.ask(number, "GET", "/c/c/caption"))
                if shown:
                    self.post(number, "/c/c/report", kind="image", subject=shown[1].decode(), reason="offensive", note="look")

    def host(self, number):
        """What one does who runs all of it; the first of the people does."""
        for turn in itertools.count(1):
            if self.is_over():
                return
            time.sleep(5)
            page = self.ask(0, "GET", "/c/c/moderate").decode(errors="replace")
            for kind, subject in re.findall(r'action="/c/c/moderate/(images|captions)/([^"]+)"', page)[:10]:
                action = random.choice(("approve", "refuse"))
                self.post(0, f"/c/c/moderate/{kind}/{subject}", action=action, reason="unsuitable")
            if turn % 6 == 0:
                self.post(0, "/b/few/val/host/rescore")
            if turn % 9 == 0:
                self.post(0, "/c/c/releases", val=10, test=10, withheld="test")
            if turn % 12 == 0:
                made = self.site.folder.parent / "made"
                shutil.rmtree(made, ignore_errors=True)
                command = [*self.site.program, "backup", made]
                done = subprocess.run(command, capture_output=True, text=True, env=self.site.environment)
                self.refused[f"backup {done.returncode} {done.stderr[-60:].strip()}"] += 1


def fill_disk(folder):
    """Takes all space of a file system for ten seconds."""
    with open(folder / "ballast", "wb") as file, contextlib.suppress(OSError):
        # At once, since a thread among many busy ones writes little.
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free)
        file.seek(0, os.SEEK_END)
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    time.sleep(10)
    (folder / "ballast").unlink()


class Postgres:
    """A database server in a folder of its own, which no other machine reaches."""

    def __init__(self, bin, folder):
        self.bin, self.folder, self.data = pathlib.Path(bin), folder, folder / "data"
        self.folder.mkdir()
        # It refuses to run as root.
        self.user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        if self.user:
            os.chown(self.folder, 65534, 65534)
        self.call("initdb", "-U", "capeval", "-A", "trust", "-D", self.data)
        self.start()
        self.call("createdb", "-h", self.folder, "-U", "capeval", "capeval")
        self.address = f"postgres://capeval@localhost/capeval?host={self.folder}"

    def call(self, name, *arguments):
        command = [*self.user, self.bin / name, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.folder).stdout

    def start(self):
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=100"
        command = [*self.user, self.bin / "pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-o", options, "start"]
        # What it prints goes to no pipe, which would stay open as long as it runs. Where processors are busy, it may give
        # up waiting for a server that starts after all.
        while subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL).returncode != 0 and not self.is_there():
            time.sleep(1)

    def stop(self, mode="immediate"):
        self.call("pg_ctl", "-D", self.data, "-m", mode, "stop")

    def is_there(self):
        asked = [self.bin / "pg_isready", "-q", "-h", self.folder, "-U", "capeval"]
        return subprocess.run(asked).returncode == 0

    def go_away(self):
        """Ends as if killed, and comes back ten seconds later."""
        self.stop()
        time.sleep(10)
        self.start()

    def go_on(self):
        """Starts again if it has ended, as it does if it cannot write."""
        for _ in range(30):
            if self.is_there():
                return
            time.sleep(1)
        subprocess.run([*self.user, self.bin / "pg_ctl", "-D", self.data, "-m", "immediate", "stop"], capture_output=True)
        self.start()

    def rows(self, sql):
        told = self.call("psql", "-h", self.folder, "-U", "capeval", "-At", "-F", "\t", "-c", sql)
        return [line.split("\t") for line in told.splitlines()]


def soak(given):
    annotations = [{"image_id": number, "id": number, "caption": f"a cat on mat {number}"} for number in range(20)]
    whole = {"images": [{"id": number} for number in range(20)], "annotations": annotations}
    (given.scratch / "references.json").write_text(json.dumps(whole))
    plan = BENCHMARK.format(slug="few", metrics='["bleu"]', references="references.json")
    (given.scratch / "few.toml").write_text(plan.replace("= 1000", "= 1000000"))
    site = Site(given, lease_seconds="5")
    site.admin("benchmark", "apply", given.scratch / "few.toml")
    tokens = [site.person(f"team-{number}") for number in range(10)]
    cookies = fill_collection(site.folder / "capeval.db", given.people, 0)
    with contextlib.closing(sqlite3.connect(site.folder / "capeval.db")) as db, db:
        db.execute("UPDATE account SET role = 'admin' WHERE id = 'person-000000'")
        db.execute("INSERT INTO collection_staff VALUES ('c', 'person-000000', 'host')")
    given.scratch = given.scratch.resolve()
    database = Postgres(given.postgres, given.scratch / "postgres") if given.postgres else None
    if database:
        site.run("move", given.scratch / "moved", "--to", database.address)
        site.folder = given.scratch / "moved"
        site.program[2] = site.folder
    offset = given.scratch / "offset"
    if given.faketime:
        offset.write_text("+0")
        clock = {"LD_PRELOAD": given.faketime, "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_CACHE_DURATION": "1"}
        site.environment |= clock | {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
    begin = time.perf_counter()
    end = begin + given.minutes * 60
    with site.running():
        phase = site.phase("few")
    work = Soak(site, cookies, tokens, phase, end)
    people = threading.Thread(target=together, args=(work.person, given.people), daemon=True)
    host = threading.Thread(target=work.host, args=(0,), daemon=True)
    # By a day and more, files that are new would be swept away, since their times are those of the system.
    offsets = itertools.cycle(["+20h", "+0", "-10m", "+0"])
    disturbances = {
        "disk": (given.fills, lambda: fill_disk(given.scratch)),
        "database": (given.aways if database else 0, lambda: database.go_away()),
        "clock": (given.jumps if given.faketime else 0, lambda: offset.write_text(next(offsets))),
    }
    due = sorted(
        (begin + (k + 1) * given.minutes * 60 / (times + 1), what)
        for what, (times, _) in disturbances.items()
        for k in range(times)
    )
    for life in itertools.count():
        if work.is_over():
            break
        with site.running() as process:
            if life == 0:
                people.start(), host.start()
            until, samples = min(end, time.perf_counter() + given.restart_minutes * 60), []
            while time.perf_counter() < until:
                samples.append(memory(process))
                while due and time.perf_counter() > due[0][0]:
                    what = due.pop(0)[1]
                    print(f"{(time.perf_counter() - begin) / 60:.1f} min: {what}", flush=True)
                    disturbances[what][1]()
                    if database:
                        database.go_on()
                time.sleep(min(10, max(0.1, until - time.perf_counter())))
            series = " ".join(f"{size:.0f}" for size in samples[:: max(1, len(samples) // 12)])
            print(f"life {life}: memory {series} MB, most {memory(process, 'VmHWM'):.0f} MB", flush=True)
            if life % 2 == 0:
                process.kill()
    people.join(), host.join()
    with site.running() as process:
        while waiting(site):
            time.sleep(0.5)
        print(f"idle: memory {memory(process):.0f} MB; load {os.getloadavg()[0]:.1f}")
        times = sorted(work.times)
        print(f"{given.minutes} minutes, {given.people} people: {shares(times)}, p99 {times[int(0.99 * len(times))]:.1f} ms")
        print("; ".join(f"{what}: {n}" for what, n in sorted(work.refused.items())))
        done = subprocess.run([*site.program, "doctor", "--deep"], capture_output=True, text=True, env=site.environment)
        told = [line for line in done.stdout.splitlines() if line.startswith(("rows", "files", "database"))]
        print("\n".join(told))
    for table in ("submission", "score_set", "image", "caption", "rating", "report", "release", "job"):
        sql = f"SELECT {'state' if table not in ('rating', 'score_set') else '1'} AS state, COUNT(*) FROM {table} GROUP BY 1"
        if database:
            print(table, dict(database.rows(sql)))
        else:
            with contextlib.closing(sqlite3.connect(site.folder / "capeval.db")) as db:
                print(table, dict(db.execute(sql)))
    if database:
        database.stop("fast")
    sys.exit(any(" PROBLEM " in line for line in told))


# What can be measured, and its arguments with their defaults.
WORK = {
    submissions: {"people": 200, "data_of_metrics": ""},
    board: {"submissions": 12_000, "teams": 200, "measures": 20, "rates": "50,200", "seconds": 10, "rounds": 3},
    mail: {"submissions": 2_500},
    collections: {"people": 200, "queue": 100_000, "uploads": 1_000, "seconds": 60.0, "think": 10.0},
    soak: {"people": 50, "minutes": 120.0, "restart_minutes": 10.0, "fills": 0, "postgres": "", "aways": 3, "faketime": "", "jumps": 8},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for run, defaults in WORK.items():
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("server")
        command.add_argument("scratch", type=pathlib.Path)
        if run is submissions:
            command.add_argument("data", type=pathlib.Path)
        for name, default in defaults.items():
            command.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    given.run(given)


if __name__ == "__main__":
    main()
