#!/usr/bin/env python3
"""Write PASCAL-50S as JSON Lines for `capeval correlate --pairs` from its two MATLAB files; needs scipy.

    pascal50s.py pair_pascal.mat consensus_pascal.mat > pascal50s.jsonl

The first file holds 4,000 pairs: image, two captions, and the category 1 to 4 (HC, HI, HM, MM). The second holds 48
votes for each of them, in the same order: a reference, the two captions, and 1 or -1 for the one that is more like it.
ABSTRACT-50S comes from its consensus file alone, without images and categories: give `-` as the first file.
"""
import json
import sys

CATEGORIES = {1: "HC", 2: "HI", 3: "HM", 4: "MM"}
VOTES = 48


def text(cell):
    """The words in a cell, however deep it is nested."""
    while not isinstance(cell, str):
        cell = cell[0]
    return cell.strip()


def number(cell):
    while hasattr(cell, "__len__"):
        cell = cell[0]
    return int(cell)


def main(pairs_path, votes_path):
    from scipy.io import loadmat

    votes = loadmat(votes_path)["triplets"][0]
    if len(votes) % VOTES:
        sys.exit(f"{votes_path}: expected {VOTES} votes for each pair, not {len(votes)} in all")
    described = [None] * (len(votes) // VOTES)
    if pairs_path != "-":
        held = loadmat(pairs_path)
        described = list(zip(held["new_input"][0], held["category"].ravel()))
        if len(described) * VOTES != len(votes):
            sys.exit(f"{len(described)} pairs and {len(votes)} votes do not fit together")
    for k, pair in enumerate(described):
        rows = [tuple(row) for row in votes[k * VOTES : (k + 1) * VOTES]]
        captions = [text(rows[0][1]), text(rows[0][2])]
        if any([text(row[1]), text(row[2])] != captions for row in rows):
            sys.exit(f"{votes_path}: the votes {k * VOTES + 1} to {(k + 1) * VOTES} are not of one pair")
        line = {"image_id": f"pair {k + 1}", "captions": captions}
        if pair is not None:
            fields, category = tuple(pair[0]), CATEGORIES[int(pair[1])]
            if sorted([text(fields[1]), text(fields[2])]) != sorted(captions):
                sys.exit(f"pair {k + 1}: the captions of the two files differ")
            line.update(image_id=text(fields[0]), category=category)
        winners = [number(row[3]) for row in rows]
        line["votes"] = [sum(winner == side for winner in winners) + winners.count(0) / 2 for side in (1, -1)]
        line["references"] = [text(row[0]) for row in rows]
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
