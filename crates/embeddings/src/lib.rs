//! Metrics that compare vectors: CLIPScore, PAC-S, BERTScore, sentence similarity, retrieval.
