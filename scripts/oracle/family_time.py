#!/usr/bin/env python3
"""Time capeval's ROUGE, chrF and TER and the programs that define them, as whole processes on the same images.

    python scripts/oracle/family_time.py --capeval target/release/capeval --refs captions_val2014.json.gz \
        --hyps fakecap_results.json --script ROUGE-1.5.5.pl --data RELEASE-1.5.5/data

Needs Perl with XML::DOM and DB_File, and Python with rouge-score==0.1.2 and sacrebleu==2.6.0. Both sides use only
the images of the results file. Prints wall-clock and processor time in seconds, the best of several runs of capeval
and a single run of each reference program, and their ratios. If other processes run on the machine, ratios of
processor time are fairer.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROUGE = "rouge155:average=resampled:measures=1+2+3+4+l+w1.2+s4+su4"


def load(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return json.load(file)


def corpus(refs, hyps):
    rows = load(hyps)
    by_image = {row["image_id"]: [] for row in rows}
    for row in load(refs)["annotations"]:
        if row["image_id"] in by_image:
            by_image[row["image_id"]].append(row["caption"])
    return [row["caption"] for row in rows], [by_image[row["image_id"]] for row in rows], rows


def reference(which, folder):
    """Run one reference program's scorer in this process."""
    hyps, refs = json.loads((folder / "segments.json").read_text())
    if which == "rouge_score":
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True)
        for hyp, texts in zip(hyps, refs):
            scorer.score_multi(texts, hyp)
        return
    from sacrebleu.metrics import CHRF, TER

    most = max(map(len, refs))
    streams = [[texts[k] if k < len(texts) else None for texts in refs] for k in range(most)]
    {"chrf": CHRF, "ter": TER}[which]().corpus_score(hyps, streams)


def perl(folder, hyps, refs):
    """Write the files for the Perl script, and return the path of its list."""
    flat = lambda text: text.replace("\n", " ").replace("\r", " ") + "\n"
    parts = ['<ROUGE_EVAL version="1.5.5">']
    for k, (hyp, texts) in enumerate(zip(hyps, refs)):
        (folder / f"h{k}").write_text(flat(hyp))
        models = []
        for r, text in enumerate(texts):
            (folder / f"r{k}.{r}").write_text(flat(text))
            models.append(f'<M ID="{r}">r{k}.{r}</M>')
        parts.append(
            f'<EVAL ID="{k}"><PEER-ROOT>{folder}</PEER-ROOT><MODEL-ROOT>{folder}</MODEL-ROOT>'
            f'<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT><PEERS><P ID="s">h{k}</P></PEERS>'
            f'<MODELS>{"".join(models)}</MODELS></EVAL>'
        )
    path = folder / "list.xml"
    path.write_text("\n".join([*parts, "</ROUGE_EVAL>"]))
    return path


def clock(command, runs=1):
    """The lowest wall-clock and processor time of a whole process, in seconds."""
    walls, processors = [], []
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        walls.append(time.perf_counter() - start)
        processors.append(used.ru_utime + used.ru_stime)
        if status:
            sys.exit(f"failed: {' '.join(map(str, command))}")
    return min(walls), min(processors)


def main():
    if sys.argv[1:2] == ["--reference"]:
        return reference(sys.argv[2], pathlib.Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("capeval", "refs", "hyps", "script", "data"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--runs", type=int, default=10, help="number of runs of capeval")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        hyps, refs, rows = corpus(args.refs, args.hyps)
        (folder / "segments.json").write_text(json.dumps([hyps, refs]))
        few = [{"image_id": row["image_id"], "caption": text} for row, texts in zip(rows, refs) for text in texts]
        (folder / "refs.json").write_text(json.dumps(few))
        (folder / "hyps.json").write_text(json.dumps(rows))
        evaluations = perl(folder, hyps, refs)
        script = ["perl", f"-I{pathlib.Path(args.script).parent}", args.script, "-e", args.data, "-a"]
        script += ["-n", "4", "-w", "1.2", "-2", "4", "-U"]
        own = [sys.executable, __file__, "--reference"]
        pairs = [
            ("ROUGE-1.5.5", [*script, evaluations], ROUGE),
            ("ROUGE-1.5.5 -m", [*script, "-m", evaluations], f"{ROUGE}:stem=porter"),
            ("rouge_score, stemmed", [*own, "rouge_score", folder], "rouge-score:stem=porter-nltk"),
            ("sacreBLEU chrF", [*own, "chrf", folder], "chrf"),
            ("sacreBLEU TER", [*own, "ter", folder], "ter"),
        ]
        print(f"{len(hyps)} images, {sum(map(len, refs))} references; seconds of wall clock (of processor)\n")
        score = [args.capeval, "score", "-f", "csv", "-r"]
        small = [folder / "refs.json", folder / "hyps.json"]
        for label, theirs, metric in pairs:
            wall, processor = clock(theirs)
            our_wall, our_processor = clock([*score, *small, "-m", metric], args.runs)
            print(
                f"{label:22}{wall:8.2f} ({processor:6.2f})   capeval {our_wall:.4f} ({our_processor:.4f})"
                f"   ratio {wall / our_wall:6.0f} ({processor / our_processor:6.0f})",
                flush=True,
            )
        for label, files in (("these images", small), ("all references", [args.refs, args.hyps])):
            wall, processor = clock([*score, *files, "--missing", "skip", "--suite", "all"], args.runs)
            print(f"capeval --suite all, {label}: {wall:.3f} ({processor:.3f})")


if __name__ == "__main__":
    main()
