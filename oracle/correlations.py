"""Compare capeval's coefficients with scipy's, and agreement of raters with krippendorff and statsmodels.

    run.py correlations [INPUTS]

Compares pearsonr, spearmanr and kendalltau (variants b and c) with `capeval correlate` on INPUTS pairs of random lists with
ties (default 1,000), of 2 to 400 numbers each; and krippendorff.alpha (ordinal) and fleiss_kappa on a tenth as many tables
of ratings. The last pair has 100,000 numbers. Needs scipy, krippendorff and statsmodels.
"""
import json
import math
import pathlib
import tempfile
import warnings

import krippendorff
import numpy as np
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from shared import Comparison, capeval, options, output


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


def correlated(ratings, scores):
    """What `capeval correlate` prints of scores and rows of ratings, NaN where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        rated, given = pathlib.Path(folder, "ratings.csv"), pathlib.Path(folder, "scores.jsonl")
        most = max(len(row) for row in ratings)
        cells = [",".join("" if math.isnan(cell) else repr(float(cell)) for cell in row) for row in ratings]
        head = ",".join(f"rater_{k}" for k in range(most))
        rated.write_text("\n".join([f"image_id,{head}", *(f"{k},{row}" for k, row in enumerate(cells))]) + "\n")
        given.write_text("".join(json.dumps({"image_id": k, "scores": {"x": float(x)}}) + "\n" for k, x in enumerate(scores)))
        found = json.loads(output([capeval(), "correlate", rated, "--scores", given, "-f", "json", "-q"]))
    number = lambda value: math.nan if value is None else value
    of_x, of_raters = found["correlations"]["x"], found["ratings"]
    coefficients = [number(of_x[key]) for key in ("pearson", "spearman", "tau_b", "tau_c")]
    return coefficients, [number(of_raters[key]) for key in ("krippendorff_alpha", "fleiss_kappa")]


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


def main(arguments):
    given = options(__doc__, ("inputs", {"nargs": "?", "type": int, "default": 1_000})).parse_args(arguments)
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(20_261_121)
    comparison = Comparison(5)

    def compare(names, ours, theirs):
        for place, name in enumerate(names):
            comparison.add(name, [row[place] for row in ours], [row[place] for row in theirs], 1e-12)

    pairs = [lists(rng, 100_000 if k == given.inputs - 1 else int(rng.integers(2, 400))) for k in range(given.inputs)]
    ours = [correlated([[rating] for rating in y], x)[0] for x, y in pairs]
    compare(["pearson", "spearman", "tau-b", "tau-c"], ours, [expected(x, y) for x, y in pairs])
    tables = []
    for _ in range(given.inputs // 10):
        items, raters = int(rng.integers(2, 60)), int(rng.integers(2, 7))
        base = rng.integers(0, 5, (items, 1))
        table = np.clip(base + rng.integers(-1, 2, (items, raters)), 0, 4).astype(float)
        if rng.random() < 0.5:
            table[rng.random(table.shape) < 0.2] = math.nan
        tables.append(table)
    ours = [correlated(table, range(len(table)))[1] for table in tables]
    compare(["alpha", "kappa"], ours, [agreement(table) for table in tables])
    return comparison.end()
