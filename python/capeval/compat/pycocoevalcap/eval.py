"""The COCO evaluation, as in pycocoevalcap."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from .._engine import evaluate, mean, pairs
from .bleu.bleu import Bleu
from .bleu.bleu_scorer import BleuScorer
from .cider.cider import Cider
from .meteor.meteor import Meteor
from .rouge.rouge import Rouge
from .spice.spice import Spice, details
from .tokenizer.ptbtokenizer import PTBTokenizer

__all__ = ["Bleu", "COCOEvalCap", "COCOEvalCapBySortedIds", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]

_BLEU = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]


class COCOEvalCap:
    """Scores results against COCO's captions: ``eval``, ``imgToEval`` and ``evalImgs`` after :meth:`evaluate`.

    METEOR and SPICE are left out with a warning if their data are not installed. Each image has its own SPICE;
    :class:`COCOEvalCapBySortedIds` assigns them as the original does.
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}

    def evaluate(self) -> None:
        """Tokenizes and scores the images of ``params["image_id"]``."""
        ids = self.params["image_id"]
        gts = {key: self.coco.imgToAnns[key] for key in ids}
        res = {key: self.cocoRes.imgToAnns[key] for key in ids}

        # The engine tokenizes as PTBTokenizer does, with all captions as one text, so no tokens are passed to Python.
        print("tokenization...")
        references, candidates = pairs(
            {key: [row["caption"] for row in rows] for key, rows in gts.items()},
            {key: [row["caption"] for row in rows] for key, rows in res.items()},
        )

        print("setting up scorers...")
        metrics = ["bleu", "meteor", "rouge-l", "cider-d", "spice"]
        for name, test in (("METEOR", Meteor), ("SPICE", lambda: Spice().compute_score({0: ["a"]}, {0: ["a"]}))):
            try:
                test()
            except FileNotFoundError as missing:
                metrics.remove(name.lower())
                warnings.warn(f"{name} is left out: {missing}", stacklevel=2)

        scored = dict(zip(metrics, evaluate(references, candidates, metrics, {"tok": "ptb"})))
        print("computing Bleu score...")
        bleu = scored["bleu"]
        self._print_bleu(bleu)
        for name, score, row in zip(_BLEU, bleu.corpus, bleu.segments):
            self._set(score, row.tolist(), gts, name)
        if "meteor" in scored:
            print("computing METEOR score...")
            self._set(scored["meteor"].corpus[0], scored["meteor"].segments[0].tolist(), gts, "METEOR")
        for metric, name, method in (("rouge-l", "ROUGE_L", "Rouge"), ("cider-d", "CIDEr", "CIDEr")):
            print(f"computing {method} score...")
            segments = scored[metric].segments[0]
            self._set(mean(segments), segments, gts, name)
        if "spice" in scored:
            print("computing SPICE score...")
            # The original averages in the order of sorted ids, which may decide the last digit.
            given = list(gts)
            by_id = sorted(range(len(given)), key=given.__getitem__)
            average = mean(scored["spice"].segments[0][by_id])
            self._set(average, details(scored["spice"]), self._spice_ids(given), "SPICE")
        self.setEvalImgs()

    @staticmethod
    def _spice_ids(given: list[Any]) -> list[Any]:
        """The images to which the SPICE of each image is assigned."""
        return given

    @staticmethod
    def _print_bleu(scored: Any) -> None:
        scorer = BleuScorer()
        scorer._scored, scorer._option = scored, "closest"
        testlen, reflen, ratio = scorer._lengths()
        totals = [scored.totals()[column] for column in scored.columns]
        print({"testlen": testlen, "reflen": reflen, **scorer._counts(totals)})
        print("ratio:", ratio)

    def _set(self, score: Any, scores: Iterable[Any], ids: Iterable[Any], method: str) -> None:
        self.setEval(score, method)
        self.setImgToEvalImgs(scores, ids, method)
        print(f"{method}: {score:0.3f}")

    def setEval(self, score: Any, method: str) -> None:
        """Stores a corpus score."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Iterable[Any], imgIds: Iterable[Any], method: str) -> None:
        """Stores the scores of images."""
        for key, score in zip(imgIds, scores):
            if key not in self.imgToEval:
                self.imgToEval[key] = {"image_id": key}
            self.imgToEval[key][method] = score

    def setEvalImgs(self) -> None:
        """Lists the scores of the images in ``evalImgs``."""
        self.evalImgs = list(self.imgToEval.values())


class COCOEvalCapBySortedIds(COCOEvalCap):
    """:class:`COCOEvalCap` with the per-image SPICE of pycocoevalcap 1.2, to reproduce published files.

    The original computes SPICE in the order of sorted ids and hands the values out in the order of
    ``params["image_id"]``, so that images get each other's values where these orders differ. ``eval`` is not affected.
    """

    @staticmethod
    def _spice_ids(given: list[Any]) -> list[Any]:
        takes = dict(zip(sorted(given), given))
        return [takes[key] for key in given]
