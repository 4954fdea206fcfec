"""Judges: metrics that ask a language model, here a server of the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import capeval

REFERENCES = {1: ["a dog runs", "a brown dog"], 2: ["two cats"], 3: ["a red bus"]}
CAPTIONS = {1: "a dog", 2: "cats on a mat", 3: "a bus"}


class Server:
    """Grades by the length of what it is asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], Any]] = []
        known = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known.append(({name.lower(): value for name, value in self.headers.items()}, body))
                asked = body["messages"][-1]["content"]
                if '"better"' in asked:
                    text = '{"reason": "first", "better": "A"}'
                else:
                    text = json.dumps({"reason": "so it is", "score": len(asked) % 11})
                answer = {"model": "tiny-1", "choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
                payload = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_a_judge_scores_and_its_answers_give_the_same_scores_again(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "judgements.jsonl"
    judging = capeval.Judging(server.address, model="tiny", judgements=file, api_key="canary-3")
    assert "canary" not in repr(judging)
    report = capeval.score(REFERENCES, CAPTIONS, metrics=["judge", "rouge-l"], judging=judging)
    assert len(server.requests) == 3
    assert server.requests[0][0]["authorization"] == "Bearer canary-3"
    assert "|model:tiny-1|judgements:" in report.signatures["judge"]
    assert "canary" not in file.read_text()
    replay = capeval.Judging(judgements=file, replay=True)
    again = capeval.score(REFERENCES, CAPTIONS, metrics=["judge", "rouge-l"], judging=replay)
    assert dict(again) == dict(report) and len(server.requests) == 3
    assert again.signatures == report.signatures
    prepared = capeval.Evaluator(REFERENCES, ["rouge-l"])
    assert dict(prepared.score(CAPTIONS, ["judge", "rouge-l"], judging=replay)) == dict(report)
    explained = capeval.explain(REFERENCES, CAPTIONS, ["judge"], images=[1], judging=replay)
    assert "so it is" in str(explained[0])


def test_pairs_are_judged_in_both_orders(server: Server, tmp_path: Path) -> None:
    judging = capeval.Judging(server.address, model="tiny", judgements=tmp_path / "j.jsonl")
    pairs = [{"image_id": 1, "captions": ["a dog", "a cat"], "references": ["a dog runs"], "votes": [3, 0]}]
    preference = capeval.prefer(pairs, metrics=["judge-pair"], judging=judging, metric_ties="half")
    # It always prefers the first caption, so both orders disagree, and that is a tie.
    assert len(server.requests) == 2
    assert preference["judge-pair"].mean == 0.5
    comparison = capeval.compare(REFERENCES, {"a": CAPTIONS, "b": {1: "x", 2: "y", 3: "z"}}, metrics=["judge-pair"], judging=judging)
    assert "judge-pair" in str(comparison) and len(server.requests) == 8


def test_a_call_asks_only_if_it_may(server: Server, tmp_path: Path) -> None:
    said: list[str] = []

    def refuse(plan: str) -> bool:
        said.append(plan)
        return False

    judging = capeval.Judging(server.address, model="tiny", judgements=tmp_path / "j.jsonl", confirm=refuse)
    with pytest.raises(ValueError, match="nothing was asked: judge asks tiny at 127.0.0.1 3 questions"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["judge"], judging=judging)
    assert len(said) == 1 and not server.requests
    limited = capeval.Judging(server.address, model="tiny", judgements=tmp_path / "j.jsonl", max_requests=2)
    with pytest.raises(ValueError, match=r"the limit of 2 is reached.*judging=capeval.Judging\(max_requests=…\)"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["judge"], judging=limited)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("judging", "metrics", "message"),
    [
        (None, ["judge"], r"judge keeps every answer in a file, and none is named; pass judging=capeval.Judging\(judgements="),
        (capeval.Judging(judgements="x.jsonl"), ["judge"], r"no server is named; pass judging=capeval.Judging\(endpoint="),
        (capeval.Judging("http://localhost:1/v1", judgements="x.jsonl"), ["bleu"], "no metric is a judge"),
        (capeval.Judging("here", judgements="x.jsonl"), ["judge"], "here: this is not the address of a server"),
        (capeval.Judging("http://localhost:1/v1", api_key=" "), ["judge"], "api_key: the key is empty"),
        (capeval.Judging("http://localhost:1/v1", answer_timeout=0), ["judge"], "answer_timeout must be a number of seconds above 0"),
    ],
)
def test_what_is_missing_is_told(judging: capeval.Judging | None, metrics: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        capeval.score(REFERENCES, CAPTIONS, metrics=metrics, judging=judging)


def test_other_types_and_rows_are_refused() -> None:
    with pytest.raises(TypeError, match="judging must be a capeval.Judging, not dict"):
        capeval.score(REFERENCES, CAPTIONS, metrics=["judge"], judging={"endpoint": "x"})  # type: ignore[arg-type]
    from capeval.arrow import RowScorer

    with pytest.raises(ValueError, match="judge asks a language model, which rows of tables cannot"):
        RowScorer(["judge"])


def test_judges_are_listed() -> None:
    listed = {metric["name"]: metric for metric in capeval.metrics()}
    assert listed["judge-items"]["keys"] == ["judge-items-coverage", "judge-items-precision"]
    assert listed["judge"]["needs"] == "a language model behind a server that speaks OpenAI's chat API"
