#!/usr/bin/env python3
"""Compare Spark with one machine on COCO val2014 leave-one-out, and measure rates.

    spark_check.py exact REFERENCES CANDIDATES [ROWS] [--engine sail|spark|connect] [--metrics a,b] [--master URL --slow]
    spark_check.py stream REFERENCES CANDIDATES [ROWS] [--metrics a,b] [--folder DIR]
    spark_check.py rate REFERENCES CANDIDATES ROWS [--engine ...] [--metrics a,b] [--folder DIR] [--alone]

`exact` scores in 1, 7 and 64 shuffled partitions and wants equal bits. On Spark, which needs Java 17 and pyspark, some
tasks raise and the worker of others is killed, on their first attempt; with `--slow`, they take long instead, so that Spark
starts copies of them, which it does on a cluster (`--master spark://…`). `connect` is Spark behind its own Connect server.

`stream` scores files that arrive one after another, stops in the middle, begins again, and wants the rows of a batch.

`rate` scores ROWS captions that are resampled with new ids, and prints the processor time after the start of Spark, by
kind of process, and the peak memory of the largest Python worker; then the time of a job that only moves the rows to Python
as often (the floor), and that of `capeval.score` in a process of its own, unless `--alone`. METEOR needs its data
(CAPEVAL_DATA).
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = "bleu,meteor,rouge-l,cider-d,cider,sacrebleu,chrf,ter,rouge-score,rouge155"
TYPES = "image_id bigint, candidate string, references array<string>"


def read(references, candidates):
    """Rows of id, caption and references."""
    import gzip

    def load(path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            return json.load(file)

    by_image = {}
    for annotation in load(references)["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
    return [(row["image_id"], row["caption"], by_image[row["image_id"]]) for row in load(candidates)]


def session(engine, master="local[2,4]"):
    from pyspark.sql import SparkSession

    if engine == "sail":
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer()
        server.start(background=True)
        remote = SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
        remote._server = server
        return remote
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # By default two tasks at a time, each of which may fail three times.
    builder = SparkSession.builder.master(master) if engine == "spark" else SparkSession.builder.remote(master)
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    for option in filter(None, os.environ.get("SPARK_CHECK_CONFIG", "").split(",")):
        builder = builder.config(*option.split("=", 1))
    return builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()


def failing(batches):
    """Passes batches on, but not on the first attempt of two tasks in three."""
    from pyspark import TaskContext

    task = TaskContext.get()
    for batch in batches:
        yield batch
        if task is not None and task.attemptNumber() == 0 and task.partitionId() % 3 == 0:
            raise RuntimeError("this task fails on its first attempt")
        if task is not None and task.attemptNumber() == 0 and task.partitionId() % 3 == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def slow(batches):
    """Passes batches on, which takes long on the first attempt of one task in three."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task.attemptNumber() == 0 and task.partitionId() % 3 == 0:
        time.sleep(30)
    elif task.attemptNumber() > 0:
        print(f"copy of task {task.partitionId()}", file=sys.stderr, flush=True)
    yield from batches


def each(metrics):
    """The metrics as one machine has to read them to see what rows see."""
    own = ("chrf", "ter", "sacrebleu", "rouge-score", "rouge155")
    return [name if name.startswith(own) else f"{name}:tok=ptb-each" for name in metrics]


