"""The program that the package brings along."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import capeval
from conftest import MORE_THAN_A_PIPE, PATIENCE

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
COMMAND = Path(sysconfig.get_path("scripts")) / ("capeval.exe" if os.name == "nt" else "capeval")
MODULE = [sys.executable, "-m", "capeval"]


def run(*args: str, command: list[str] = MODULE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *args], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [MODULE, [str(COMMAND)]], ids=["module", "script"])
def test_the_program_gives_the_scores_of_the_package(command: list[str]) -> None:
    files = [str(QUICKSTART / name) for name in ("references.json", "good.json")]
    done = run("score", "-m", "bleu,cider-d", "--format", "json", "-r", *files, command=command)
    assert (done.returncode, done.stderr) == (0, "")
    report = capeval.score(*files, metrics=["bleu", "cider-d"])
    assert json.loads(done.stdout)["systems"][0]["scores"] == dict(report.scores)


def test_the_program_has_the_defaults_of_the_package(tmp_path: Path) -> None:
    references, good, weak = (str(QUICKSTART / name) for name in ("references.json", "good.json", "weak.json"))
    pairs = tmp_path / "pairs.json"
    both = [json.loads(Path(path).read_text()) for path in (good, weak)]
    captions = [{row["image_id"]: row["caption"] for row in rows} for rows in both]
    judged = [{"image_id": key, "captions": [text, captions[1][key]], "winner": "a"} for key, text in captions[0].items()]
    pairs.write_text(json.dumps(judged))
    ratings = tmp_path / "ratings.json"
    rated = [{"image_id": key, "caption": text, "rating": k} for k, rows in enumerate(captions) for key, text in rows.items()]
    ratings.write_text(json.dumps(rated))
    commands = {
        ("compare", "-r", references, good, weak): lambda: capeval.compare(references, {"good": good, "weak": weak}, "bleu"),
        ("score", "--ci", "-r", references, good): lambda: capeval.score(
            references, systems={"good": good}, metrics="bleu", intervals=True
        ),
        ("prefer", "--ci", "-r", references, str(pairs)): lambda: capeval.prefer(pairs, references, "bleu", intervals=True),
        ("correlate", "--ci", "-r", references, str(ratings)): lambda: capeval.correlate(
            ratings, references, "bleu", intervals=True
        ),
    }
    for command, call in commands.items():
        printed = json.loads(run(*command, "-m", "bleu", "--format", "json").stdout)
        given = call().to_dict()
        # Only the program has a command, and names its system in the reading.
        own = ("run", "reading")
        assert {k: v for k, v in printed.items() if k not in own} == {k: v for k, v in given.items() if k not in own}, command[0]


def test_the_exit_code_of_the_program_is_that_of_the_process() -> None:
    failed = run("score", "-r", "absent.json", "absent.json")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: absent.json")
    assert run("scroe").returncode == 2
    assert run("--version").stdout == f"capeval {capeval.__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has another shell")
def test_a_closed_standard_output_is_an_error() -> None:
    files = [str(QUICKSTART / name) for name in ("references.json", "good.json")]
    # Whatever is opened before the package takes the place of standard output.
    late = "import sys; file = open(sys.executable); from capeval.__main__ import main; sys.exit(main())"
    for command in (MODULE, [sys.executable, "-c", late]):
        closed = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "-", *command, "score", "-m", "bleu", "-r", *files],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert closed.returncode == 2
        assert "standard output is closed" in closed.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_an_interrupt_ends_the_program() -> None:
    waiting = subprocess.Popen(
        [*MODULE, "tokenize"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert waiting.stdin is not None and waiting.stdout is not None
    # Python itself has started, and the program reads.
    waiting.stdin.write(b"\n" * MORE_THAN_A_PIPE)
    waiting.stdin.flush()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(PATIENCE) == -signal.SIGINT
    waiting.communicate()
