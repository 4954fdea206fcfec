#!/usr/bin/env python3
"""Compare the board of an evaluation server with `capeval score`.

    server_systems.py SERVER CAPEVAL DATA SCRATCH [--data-of-metrics DIR]

SERVER and CAPEVAL are the programs, DATA the folder with the references of Karpathy's test split, `refs.json.gz`, and six
systems in `systems`, SCRATCH an empty folder. Each system is submitted by a team of its own, to a phase with two reference
sets: c5, the references as they are, and c40, those of each image and of the seven next to it. The ranks, every
bit of the scores in the database, and every score of the board to its 12 decimals must be those of `capeval score`.
"""
import argparse
import contextlib
import gzip
import json
import pathlib
import socket
import sqlite3
import subprocess
import sys

import server_load

METRICS = ["bleu", "meteor", "rouge-l", "cider-d"]
PLAN = """
slug = "karpathy"
title = "Karpathy's test split"
[[phases]]
slug = "test"
title = "Test"
human = false
decimals = {decimals}
metrics = {metrics}
[[phases.references]]
name = "c5"
file = "c5.json"
images = "ids.json"
[[phases.references]]
name = "c40"
file = "c40.json"
images = "ids.json"
"""


def load(path):
    with gzip.open(path, "rb") as file:
        return json.load(file)


def make_files(data, scratch, without_meteor, decimals=12):
    """Writes the references and the systems, all for the images that every system describes; returns the systems."""
    references = load(data / "refs.json.gz")
    systems = {path.name.removesuffix(".json.gz"): load(path) for path in sorted((data / "systems").glob("*.json.gz"))}
    common = set.intersection(*({one["image_id"] for one in results} for results in systems.values()))
    ids = [image["id"] for image in references["images"] if image["id"] in common]
    own = {image: [] for image in ids}
    for annotation in references["annotations"]:
        if annotation["image_id"] in own:
            own[annotation["image_id"]].append(annotation["caption"])
    (scratch / "ids.json").write_text(json.dumps(ids))
    for name, neighbours in (("c5", 1), ("c40", 8)):
        annotations = [
            {"id": number, "image_id": image, "caption": caption}
            for number, (image, caption) in enumerate(
                (image, caption)
                for place, image in enumerate(ids)
                for other in (ids[(place + step) % len(ids)] for step in range(neighbours))
                for caption in own[other][:5]
            )
        ]
        images = [{"id": image} for image in ids]
        (scratch / f"{name}.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    for name, results in systems.items():
        kept = [{"image_id": one["image_id"], "caption": one["caption"]} for one in results if one["image_id"] in common]
        (scratch / f"{name}.json").write_text(json.dumps(kept))
    metrics = [metric for metric in METRICS if metric != "meteor" or not without_meteor]
    (scratch / "plan.toml").write_text(PLAN.format(metrics=json.dumps(metrics), decimals=decimals))
    print(f"{len(systems)} systems, {len(ids)} images")
    return list(systems), metrics


def expected(given, systems, metrics, references):
    """What `capeval score` gives: a dictionary of scores for each system."""
    files = [str(given.scratch / f"{system}.json") for system in systems]
    command = [given.capeval, "score", "-m", ",".join(metrics), "--ids", "text", "-f", "json", "--quiet"]
    command += ["-r", str(given.scratch / f"{references}.json"), *files]
    environment = {"CAPEVAL_DATA": str(given.data_of_metrics)} if given.data_of_metrics else {}
    report = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
    return dict(zip(systems, (system["scores"] for system in report["systems"])))


def stored_scores(database, references):
    """The scores in the database: system, measure, score."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(
            "SELECT team.name, score.metric, score.value FROM score JOIN submission ON submission.id = score.submission "
            "JOIN team ON team.id = submission.team JOIN reference_set ON reference_set.id = score.reference_set "
            "WHERE reference_set.name = ?",
            [references],
        ).fetchall()


@contextlib.contextmanager
def serving(given, methods):
    """A server to which these systems were submitted, each by a team of its own, and the phase: a dictionary of their methods."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = server_load.Site(given, port)
    process = subprocess.Popen(site.program, env=site.environment, stdout=subprocess.DEVNULL)
    try:
        site.wait()
        site.admin("benchmark", "apply", given.scratch / "plan.toml")
        phase = site.phase("karpathy")
        for system, method in methods.items():
            waited = site.submit(phase, site.person(system), (given.scratch / f"{system}.json").read_text(), method)
            print(f"{system}: scores after {waited:.1f} s", flush=True)
        yield site, phase
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("capeval")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--data-of-metrics", metavar="DIR", help="where METEOR's data are")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    systems, metrics = make_files(given.data, given.scratch, not given.data_of_metrics)
    with serving(given, dict.fromkeys(systems, "load")) as (site, phase):
        for references in ("c5", "c40"):
            scores = expected(given, systems, metrics, references)
            path = f"/api/v1/phases/{phase}/leaderboard?ref={references}"
            board = json.loads(site.ask("GET", path)[1])["rows"]
            compared = 0
            for system, key, stored in stored_scores(given.scratch / "data" / "capeval.db", references):
                if stored != scores[system][key]:
                    sys.exit(f"{system}, {references}, {key}: {stored} stored, {scores[system][key]} by capeval score")
                compared += 1
            if compared != sum(map(len, scores.values())):
                sys.exit(f"{references}: {compared} scores are stored")
            for row in board:
                for key, score in row["scores"].items():
                    if score != round(scores[row["team"]][key], 12):
                        sys.exit(f"{row['team']}, {references}, {key}: the board shows {score}")
            ranked = [row["team"] for row in board]
            if ranked != sorted(systems, key=lambda system: -scores[system]["cider-d"]):
                sys.exit(f"{references}: the board ranks {ranked}")
            if [row["rank"] for row in board] != list(range(1, len(systems) + 1)):
                sys.exit(f"{references}: the ranks are {[row['rank'] for row in board]}")
            print(f"{references}: {compared} scores equal in every bit, ranked {' > '.join(ranked)}")
            for row in board:
                print("   ", row["team"], {key: round(score, 4) for key, score in row["scores"].items()})


if __name__ == "__main__":
    main()
