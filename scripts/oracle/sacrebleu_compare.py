"""Compare capeval's BLEU, chrF, chrF++ and TER with sacreBLEU 2.6.0 on real and hostile text.

Needs Python with sacrebleu, and cargo. From the project root:

    python scripts/oracle/sacrebleu_compare.py --data ../shared/data --hostile 20000

For every configuration and source, prints the number of segments, the largest differences of a segment score
and of the corpus score, and the times of both programs; the exit status is 1 if any difference exceeds
1e-9. Segment scores of BLEU use effective order, as sacreBLEU recommends; segments may have different
numbers of references.
"""

import argparse
import gzip
import json
import pathlib
import random
import subprocess
import sys
import time

from sacrebleu.metrics import BLEU, CHRF, TER

SPACES = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b"
TOKENS = [
    "a", "the", "dog", "Dog", "dogs'", "dog's", "runs", "on", "grass", ".", ",", "!", "(hi)", "don't", "3.5",
    "1,000", "3-year-old", "&amp;", "&quot;x", "\n-", "\n", "U.S.", "It's", "İstanbul", "ΣΑΣ", "Straße", "é",
    "两只", "狗", "。", "，", "「x」", "ひらがな", "カタカナ", "㈱", "\u3f22", "\u4dbf", "한국어", "🐶", "\u20000", "-", "--", "...",
    "\ufb01", "a\u0301", "!", "?", ";", "''", "``", "<skipped>", "ẞ", "ǅ",
]

# The specification as users type it, and its equivalent in sacreBLEU.
CONFIGURATIONS = {
    "sacrebleu": (BLEU(effective_order=False), BLEU(effective_order=True)),
    "sacrebleu:tok=intl:case=lc:smooth=floor:by=0.05": 2 * (
        BLEU(tokenize="intl", lowercase=True, smooth_method="floor", smooth_value=0.05, effective_order=True),),
    "sacrebleu:tok=zh:smooth=add-k:n=3:eff=no": 2 * (
        BLEU(tokenize="zh", smooth_method="add-k", max_ngram_order=3),),
    "sacrebleu:tok=char:smooth=none:eff=yes:n=6": 2 * (
        BLEU(tokenize="char", smooth_method="none", max_ngram_order=6, effective_order=True),),
    "sacrebleu:tok=none:smooth=add-k:by=0.5:case=lc": (
        BLEU(tokenize="none", smooth_method="add-k", smooth_value=0.5, lowercase=True),
        BLEU(tokenize="none", smooth_method="add-k", smooth_value=0.5, lowercase=True, effective_order=True)),
    "chrf": 2 * (CHRF(),),
    "chrf:eff=no:case=lc:space=yes": 2 * (CHRF(eps_smoothing=True, lowercase=True, whitespace=True),),
    "chrf:chars=3:words=1:beta=1": 2 * (CHRF(char_order=3, word_order=1, beta=1),),
    "chrf++": 2 * (CHRF(word_order=2),),
    "chrf++:eff=no:beta=3": 2 * (CHRF(word_order=2, eps_smoothing=True, beta=3),),
    "ter": 2 * (TER(),),
    "ter:case=mixed:norm=yes": 2 * (TER(case_sensitive=True, normalized=True),),
    "ter:punct=no": 2 * (TER(no_punct=True),),
    "ter:punct=no:asian=yes": 2 * (TER(no_punct=True, asian_support=True),),
    "ter:norm=yes:asian=yes": 2 * (TER(normalized=True, asian_support=True),),
    "ter:norm=yes:punct=no:asian=yes:case=mixed": 2 * (
        TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),),
}


