"""What VLMEvalKit's ImageCaptionDataset.evaluate can call in place of COCO_Caption_Scorer: the same keys, from tokenized captions."""

import ast

import capeval


def caption_scores(table):
    """Scores a data frame with the columns `prediction` and `answer`, a list of references that is written as text."""
    references = {place: ast.literal_eval(answer) for place, answer in enumerate(table["answer"])}
    captions = {place: str(prediction) for place, prediction in enumerate(table["prediction"])}
    report = capeval.score(references, captions, "bleu,rouge-l,cider-d", empty="keep")
    bleu = [100 * report[f"bleu-{n}"] for n in (1, 2, 3, 4)]
    return {"Bleu": bleu, "ROUGE_L": 100 * report["rouge-l"], "CIDEr": 100 * report["cider-d"], "signatures": report.signatures}
