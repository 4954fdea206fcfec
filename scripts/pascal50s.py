#!/usr/bin/env python3
"""Convert PASCAL-50S from its two MATLAB files to JSON Lines for `capeval prefer`; needs scipy.

    pascal50s.py pair_pascal.mat consensus_pascal.mat > pascal50s.jsonl

The first file contains 4,000 pairs: image, two captions, and the category 1 to 4 (HC, HI, HM, MM). The second contains
48 votes for each pair, in the same order: a reference, the two captions, and 1 or -1 for the one more similar to it.
The captions of a pair are in the order of the first file, regardless of their order in the votes.
ABSTRACT-50S has only a consensus file, without images and categories: use `-` for the first file.
"""
import json
import sys

CATEGORIES = {1: "HC", 2: "HI", 3: "HM", 4: "MM"}
VOTES = 48


def text(cell):
    """The words in a cell, however deeply it is nested."""
    while not isinstance(cell, str):
        cell = cell[0]
    return cell.strip()


def number(cell):
    while hasattr(cell, "__len__"):
        cell = cell[0]
    return float(cell)


def line(k, rows, pair=None):
    """Pair `k` (from 0) as an object: `rows` are its votes (reference, two captions, winner), `pair` contains the image,
    the two captions, and the number of the category."""
    captions = [text(cell) for cell in (rows[0][1:3] if pair is None else pair[0][1:3])]
    found = {"image_id": f"pair {k + 1}", "captions": captions}
    if pair is not None:
        if int(pair[1]) not in CATEGORIES:
            raise ValueError(f"pair {k + 1}: the category {pair[1]} is not one of 1 to {len(CATEGORIES)}")
        found.update(image_id=text(pair[0][0]), category=CATEGORIES[int(pair[1])])
    votes = [0, 0]
    for n, row in enumerate(rows, k * len(rows) + 1):
        shown, winner = [text(row[1]), text(row[2])], number(row[3])
        if shown not in (captions, captions[::-1]):
            raise ValueError(f"vote {n} has other captions than pair {k + 1}: {shown} and {captions}")
        if winner not in (-1, 0, 1):
            raise ValueError(f"vote {n} (pair {k + 1}): the winner {winner:g} is not 1, -1 or 0")
        if winner == 0:
            votes = [count + 0.5 for count in votes]
        else:
            votes[(shown == captions) == (winner == -1)] += 1
    return {**found, "votes": votes, "references": [text(row[0]) for row in rows]}


def main(pairs_path, votes_path):
    from scipy.io import loadmat

    votes = loadmat(votes_path)["triplets"][0]
    if len(votes) % VOTES:
        sys.exit(f"{votes_path}: expected {VOTES} votes for each pair, found {len(votes)} in total")
    described = [None] * (len(votes) // VOTES)
    if pairs_path != "-":
        held = loadmat(pairs_path)
        described = list(zip(held["new_input"][0], held["category"].ravel()))
        if len(described) * VOTES != len(votes):
            sys.exit(f"{len(votes)} votes do not match {len(described)} pairs")
    for k, pair in enumerate(described):
        rows = [tuple(row) for row in votes[k * VOTES : (k + 1) * VOTES]]
        try:
            found = line(k, rows, None if pair is None else (tuple(pair[0]), pair[1]))
        except ValueError as error:
            sys.exit(f"{votes_path}: {error}")
        print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
