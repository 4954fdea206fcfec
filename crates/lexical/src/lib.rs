//! The metrics that compare words: BLEU, ROUGE-L, CIDEr.
