#!/usr/bin/env python3
"""Measure the collections of the evaluation server under load, on loopback and on SQLite, which writes with FULL.

    collections_load.py SERVER SCRATCH [--people N] [--queue N] [--uploads N] [--seconds S] [--think S]

SERVER is the program, SCRATCH an empty folder. People, their sessions and a queue of pictures are written into the
database before the server starts. It prints: how long the page with the next picture takes in a queue of 100,000; what
200 people wait who describe pictures at once, each with THINK seconds on average to write a caption; and what visitors
of pages wait before and while 1,000 screenshots of 2 MB are uploaded and decoded, 20 at a time.
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
import zlib

from server_load import Site, memory

LIMITS = ("CAPTIONS", "PICTURES")
WIDTH, HEIGHT = 1600, 900


def fill(database, people, queue):
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


def screenshot(path):
    """Writes a PNG of about 2 MB whose noise no other has."""
    noise = os.urandom(WIDTH * HEIGHT * 3).translate(bytes(16 * (level // 16) for level in range(256)))
    rows = b"".join(
        b"\0" + noise[row * WIDTH * 3 : (row + 1) * WIDTH * 3] for row in range(HEIGHT)
    )
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)),
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


def together(act, people):
    """Runs `act` for all people at once, and ends the program if one of them fails."""
    errors = []

    def one(number):
        try:
            act(number)
        except (OSError, AssertionError) as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        sys.exit(f"{len(errors)} failed, the first with {errors[0]}")


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
            # Long numbers are refused as telephone numbers.
            name = uuid.uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))
            text = f"A person in a coat labelled {name} walks past an old house"
            form = urllib.parse.urlencode({"image": image[1].decode(), "text": text, "language": "en"})
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
            edge = uuid.uuid4().hex
            fields = {"game": "Load", "licence": "CC0-1.0", "rights": "1"}
            body = [
                f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                for name, value in fields.items()
            ]
            for path in mine:
                head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{path.name}"\r\n\r\n'
                body += [head.encode(), path.read_bytes(), b"\r\n"]
            body.append(f"--{edge}--\r\n".encode())
            kind = f"multipart/form-data; boundary={edge}"
            _, status, _, text = ask(connection, "POST", "/c/c/upload", cookie, b"".join(body), kind)
            assert status == 303, (status, text[:300])

    together(person, 4)


def waiting(site):
    lines = site.ask("GET", "/metrics")[1].splitlines()
    return any(line.startswith(b"capeval_jobs{") and not line.endswith(b" 0.0") for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--queue", type=int, default=100_000)
    parser.add_argument("--uploads", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--think", type=float, default=10)
    given = parser.parse_args()
    given.data_of_metrics = None
    given.scratch.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = Site(given, port)
    site.environment |= {f"CAPEVAL_SERVER_{name}_PER_MINUTE": str(10**6) for name in LIMITS}
    site.admin("user", "add", "--email", "host@example.org", "--role", "host", "--password-stdin", said="a long password\n")
    cookies = fill(site.folder / "capeval.db", given.people, given.queue)
    files = [given.scratch / f"{number}.png" for number in range(given.uploads)]
    for path in files:
        screenshot(path)
    process = subprocess.Popen(site.program, env=site.environment, stdout=subprocess.DEVNULL)
    try:
        site.wait()
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
    finally:
        process.terminate()
        process.wait()
        for path in files:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
