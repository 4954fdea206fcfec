"""Compare capeval's Div-n, mBLEU, Self-CIDEr, vocabulary and novelty with self-critical.pytorch's.

    run.py diversity CLONES DATA

Needs numpy and pycocoevalcap, and in CLONES clones of ruotianluo/cider (with `my_get_self_cider`, branch self_cider) and
of ruotianluo/self-critical.pytorch. DATA has the folder `multi30k`. The five German and English descriptions of an image are its captions; those of other images serve as training
captions and references. The tolerance is 1e-8, the noise that repeated captions cause in self-critical.pytorch's Self-CIDEr. The few lines of
`eval_multi.py` that do more than call these libraries are repeated here.
"""

import json
import pathlib
import random
import re
import sys
import tempfile

import numpy as np

from shared import Comparison, capeval, lines, options, output


def words(path):
    return [" ".join(re.findall(r"\w+", line.lower())) for line in lines(path)]


def sources(data):
    for language in ["de", "en"]:
        texts = [words(data / f"multi30k/test_2016.{k}.{language}.gz") for k in range(1, 6)]
        others = [words(data / f"multi30k/val.{k}.{language}.gz") for k in range(1, 6)]
        captions, references = list(zip(*texts)), list(zip(*others))[:len(texts[0])]
        yield language, captions, references
    rng = random.Random(1)
    some = ["a", "b", "c", "dog", "on"]

    def text():
        return " ".join(rng.choice(some) for _ in range(rng.choice([0, 1, 2, 3, 5, 9])))

    yield "hostile", [tuple(text() for _ in range(4)) + ("a b dog",) for _ in range(3000)], [
        tuple(text() for _ in range(3)) for _ in range(3000)]


def reference(captions, references, Cider, div_utils):
    from pycocoevalcap.bleu.bleu import Bleu

    by_id = {k: list(texts) for k, texts in enumerate(captions)}
    values = {f"div-{n}": div_utils.compute_div_n(by_id, n)[0] for n in (1, 2)}
    scores = []
    for i in range(len(captions[0])):
        others = {k: texts[:i] + texts[i + 1:] for k, texts in by_id.items()}
        scores.append(Bleu(4).compute_score(others, {k: [texts[i]] for k, texts in by_id.items()}, verbose=0)[0])
    values |= {f"mbleu-{n + 1}": value for n, value in enumerate(np.array(scores).mean(axis=0))}
    cider = Cider(df="corpus")
    for texts in references:
        cider.cider_scorer += (None, list(texts))
    cider.cider_scorer.compute_doc_freq()
    cider.cider_scorer.ref_len = np.log(float(len(cider.cider_scorer.crefs)))
    found = []
    for matrix in cider.my_self_cider([list(texts) for texts in captions]):
        eigenvalues = np.clip(np.linalg.eigvalsh(matrix / 10), 0, None)
        roots = np.sqrt(eigenvalues)
        found.append(-np.log(roots[-1] / roots.sum()) / np.log(len(eigenvalues)))
    values["self-cider"] = np.mean(found)
    training = {text for texts in references for text in texts}
    generated = [text for texts in captions for text in texts]
    values["novel-distinct"] = len(set(generated) - training) / len(generated)
    values["vocabulary"] = div_utils.compute_global_div_n(by_id, 1)[0]
    values["mean-length"] = np.mean([len(text.split()) for text in generated])
    return values


def ours(captions, references):
    metrics = ",".join(f"{name}:tok=whitespace" for name in ("div", "mbleu", "self-cider", "vocabulary", "novelty"))
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("captions.jsonl", "references.jsonl")]
        for file, texts in zip(files, (captions, references)):
            file.write_text("".join(json.dumps({"image_id": k, "captions": some}) + "\n" for k, some in enumerate(texts)))
        said = output([capeval(), "diversity", "-q", "-m", metrics, files[0], "-r", files[1], "--train", files[1], "-f", "json"])
    return json.loads(said)["systems"][0]["scores"]


def main(arguments):
    given = options(__doc__, ("clones", {"type": pathlib.Path}), ("data", {"type": pathlib.Path})).parse_args(arguments)
    sys.path[:0] = [str(given.clones / "cider"), str(given.clones / "self-critical.pytorch/captioning/utils")]
    import div_utils
    from pyciderevalcap.cider.cider import Cider

    comparison = Comparison()
    for name, captions, references in sources(given.data):
        found = ours(captions, references)
        for key, theirs in reference(captions, references, Cider, div_utils).items():
            comparison.add(f"{name} {key}", [found[key]], [theirs], 1e-8)
    return comparison.end()
