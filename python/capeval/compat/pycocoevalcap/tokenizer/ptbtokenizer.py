"""Stanford's PTB tokens without punctuation, as in pycocoevalcap, without Java."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...._engine import Captions, tokenize
from ..._engine import spread

# The punctuation that the original removes.
PUNCTUATIONS = [
    *("''", "'", "``", "`"),
    *("-LRB-", "-RRB-", "-LCB-", "-RCB-"),
    *(".", "?", "!", ",", ":", "-", "--", "...", ";"),
]


class PTBTokenizer:
    """Tokenizes in lower case, without punctuation.

    As in the original, all captions are one text, so that the last word of a caption may depend on how the next one
    begins (5 of 202,654 captions of COCO val2014).
    """

    def tokenize(self, captions_for_image: Mapping[Any, list[dict[str, Any]]]) -> dict[Any, list[str]]:
        """``{id: [{"caption": str}, …]}`` as ``{id: [str, …]}``, with tokens separated by single spaces."""
        # An image without captions has no entry, as in the original.
        texts = {
            key: spread([caption["caption"] for caption in captions])
            for key, captions in captions_for_image.items()
            if len(captions)
        }
        every = Captions.of([text for captions in texts.values() for text in captions], "captions", as_written=True)
        tokens = iter(tokenize(every, "ptb", True))
        return {key: [next(tokens) for _ in captions] for key, captions in texts.items()}