def exact(rows, metrics, engine, master, hinder):
    import capeval
    from capeval import spark

    references = {id: texts for id, _, texts in rows}
    candidates = {id: text for id, text, _ in rows}
    table = capeval.DocumentFrequencies.build(references, tokenizer="ptb-each")
    one = capeval.score(references, candidates, each(metrics), document_frequencies=table)
    kind, engine = engine, session(engine, master)
    print(kind, engine.version)
    intervals = set()
    for partitions in (1, 7, 64):
        start = time.time()
        random.Random(partitions).shuffle(rows)
        df = engine.createDataFrame(rows, TYPES).repartition(partitions)
        if kind != "sail":
            df = df.mapInArrow(hinder, TYPES)
        counted = spark.document_frequencies(df)
        assert counted.fingerprint == table.fingerprint, (counted, table)
        report = spark.evaluate(df, metrics, intervals=True, resamples=200)
        assert report.scores == one.scores, [(k, v, one[k]) for k, v in report.scores.items() if v != one[k]]
        assert report.signatures == one.signatures, (report.signatures, one.signatures)
        intervals.add(str(report.intervals))
        found = spark.score(df, metrics, keep=["image_id"], document_frequencies=counted if len(rows) < 10**5 else None)
        wanted = {id: k for k, id in enumerate(one.ids)}
        got = found.toPandas()
        order = [wanted[id] for id in got["image_id"]]
        assert len(got) == len(rows)
        for key, values in one.segments.items():
            assert (got[key].to_numpy() == values[order]).all(), key
        print(
            f"{partitions} partitions: table {counted.fingerprint}, {len(report.scores)} corpus scores and "
            f"{len(got)} x {len(one.segments)} row scores equal in every bit, {time.time() - start:.0f} s",
            flush=True,
        )
    assert len(intervals) == 1
    print(dict(one.scores))


