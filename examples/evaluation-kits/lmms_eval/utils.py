"""The functions that capeval_coco.yaml names."""

import logging

import capeval

METRICS = "bleu,rouge-l,cider-d"
KEYS = {"bleu_4": "bleu-4", "rouge_l": "rouge-l", "cider_d": "cider-d"}

# The report of the last results: each measure of a task is aggregated on its own, from the same results.
_last = {}


def visual(doc):
    return [doc["image"].convert("RGB")]


def text(doc):
    return "Describe the image in one sentence."


def process(doc, results):
    row = (doc["question_id"], results[0] if results else "", list(doc["answer"]))
    return dict.fromkeys(KEYS, row)


def report(rows):
    """Scores all captions together, as document frequencies need."""
    key = tuple((image, caption) for image, caption, _ in rows)
    if _last.get("key") != key:
        references = {image: answers for image, _, answers in rows}
        found = capeval.score(references, {image: caption for image, caption, _ in rows}, METRICS, empty="keep")
        _last.update(key=key, report=found)
        for signature in found.signatures.values():
            logging.getLogger("lmms-eval").info(signature)
    return _last["report"]


def bleu_4(rows):
    return report(rows)["bleu-4"]


def rouge_l(rows):
    return report(rows)["rouge-l"]


def cider_d(rows):
    return report(rows)["cider-d"]
