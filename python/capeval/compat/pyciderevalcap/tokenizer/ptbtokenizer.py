"""The tokenizer of pyciderevalcap: that of pycocoevalcap."""

from __future__ import annotations

from ...pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

__all__ = ["PTBTokenizer"]
