#!/usr/bin/env python3
"""Run the recipes of docs/guides/spark.md on one engine, and compare every digit with one machine.

    engines_check.py REFERENCES CANDIDATES ENGINE [ROWS]

ENGINE is ray, dask, daft, datafusion, polars or duckdb, which must be installed. Each counts document frequencies, scores
rows and adds up statistics in parts; corpus scores, the table and the scores of rows must have the bits of `capeval.score`.
"""
import json
import sys
import tempfile
import time

METRICS = ["bleu", "rouge-l", "cider-d", "chrf", "sacrebleu"]


def parts_of(engine, table, path):
    """A function that maps parts of the table with a function of batches, and returns tables."""
    import pyarrow as pa

    if engine == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        ds = ray.data.from_arrow(table).repartition(7)
        return lambda function: ray.get(ds.map_batches(lambda t: function([t]), batch_format="pyarrow").to_arrow_refs())
    if engine == "dask":
        import dask
        import dask.dataframe as dd

        frame = dd.read_parquet(path, blocksize="1MiB", split_row_groups=True)

        def run(function):
            work = dask.delayed(lambda part: function([pa.Table.from_pandas(part, preserve_index=False)]))
            return dask.compute(*map(work, frame.to_delayed()), scheduler="processes")

        return run
    if engine == "daft":
        import daft

        frame = daft.read_parquet(path)
        return lambda function: [function([part]) for part in frame.to_arrow_iter()]
    if engine == "datafusion":
        import datafusion

        context = datafusion.SessionContext()
        frame = context.read_parquet(path).repartition(7)
        return lambda function: [function(part.to_pyarrow() for part in s) for s in frame.execute_stream_partitioned()]
    if engine == "polars":
        import polars

        frame = polars.read_parquet(path)
        return lambda function: [function([part.to_arrow()]) for part in frame.iter_slices(10_000)]
    import duckdb

    connection = duckdb.connect()
    reader = lambda: connection.sql(f"select * from '{path}'").to_arrow_reader(10_000)
    return lambda function: [function([part]) for part in reader()]


def main():
    import pyarrow as pa
    import pyarrow.parquet as pq

    import capeval
    from capeval.arrow import FrequencyCounter, RowScorer, needed_frequencies

    references, candidates, engine, *rows = sys.argv[1:]
    by_image = {}
    for annotation in json.load(open(references))["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
    captions = {row["image_id"]: row["caption"] for row in json.load(open(candidates))}
    captions = dict(list(captions.items())[: int(*rows) if rows else None])
    by_image = {id: by_image[id] for id in captions}
    types = pa.schema([("image_id", pa.int64()), ("candidate", pa.string()), ("references", pa.list_(pa.string()))])
    table = pa.table([list(captions), list(captions.values()), list(by_image.values())], schema=types)
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/captions.parquet"
    pq.write_table(table, path, row_group_size=len(captions) // 6)
    frequencies = capeval.DocumentFrequencies.build(by_image, tokenizer="ptb-each")
    one = capeval.score(by_image, captions, METRICS, tokenizer="ptb-each", document_frequencies=frequencies)

    in_parts = parts_of(engine, table, path)
    start = time.time()
    counter = FrequencyCounter(**needed_frequencies(METRICS, tokenizer="ptb-each"))
    count = lambda batches: pa.Table.from_batches(counter.counts(batches, candidate="candidate"), counter.schema())
    counted = counter.table(in_parts(count))
    assert counted.fingerprint == frequencies.fingerprint, (counted, frequencies)
    scorer = RowScorer(METRICS, tokenizer="ptb-each", document_frequencies=counted, missing="skip", surplus="ignore")
    add = lambda batches: pa.table(scorer.sums(batches, id="image_id"))
    sums = in_parts(add)
    report = scorer.report(*sums)
    assert report.scores == one.scores, [(k, v, one[k]) for k, v in report.scores.items() if v != one[k]]
    assert report.signatures == one.signatures
    as_table = lambda part: pa.Table.from_batches([part]) if isinstance(part, pa.RecordBatch) else pa.table(part)
    score = lambda batches: pa.concat_tables(scorer.scores(as_table(b), keep=["image_id"]) for b in batches)
    found = pa.concat_tables(in_parts(score))
    place = {id: k for k, id in enumerate(one.ids)}
    order = [place[id] for id in found["image_id"].to_pylist()]
    assert sorted(order) == list(range(len(captions)))
    for key, values in one.segments.items():
        assert (found[key].to_numpy() == values[order]).all(), key
    print(
        f"{engine} {__import__(engine).__version__}: {len(captions)} rows in {len(sums)} parts; table {counted.fingerprint}, "
        f"{len(one.scores)} corpus scores and {len(found)} x {len(one.segments)} row scores equal in every bit, {time.time() - start:.1f} s"
    )


if __name__ == "__main__":
    main()
