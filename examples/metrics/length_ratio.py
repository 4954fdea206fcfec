"""The length of a caption in words as a share of that of its shortest reference, at most 1."""

import json
import sys


def ratio(candidate: str, references: list[str]) -> float:
    shortest = min(len(reference.split()) for reference in references)
    return min(1.0, len(candidate.split()) / max(1, shortest))


for line in sys.stdin:
    row = json.loads(line)
    score = ratio(row["candidate"], row["references"])
    print(json.dumps({"id": row["id"], "scores": {"length-ratio": score}}), flush=True)
