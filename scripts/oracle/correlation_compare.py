#!/usr/bin/env python3
"""Compare capeval's coefficients with scipy's, and agreement of raters with krippendorff and statsmodels.

    correlation_compare.py CORRELATIONS [INPUTS]

CORRELATIONS is the example `correlations` of the crate capeval-stats, built by
`cargo build --release -p capeval-stats --example correlations`. Compares pearsonr, spearmanr and kendalltau
(variants b and c) on INPUTS pairs of random lists with ties (default 10,000), of 2 to 400 numbers each; and
krippendorff.alpha (ordinal) and fleiss_kappa on a tenth as many tables of ratings. The last pair has 100,000 numbers.
Needs scipy, krippendorff and statsmodels.
"""
import math
import subprocess
import sys
import warnings

import krippendorff
import numpy as np
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

warnings.filterwarnings("ignore")


def lists(rng, n):
    """Two lists of one of several kinds: few levels, many levels, real numbers, or one derived from the other."""
    kind = rng.integers(5)
    x = rng.integers(0, rng.integers(1, 12), n).astype(float)
    if kind == 0:
        y = rng.integers(0, rng.integers(1, 6), n).astype(float)
    elif kind == 1:
        y = rng.normal(size=n)
    elif kind == 2:
        x = rng.normal(size=n).round(1)
        y = (x + rng.normal(size=n)).round(1)
    elif kind == 3:
        x = rng.normal(size=n)
        y = -x + 0.1 * rng.normal(size=n)
    else:
        y = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))
    return x, y


def text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def expected(x, y):
    if len(set(x)) < 2 or len(set(y)) < 2:
        return [math.nan] * 4
    return [stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0],
            stats.kendalltau(x, y, variant="b")[0], stats.kendalltau(x, y, variant="c")[0]]


def agreement(table):
    values = table[~np.isnan(table)]
    alpha = kappa = math.nan
    usable = table[(~np.isnan(table)).sum(axis=1) >= 2]
    if len(set(usable[~np.isnan(usable)])) > 1:
        alpha = krippendorff.alpha(table.T, level_of_measurement="ordinal")
    counts = (~np.isnan(table)).sum(axis=1)
    if counts.min() == counts.max() >= 2 and len(set(values)) > 1:
        full = np.array([row[~np.isnan(row)] for row in table])
        kappa = fleiss_kappa(aggregate_raters(full.astype(int))[0])
    return [alpha, kappa]


def main():
    n_inputs = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    rng = np.random.default_rng(20_261_121)
    lines, truth = [], []
    for k in range(n_inputs):
        x, y = lists(rng, 100_000 if k == n_inputs - 1 else int(rng.integers(2, 400)))
        lines.append(f"{text(x)};{text(y)}")
        truth.append(expected(x, y))
    for _ in range(n_inputs // 10):
        items, raters = int(rng.integers(2, 60)), int(rng.integers(2, 7))
        base = rng.integers(0, 5, (items, 1))
        table = np.clip(base + rng.integers(-1, 2, (items, raters)), 0, 4).astype(float)
        if rng.random() < 0.5:
            table[rng.random(table.shape) < 0.2] = math.nan
        lines.append("|".join(text(row[~np.isnan(row)]) for row in table))
        truth.append(agreement(table))
    output = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    found = [[float(number) for number in line.split()] for line in output.stdout.splitlines()]
    assert len(found) == len(truth), (len(found), len(truth))
    names = {4: ["pearson", "spearman", "tau-b", "tau-c"], 2: ["alpha", "kappa"]}
    worst, failures, compared = {}, 0, {}
    for line, ours, theirs in zip(lines, found, truth):
        for name, a, b in zip(names[len(theirs)], ours, theirs):
            if math.isnan(a) and math.isnan(b):
                continue
            distance = abs(a - b)
            compared[name] = compared.get(name, 0) + 1
            worst[name] = max(worst.get(name, 0.0), distance if not math.isnan(distance) else math.inf)
            if not distance <= 1e-12:
                failures += 1
                if failures <= 5:
                    print(f"{name}: {a!r}, not {b!r}, for {line[:200]}")
    for name, distance in worst.items():
        print(f"{name:8} {compared[name]:6} compared, largest difference {distance:.1e}")
    print(f"{failures} differences above 1e-12")
    sys.exit(failures > 0)


main()
