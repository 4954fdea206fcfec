"""pyciderevalcap, as in self-critical training code: CIDEr-D and CIDEr with saved document frequencies.

>>> from capeval.compat.pyciderevalcap.ciderD.ciderD import CiderD
>>> scorer = CiderD(df="corpus")
>>> gts = {1: ["a dog runs", "the dog ran"], 2: ["two cats", "cats sit"]}
>>> res = [{"image_id": 1, "caption": ["a dog runs"]}, {"image_id": 2, "caption": ["two dogs"]}]
>>> score, scores = scorer.compute_score(gts, res)
>>> scores.round(4).tolist()
[4.1667, 0.625]
"""