def hostile(n, seed):
    rng = random.Random(seed)

    def text(words):
        return "".join(rng.choice(words) + rng.choice([" ", " ", " ", "", rng.choice(SPACES)])
                       for _ in range(rng.choice([0, 1, 2, 5, 12, 12, 30])))

    def garble(text):
        words = text.split(" ")
        for _ in range(rng.randint(0, 4)):
            if len(words) > 1:
                i, j, k = sorted(rng.randrange(len(words) + 1) for _ in range(3))
                words = words[:i] + words[j:k] + words[i:j] + words[k:]
            if words and rng.random() < 0.5:
                words[rng.randrange(len(words))] = rng.choice(TOKENS)
            if words and rng.random() < 0.3:
                del words[rng.randrange(len(words))]
        return " ".join(words)

    for _ in range(n):
        words = rng.sample(TOKENS, rng.choice([2, 5, 10, len(TOKENS)]))
        kind = rng.random()
        if kind < 0.001:
            # Texts long enough for the beam and the limits of shifts to matter.
            words = [f"w{k}" for k in range(rng.choice([3, 30, 200]))]
            hyp = " ".join(rng.choice(words) for _ in range(rng.choice([0, 5, 60, 120, 200])))
            refs = [" ".join(rng.choice(words) for _ in range(rng.choice([1, 60, 150])))]
            refs += [garble(hyp)]
        else:
            hyp = text(words)
            refs = [garble(hyp) if rng.random() < 0.6 else text(words) for _ in range(rng.randint(1, 5))]
        yield {"hyp": hyp, "refs": refs}


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def sources(folder):
    folder = pathlib.Path(folder)
    with gzip.open(folder / "coco/captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        captions = {}
        for annotation in json.load(file)["annotations"]:
            captions.setdefault(annotation["image_id"], []).append(annotation["caption"])
    results = json.loads((folder / "coco/fakecap_results.json").read_text())
    yield "coco", [{"hyp": r["caption"], "refs": captions[r["image_id"]]} for r in results]
    for part in ["val", "test_2016"]:
        texts = [lines(folder / f"multi30k/{part}.{k}.de.gz") for k in range(1, 6)]
        yield f"multi30k {part}.de", [{"hyp": t[0], "refs": list(t[1:])} for t in zip(*texts)]
    chinese = {}
    for name in ["b", "c", "g", "mtest"]:
        ending = "captions.txt.gz" if name == "mtest" else "caption.txt.gz"
        chinese[name] = by_image = {}
        for line in lines(folder / f"flickr8kcn/flickr8kzh{name}.{ending}"):
            key, _, text = line.partition(" ")
            image, _, number = key.partition("#")
            by_image.setdefault(image, {})[number.rpartition("#")[2]] = text
    for system in "bg":
        # Each machine translation with the human translation of the same sentence, and with the sentences
        # written by people.
        segments = []
        for image, texts in chinese["mtest"].items():
            for number, text in texts.items():
                if number in chinese[system].get(image, {}):
                    refs = [text, *chinese["c"].get(image, {}).values()]
                    segments.append({"hyp": chinese[system][image][number], "refs": refs})
        yield f"flickr8kcn {system}", segments


def ours(segments):
    command = ["cargo", "run", "--release", "--quiet", "-p", "capeval-evaluate", "--example", "score_segments"]
    command += ["--", *CONFIGURATIONS]
    data = "".join(json.dumps(s) + "\n" for s in segments).encode("utf-8")
    return json.loads(subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout)


def theirs(corpus, sentence, segments):
    n = max(len(s["refs"]) for s in segments)
    refs = [[s["refs"][k] if k < len(s["refs"]) else None for s in segments] for k in range(n)]
    stats = corpus._extract_corpus_statistics([s["hyp"] for s in segments], refs)
    scores = [sentence._aggregate_and_compute([row]).score for row in stats]
    return corpus._aggregate_and_compute(stats).score, scores


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of real captions")
    parser.add_argument("--hostile", type=int, default=0, help="number of hostile segments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="only configurations whose names begin with this")
    parser.add_argument("--show", type=int, default=3, help="number of differences to print")
    options = parser.parse_args()
    for name in list(CONFIGURATIONS):
        if options.only and not name.startswith(options.only):
            del CONFIGURATIONS[name]
    work = list(sources(options.data)) if options.data else []
    if options.hostile:
        work.append((f"hostile, seed {options.seed}", list(hostile(options.hostile, options.seed))))
    worst = 0.0
    for source, segments in work:
        found = ours(segments)
        for name, (corpus, sentence) in CONFIGURATIONS.items():
            start = time.time()
            expected, expected_segments = theirs(corpus, sentence, segments)
            seconds = time.time() - start
            differences = [abs(a - b) for a, b in zip(found[name]["segment"], expected_segments)]
            assert len(differences) == len(segments) == len(found[name]["segment"])
            in_corpus = abs(found[name]["corpus"] - expected)
            worst = max(worst, in_corpus, *differences)
            print(f"{name}\t{source}\t{len(segments)} segments\tsegments {max(differences):.1e}"
                  f"\tcorpus {in_corpus:.1e} of {expected:.4f}\tsacrebleu {seconds:.2f} s", flush=True)
            wrong = [k for k, difference in enumerate(differences) if difference > 1e-9]
            for k in wrong[:options.show]:
                print(f"  {segments[k]}\n  theirs {expected_segments[k]} ours {found[name]['segment'][k]}")
            if wrong:
                print(f"  {len(wrong)} segments differ")
    print(f"largest difference: {worst:.1e}")
    return int(not worst <= 1e-9)


if __name__ == "__main__":
    sys.exit(main())
