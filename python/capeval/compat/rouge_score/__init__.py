"""Google's rouge_score 0.1.2.

>>> from capeval.compat.rouge_score import rouge_scorer
>>> scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
>>> scorer.score("the quick brown fox jumps", "the quick brown dog jumps")["rouge1"].fmeasure
0.8000000000000002
"""