def stream(rows, metrics, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    from capeval import spark

    engine = session("spark")
    folder = Path(tempfile.mkdtemp(dir=folder))
    (folder / "incoming").mkdir()
    df = engine.createDataFrame(rows, TYPES)
    table = str(folder / "corpus.df")
    spark.document_frequencies(df).save(table)

    def begin():
        incoming = engine.readStream.schema(TYPES).option("maxFilesPerTrigger", 1).parquet(str(folder / "incoming"))
        scores = spark.score(incoming, metrics, keep=["image_id"], document_frequencies=table)
        return (
            scores.writeStream.format("parquet").option("path", str(folder / "scores"))
            .option("checkpointLocation", str(folder / "state")).start()
        )

    def arrive(first, last):
        for part in range(first, last):
            some = [dict(zip(("image_id", "candidate", "references"), row)) for row in rows[part::10]]
            pq.write_table(pa.Table.from_pylist(some), folder / "incoming" / f"{part}.parquet", compression="none")

    arrive(0, 5)
    query = begin()
    while not query.recentProgress or query.lastProgress["batchId"] < 1:
        time.sleep(0.05)
    query.stop()
    done = query.lastProgress["batchId"] + 1
    arrive(5, 10)
    query = begin()
    query.processAllAvailable()
    query.stop()
    wanted = spark.score(df, metrics, keep=["image_id"], document_frequencies=table).toPandas()
    found = engine.read.parquet(str(folder / "scores")).toPandas()
    sort = lambda frame: frame.sort_values("image_id").reset_index(drop=True)
    assert len(found) == len(rows) and sort(found).equals(sort(wanted))
    print(f"stopped after {done} of 10 files and begun again: {len(found)} rows equal those of a batch in every bit")


def tree(root):
    """The processor seconds of a process and its descendants, by kind, and the greatest peak memory of a Python among these."""
    parents, names, seconds, peaks = {}, {}, {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name, stat = (path / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            fields = stat.split()
            peak = [line for line in (path / "status").read_text().splitlines() if line.startswith("VmHWM")]
        except (OSError, ProcessLookupError):
            continue
        pid = int(path.name)
        parents[pid], names[pid] = int(fields[1]), name
        # Those of children that have ended, too.
        seconds[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        peaks[pid] = int(peak[0].split()[1]) / 1024 if peak and name.startswith("python") else 0
    inside = {root}
    while more := {pid for pid, parent in parents.items() if parent in inside} - inside:
        inside |= more
    kinds = {"driver": 0.0, "JVM": 0.0, "Python workers": 0.0}
    for pid in inside:
        kind = "driver" if pid == root else "JVM" if names.get(pid) == "java" else "Python workers"
        kinds[kind] += seconds.get(pid, 0)
    return kinds, max((peaks.get(pid, 0) for pid in inside - {root}), default=peaks.get(root, 0))


def resampled(rows, n, folder):
    """A Parquet file of `n` rows with new ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(folder) / f"coco-{n}.parquet"
    if not path.exists():
        draw = random.Random(n)
        with pq.ParquetWriter(path, pa.schema([("image_id", pa.int64()), ("candidate", pa.string()), ("references", pa.list_(pa.string()))]), compression="none") as out:
            for first in range(0, n, 50_000):
                some = draw.choices(rows, k=min(50_000, n - first))
                ids = range(first, first + len(some))
                out.write_table(pa.table([ids, [row[1] for row in some], [row[2] for row in some]], schema=out.schema))
    return path


ONE = """
import sys, time, pyarrow.parquet as pq, resource, capeval
start = resource.getrusage(resource.RUSAGE_SELF)
table = pq.read_table(sys.argv[1])
candidates = table.select(["image_id", "candidate"]).rename_columns(["image_id", "caption"])
references = table.select(["image_id", "references"]).rename_columns(["image_id", "captions"])
begun = time.time()
report = capeval.score(references, candidates, sys.argv[2].split(","), segments=False, empty="keep")
end = resource.getrusage(resource.RUSAGE_SELF)
print(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime, time.time() - begun, end.ru_maxrss / 1024)
"""


def rate(rows, metrics, n, kind, folder, alone):
    path = resampled(rows, n, folder)
    engine = session(kind)
    from capeval import spark

    def timed(what, work):
        before, _ = tree(os.getpid())
        start = time.time()
        result = work()
        wall = time.time() - start
        after, peak = tree(os.getpid())
        kinds = {name: after[name] - before[name] for name in after}
        cpu = sum(kinds.values())
        shares = ", ".join(f"{name} {seconds / n * 1e6:.1f}" for name, seconds in kinds.items() if seconds)
        print(
            f"{kind} {engine.version}, {n} captions, {what}: {cpu:.1f} s of processors, {wall:.1f} s, "
            f"{cpu / n * 1e6:.1f} us per caption ({shares}), largest Python {peak:.0f} MB, load {os.getloadavg()[0]:.0f}",
            flush=True,
        )
        return result, cpu

    def floor(df):
        from pyspark.sql import functions as f

        def rows(batches):
            import pyarrow as pa

            yield pa.record_batch([pa.array([sum(batch.num_rows for batch in batches)])], ["n"])

        df.groupBy("image_id").agg(f.count("*").alias("n")).where("n > 1").limit(5).collect()
        for columns in (["candidate", "references"], ["image_id", "candidate", "references"]):
            df.select(*columns).mapInArrow(rows, "n bigint").collect()

    first = engine.createDataFrame(rows[:2000], TYPES)
    spark.evaluate(first, metrics)  # Starts workers, compiles plans.
    df = engine.read.parquet(str(path))
    report, cpu = timed("scoring", lambda: spark.evaluate(df, metrics))
    timed("floor", lambda: floor(df))
    print(list(report.scores.items())[:4], flush=True)
    if alone:
        return
    found = subprocess.run(
        [sys.executable, "-c", ONE, path, ",".join(each(metrics))], capture_output=True, text=True, check=True
    )
    one, wall, memory = map(float, found.stdout.split())
    print(
        f"capeval.score, {n} captions: {one:.1f} s of processors, {wall:.1f} s, {one / n * 1e6:.1f} us per caption, "
        f"{memory:.0f} MB; {kind} takes {cpu / one:.2f} times the processor time"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["exact", "stream", "rate"])
    parser.add_argument("references")
    parser.add_argument("candidates")
    parser.add_argument("rows", nargs="?", type=int)
    parser.add_argument("--engine", choices=["spark", "connect", "sail"], default="spark")
    parser.add_argument("--master", default="local[2,4]")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--folder", default=".")
    given = parser.parse_args()
    rows = read(given.references, given.candidates)
    if given.task == "exact":
        hinder = slow if given.slow else failing
        exact(rows[: given.rows], given.metrics.split(","), given.engine, given.master, hinder)
    elif given.task == "stream":
        stream(rows[: given.rows], given.metrics.split(","), given.folder)
    else:
        rate(rows, given.metrics.split(","), given.rows, given.engine, given.folder, given.alone)


if __name__ == "__main__":
    main()
