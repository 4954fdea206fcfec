"""The share of letters of a caption that need no edit to become its most similar reference, by the package rapidfuzz."""

import json
import sys

from rapidfuzz.distance import Levenshtein

for line in sys.stdin:
    row = json.loads(line)
    score = max(Levenshtein.normalized_similarity(row["candidate"], reference) for reference in row["references"])
    print(json.dumps({"id": row["id"], "scores": {"edit-similarity": score}}), flush=True)
