"""Requirements of long-running programs: forks, threads, Ctrl-C, constant memory, a fast import, correct examples."""

from __future__ import annotations

import concurrent.futures
import doctest
import importlib
import importlib.util
import multiprocessing
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import capeval
from capeval.compat.rouge_score.rouge_scorer import RougeScorer
from capeval.reward import CiderD, Reward
from conftest import PATIENCE

REFERENCES = {k: [f"a dog {k} runs on the grass", f"the dog {k % 7} runs", "two dogs play"] for k in range(200)}
IDS = list(REFERENCES)
CAPTIONS = [f"a dog {k} plays on the grass" for k in IDS]

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")


def rewards(reward):
    return reward(IDS, CAPTIONS).tolist()


def all_modules():
    for module in pkgutil.walk_packages(capeval.__path__, "capeval."):
        yield module.name


def test_examples_in_docstrings_are_true():
    attempted = 0
    for name in ["capeval", *all_modules()]:
        if name.endswith("._engine") or (name == "capeval.arrow" and not importlib.util.find_spec("pyarrow")):
            continue
        failed, tried = doctest.testmod(importlib.import_module(name))
        assert failed == 0, name
        attempted += tried
    assert attempted >= 12


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_workers_score_after_the_parent_has():
    reward = CiderD(REFERENCES, dtype="float64")
    expected = rewards(reward)
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as pool:
        futures = [pool.submit(in_child, reward, os.getpid()) for _ in range(9)]
        for future in futures:
            found, threads, is_child = future.result(timeout=PATIENCE)
            assert found == expected and threads == 1 and is_child
    assert rewards(reward) == expected


def in_child(reward, parent):
    capeval.score(REFERENCES, dict(zip(IDS, CAPTIONS)), ["bleu", "cider-d"])
    return rewards(reward), capeval.get_num_threads(), os.getpid() != parent


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_other_threads_score_does_not_hang():
    reward = CiderD(REFERENCES, dtype="float64", threads=2)
    expected = rewards(reward)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            rewards(reward)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if rewards(reward) == expected else 1)
            deadline = time.monotonic() + PATIENCE
            while True:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    break
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    pytest.fail("a forked child hangs")
                time.sleep(0.005)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_short_calls_score_as_long_ones_do_on_every_thread_and_after_a_fork():
    # Few captions are scored on the thread that imported the package, many on a pool.
    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    texts = [references[0] for references in REFERENCES.values()]
    many = scorer.score_many([[text] * 20 for text in texts], CAPTIONS)

    def one_by_one():
        return [scorer.score(*pair) for pair in zip(texts, CAPTIONS)]

    assert one_by_one() == many
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert [future.result(timeout=PATIENCE) for future in [pool.submit(one_by_one) for _ in range(4)]] == [many] * 4
    assert in_time(lambda: one_by_one() == many)
    # The thread still uses all threads for what is long.
    assert scorer.score_many([[text] * 20 for text in texts], CAPTIONS) == many


def in_time(work):
    """What `work` says in a forked child: true or false; fails if the child hangs."""
    pid = os.fork()
    if pid == 0:
        good = False
        try:
            good = bool(work())
        finally:
            os._exit(0 if good else 1)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("a forked child hangs")


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_uses_prepared_references_of_many_pieces(tmp_path):
    """Checksums of files beyond 4 MiB are taken in parallel."""
    references = {k: [f"a dog {k} runs on the grass {j * k}" for j in range(5)] for k in range(12_000)}
    candidates = {k: f"a dog {k} plays on the grass" for k in references}
    evaluator = capeval.Evaluator(references, ["bleu", "cider-d"])
    path = tmp_path / "references.capeval"
    evaluator.save(path)
    assert path.stat().st_size > 4 << 20
    expected = evaluator.score(candidates).scores
    ids, captions = list(candidates)[:50], list(candidates.values())[:50]
    rewarded = CiderD(evaluator, dtype="float64")(ids, captions).tolist()
    assert in_time(lambda: evaluator.score(candidates).scores == expected)
    assert in_time(lambda: capeval.Evaluator.load(path, ["bleu", "cider-d"]).score(candidates).scores == expected)
    assert in_time(lambda: CiderD(evaluator, dtype="float64")(ids, captions).tolist() == rewarded)
    assert in_time(lambda: evaluator.ids == list(references))


