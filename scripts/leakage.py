#!/usr/bin/env python3
"""What scores tell about hidden references: attacks by submissions, simulated on Karpathy's test split with CIDEr-D.

    python scripts/leakage.py [FOLDER]

needs capeval, numpy, and `coco_karpathy_test` in FOLDER (see "Real data" in CONTRIBUTING.md). It takes three minutes of
one processor, and prints the gains in docs/guides/server.md.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

from capeval.reward import CiderD

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data") / "coco_karpathy_test"
STEPS = [5, 25, 100, 500, 2000]
SYSTEMS = ["satic", "scn_lstm", "showedittell_xe", "showedittell_rl", "smurf_m2transformer_c2"]
SEEDS = range(3)
STOP = set("a an the of in on with and is are to at it its for that this by from".split())


def load(name):
    return json.loads(gzip.open(FOLDER / name).read())


REFERENCES = {}
for annotation in load("refs.json.gz")["annotations"]:
    REFERENCES.setdefault(annotation["image_id"], []).append(annotation["caption"])
CAPTIONS = {s: {c["image_id"]: c["caption"] for c in load(f"systems/{s}.json.gz")} for s in SYSTEMS}
# An attacker knows the words of systems, and of no reference.
WORDS = [word for s in SYSTEMS for c in CAPTIONS[s].values() for word in c.lower().rstrip(".").split()]


def rounded(score, digits):
    return score if digits is None else round(float(score), digits)


def add_words(ids, reward, digits, count, submissions, per_image=False):
    """Adds a word to the captions of `count` images, and keeps it where the score that is shown gets higher."""
    chance = np.random.default_rng(1)
    captions = [CAPTIONS["satic"][id].lower().rstrip(".").split() for id in ids]
    scores = np.asarray(reward.score(ids, [" ".join(c) for c in captions]))
    start, gains = scores.mean(), {}
    for n in range(1, submissions + 1):
        chosen = range(len(ids)) if per_image else chance.choice(len(ids), count, replace=False)
        tried = []
        for k in chosen:
            caption = list(captions[k])
            caption.insert(chance.integers(len(caption) + 1), WORDS[chance.integers(len(WORDS))])
            tried.append(caption)
        new = scores.copy()
        new[list(chosen)] = reward.score([ids[k] for k in chosen], [" ".join(c) for c in tried])
        is_better = rounded(new.mean(), digits) > rounded(scores.mean(), digits)
        for k, caption in zip(chosen, tried):
            if rounded(new[k], digits) > rounded(scores[k], digits) if per_image else is_better:
                captions[k], scores[k] = caption, new[k]
        if n in STEPS:
            gains[n] = scores.mean() - start
    return gains


def flip(two, digits, count, seed, step=0.0):
    """Takes the other system's captions for `count` images, and keeps them if the score that is shown gets higher."""
    chance = np.random.default_rng(seed)
    better, other = sorted(two, key=np.mean, reverse=True)
    flipped, best, gains = np.zeros(better.size, bool), rounded(better.mean(), digits), {}
    for n in range(1, STEPS[-1] + 1):
        trial = flipped.copy()
        trial[chance.choice(better.size, count, replace=False)] ^= True
        score = np.where(trial, other, better).mean()
        if score >= best + step if step else rounded(score, digits) > best:
            flipped, best = trial, rounded(score, digits)
        if n in STEPS:
            gains[n] = np.where(flipped, other, better).mean() - better.mean()
    return gains


def mix(two, digits, seed):
    """Submits random mixes of two systems, and takes for each image the system whose mixes scored higher."""
    chance = np.random.default_rng(seed)
    choices = chance.integers(0, 2, (STEPS[-1], two.shape[1]))
    scores = np.array([rounded(np.where(c, two[1], two[0]).mean(), digits) for c in choices])
    start, gains = two.mean(axis=1).max(), {}
    for n in STEPS:
        votes = (choices[:n] - 0.5).T @ (scores[:n] - scores[:n].mean())
        gains[n] = np.where(votes > 0, two[1], two[0]).mean() - start
    return gains


def mean(runs):
    return {n: float(np.mean([run[n] for run in runs])) for n in STEPS}


def show(name, gains):
    print(f"  {name:44}" + "".join(f"{n:>6}: {gain:.4f}" for n, gain in gains.items()), flush=True)


def run(ids):
    reward = CiderD({id: REFERENCES[id] for id in ids}, pairing="off")
    scores = np.stack([np.asarray(reward.score(ids, [CAPTIONS[s][id] for id in ids])) for s in SYSTEMS])
    two = scores[2:4].astype(float)
    print(f"{len(ids)} images; two systems {two.mean(axis=1).round(4)}, the better of both {two.max(axis=0).mean():.4f}")
    print(f"  five submissions, scores of images: {scores.max(axis=0).mean() - scores.mean(axis=1).max():.4f}")
    for digits in [None, 3, 2, 1]:
        show(f"add a word to one image, digits {digits}", add_words(ids, reward, digits, 1, STEPS[-1]))
        runs = [mean([flip(two, digits, count, s) for s in SEEDS]) for count in [1, 5, 20, 100, 300]]
        runs.append(mean([mix(two, digits, s) for s in SEEDS]))
        show(f"choose between two systems, digits {digits}", {n: max(0, *(r[n] for r in runs)) for n in STEPS})
    runs = [mean([flip(two, 3, count, s, 0.005) for s in SEEDS]) for count in [1, 5, 20, 100, 300]]
    show("the same, only gains of 0.005 are shown", {n: max(r[n] for r in runs) for n in STEPS})
    for digits in [None, 1]:
        show(f"add words, scores of images, digits {digits}", add_words(ids, reward, digits, 0, 100, per_image=True))
    if len(ids) > 1000:
        single_words(ids, reward)


def single_words(ids, reward):
    """Submits one word for all images: the scores of images say in whose references it is."""
    counts = {}
    for word in (w for w in WORDS if w not in STOP and w.isalpha()):
        counts[word] = counts.get(word, 0) + 1
    parts = [set(" ".join(REFERENCES[id]).lower().replace(".", " ").replace(",", " ").split()) for id in ids]
    found = right = 0
    for word in sorted(counts, key=counts.get, reverse=True)[:100]:
        is_said = np.asarray(reward.score(ids, [word] * len(ids))) > 0
        found += is_said.sum()
        right += (is_said == np.array([word in p for p in parts])).sum()
    total = sum(len([w for w in p if w.isalpha() and w not in STOP]) for p in parts)
    print(f"  100 single words: {right / len(ids) / 100:.6f} of the answers right, {found / total:.3f} of the words known")


common = [id for id in REFERENCES if all(id in CAPTIONS[s] for s in SYSTEMS)]
run(common)
run([common[k] for k in np.random.default_rng(7).permutation(len(common))[:500]])
