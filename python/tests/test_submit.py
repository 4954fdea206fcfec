"""Submission of results to an evaluation server, which is a script on loopback here."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

import capeval

SET = {"name": "c5", "language": "en", "state": "ready", "images": 2, "references": 10, "measures": []}
PHASE = {
    "id": "p",
    "benchmark": "coco",
    "phase": "test",
    "title": "Test",
    "is_open": True,
    "per_day": 5,
    "in_total": 50,
    "board": "public",
    "decimals": 3,
    "metrics": ["cider"],
    "main_set": "c5",
    "main_metric": "cider",
    "reference_sets": [SET],
}
PHASES = {"benchmarks": [{"slug": "coco", "title": "COCO", "summary": "", "phases": [PHASE]}]}
CAPTIONS = {1: "a dog", 2: "two cats"}


def submission(state: str) -> dict[str, Any]:
    scores = {"c5": {"cider": 0.964}} if state == "scored" else None
    about = {"id": "s", "phase": "p", "method": "Ours", "created_at": "2026-01-01T00:00:00Z"}
    return {**about, "state": state, "page": "http://x/submissions/s", "reason": None, "scores": scores}


@contextmanager
def server(*answers: tuple[int, Any]) -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """A server that gives each answer in turn; its address, and what it was asked."""
    waiting, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append((self.command, self.path, body))
            status, value = waiting.pop(0)
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = answer

        def log_message(self, *args: Any) -> None:
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}", asked
    finally:
        httpd.shutdown()
        httpd.server_close()


def test_results_are_handed_in_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPEVAL_TOKEN", "cev_x")
    with server((200, PHASES), (201, submission("queued")), (200, submission("scored"))) as (to, asked):
        done = capeval.submit(CAPTIONS, to, "coco/test", method="Ours")
    assert done is not None
    assert (done.state, done.scores, done.is_repeated) == ("scored", {"c5": {"cider": 0.964}}, False)
    method, path, body = asked[1]
    assert (method, path) == ("POST", "/api/v1/phases/p/submissions?method=Ours")
    assert json.loads(gzip.decompress(body)) == [
        {"image_id": 1, "caption": "a dog"},
        {"image_id": 2, "caption": "two cats"},
    ]
    asking = {"key": "external-data", "label": "?", "kind": "yes-no", "unit": "", "choices": [], "required": True}
    phases = {"benchmarks": [{**PHASES["benchmarks"][0], "phases": [{**PHASE, "columns": [asking]}]}]}
    with server((200, phases), (201, submission("scored"))) as (to, asked):
        said: dict[str, Any] = {"authors": "A", "tags": ["x", "y"], "columns": {"external-data": False}}
        capeval.submit(CAPTIONS, to, "coco/test", method="Ours", **said)
    assert asked[1][1].endswith("?method=Ours&authors=A&tags=x%2Cy&column.external-data=no")
    with server((200, phases)) as (to, _), pytest.raises(ValueError, match="pass columns=… to fill in: external-data"):
        capeval.submit(CAPTIONS, to, "coco/test", method="Ours")
    with server((200, PHASES), (200, {"is_valid": True})) as (to, _):
        assert capeval.submit(CAPTIONS, to, "coco/test", method="Ours", check=True) is None


@pytest.mark.parametrize(
    "answers, error, words",
    [
        ([(401, {"code": "token"})], PermissionError, "token=…"),
        ([(200, PHASES), (403, {"code": "scope"})], PermissionError, "scope `submit`"),
        ([(200, PHASES), (429, {"code": "day-used", "detail": "No more today."})], ValueError, "No more today"),
        ([(502, None)], ConnectionError, "is not working at the moment"),
    ],
)
def test_refusals_are_exceptions(answers: list[Any], error: type[Exception], words: str) -> None:
    with server(*answers) as (to, _), pytest.raises(error, match=words):
        capeval.submit(CAPTIONS, to, "coco/test", method="Ours", token="cev_x")


def test_what_cannot_be_sent_is_refused() -> None:
    # A port that is taken, by a socket that does not listen.
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        to = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ConnectionError, match="connection refused"):
            capeval.submit(CAPTIONS, to, "coco/test", method="Ours", token="cev_x")
    with pytest.raises(ValueError, match="captions are empty: 2"):
        capeval.submit({1: "a", 2: " "}, "http://127.0.0.1:9", "coco/test", method="Ours", token="cev_x")
    with server((200, PHASES)) as (to, _), pytest.raises(ValueError, match="pass check=True to see"):
        capeval.submit({1: "a"}, to, "coco/test", method="Ours", token="cev_x")