OWN_THREADS = """
import os, sys
import numpy, pyarrow
import capeval
from capeval.arrow import RowScorer
from capeval.reward import CiderD

def threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm") as comm:
            names.append(comm.read().strip())
    return sum(not name.startswith("capeval-") for name in names), len(names)

before, _ = threads()
capeval.set_num_threads(1)
references = {k: [f"a dog {k} runs on the grass {j * k}" for j in range(5)] for k in range(6000)}
candidates = {k: f"a dog {k} plays on the grass" for k in references}
evaluator = capeval.Evaluator(references, ["bleu", "cider-d"])
evaluator.score(candidates)
evaluator.save(sys.argv[1])
capeval.Evaluator.load(sys.argv[1]).ids
CiderD(evaluator)([1], ["a dog"])
rows = pyarrow.RecordBatch.from_pydict({"candidate": ["a dog", "a cat"], "references": [["the dog"], ["the cat"]]})
scorer = RowScorer(["rouge155"])
scorer.corpus(scorer.statistics(rows))
own, every = threads()
print(own - before, every - own)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs /proc")
def test_all_work_is_done_by_as_many_threads_as_were_asked_for(tmp_path):
    pytest.importorskip("pyarrow")
    run = subprocess.run(
        [sys.executable, "-c", OWN_THREADS, tmp_path / "r"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert run.stdout.split() == ["0", "1"]


def test_many_threads_share_a_reward():
    reward = Reward(REFERENCES, {"cider-d": 1.0, "rouge-l": 0.5}, dtype="float64")
    expected = rewards(reward)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: rewards(reward), range(100)))


def test_the_interpreter_is_free_while_captions_are_scored():
    """A counter in another thread goes on, as it could not if the lock were held."""
    reward = CiderD(REFERENCES, threads=1)
    ids, captions = IDS * 100, CAPTIONS * 100
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    during, start, interval = 0, time.monotonic(), sys.getswitchinterval()
    # This thread keeps the lock unless it lets go of it.
    sys.setswitchinterval(PATIENCE)
    try:
        while during < 3 and time.monotonic() - start < PATIENCE:
            before = counted
            reward(ids, captions)
            during += counted - before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        counter.join()
    assert during >= 3


INTERRUPTED = """
import os, signal, threading
import capeval
refs = {k: [f"word{k} and word{k + j} stand by the road" for j in range(5)] for k in range(40000)}
hyps = {k: f"word{k} stands by some road" for k in refs}
told = []
def progress(stage, done, total):
    told.append((stage, done, total))
    # In the middle of the longest stage, once.
    if stage == "measuring" and 0 < done < total and not interrupting.is_set():
        interrupting.set()
        threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
interrupting = threading.Event()
try:
    while True:
        capeval.score(refs, hyps, ["rouge155", "chrf++", "ter", "cider-d"], progress=progress)
except KeyboardInterrupt:
    stage, done, total = told[-1]
    print("interrupted", stage, done < total)
# The package works on.
print(capeval.score({1: ["a b"]}, {1: "a b"}, ["bleu"])["bleu-1"] > 0.99)
"""


@posix
def test_ctrl_c_ends_a_long_call_and_the_package_works_on():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert run.stdout.split() == ["interrupted", "measuring", "True", "True"], run.stderr


def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def score_captions(n):
    """Memory in KiB before and after n captions, new words in each batch."""
    reward = Reward(REFERENCES, {"cider-d": 1.0, "bleu-4": 1.0, "rouge-l": 1.0})
    batch = [f"{caption} {{}}" for caption in CAPTIONS] * 25

    def run(k):
        reward(IDS * 25, [text.format(k) for text in batch])

    for k in range(20):
        run(k)
    before = resident()
    for k in range(n // len(batch)):
        run(f"unheard{k}")
    return before, resident()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_stays_flat_over_half_a_million_captions():
    before, after = score_captions(500_000)
    assert after - before < 8 * 1024, f"from {before} to {after} KiB"


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CAPEVAL_SLOW"), reason="takes a minute; set CAPEVAL_SLOW=1")
def test_memory_stays_flat_over_ten_million_captions():
    before, after = score_captions(10_000_000)
    print(f"resident: {before} KiB, after 10,000,000 captions {after} KiB")
    assert after - before < 8 * 1024, f"from {before} to {after} KiB"


def test_importing_takes_no_other_package():
    """How long it takes is measured by `cargo xtask bench`."""
    code = "import sys; import capeval; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-c", code.replace("import capeval", "pass")], capture_output=True, text=True, check=True
    )
    taken = set(run.stdout.split()) - set(bare.stdout.split()) - set(sys.stdlib_module_names)
    assert taken == {"capeval"}


def test_empty_rewards_are_empty_arrays():
    assert CiderD(REFERENCES)([], []).shape == (0,) and CiderD(REFERENCES)([], []).dtype == np.float32
