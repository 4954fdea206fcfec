"""Compares the ids of capeval's tokenizers with those of Hugging Face's library, and of OpenAI's CLIP.

    pip install tokenizers transformers ftfy regex
    cargo build --release -p capeval-neural --example neural
    python scripts/token_oracle.py target/release/examples/neural FOLDER TEXTS.jsonl [openai/CLIP's folder]

TEXTS has a JSON string in each line; hostile ones are added.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from tokenizers import Tokenizer


def hostile(n: int) -> list[str]:
    """Random text of all kinds of characters."""
    chance = random.Random(5)
    pools = [
        "abc ABC 019 '’.,;:!?-_#@&*()[]{}<>|~`^$%\"\t\n\r",
        "éÉßñÅøŁžçİıΣσςДжא中文字日本語カ한국어ไทยहिन्दी",
        "😀👩‍👩‍👧🇩🇪\u200d\ufe0f\u0301\u0308\u200b\u00a0\u3000\u00ad\ufeff\u2028",
        "ﬁＡ１²½Ⅷ™℃ǅŉẞ\u1e9e\u0345",
    ]
    words = ["'s", "don't", "I'll", "<|endoftext|>", "<s>", "</s>", "[SEP]", "[MASK]", "##ing", "&amp;", "x1y2z3"]
    texts = []
    for _ in range(n):
        parts = []
        for _ in range(chance.randint(1, 12)):
            kind = chance.random()
            if kind < 0.1:
                parts.append(chr(chance.choice([chance.randrange(0x20, 0xD800), chance.randrange(0xE000, 0x11000), chance.randrange(0x11000, 0x30000)])))
            elif kind < 0.3:
                parts.append(chance.choice(words))
            else:
                parts.append("".join(chance.choice(chance.choice(pools)) for _ in range(chance.randint(1, 6))))
            parts.append(chance.choice(["", " ", "", "  "]))
        texts.append("".join(parts))
    return texts


def main(program: str, folder: Path, texts: Path, clip: Path | None) -> None:
    lines = [json.loads(line) for line in texts.read_text().splitlines()]
    all_texts = lines + hostile(20_000)
    given = "\n".join(json.dumps(text) for text in all_texts) + "\n"
    out = subprocess.run([program, folder, "ids"], input=given, capture_output=True, text=True, check=True).stdout
    found = [json.loads(line) for line in out.splitlines()]
    if (folder / "tokenizer.json").is_file():
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
    else:
        from transformers import CLIPTokenizerFast

        tokenizer = CLIPTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).backend_tokenizer
    is_clip = json.loads((folder / "config.json").read_text())["model_type"] == "clip"
    expected = [e.ids for e in tokenizer.encode_batch([text if is_clip else text.strip() for text in all_texts])]
    n_bad = 0
    for text, ours, theirs in zip(all_texts, found, expected):
        theirs = theirs if len(theirs) <= len(ours) or len(theirs) < 60 else theirs[: len(ours) - 1] + theirs[-1:]
        if ours != theirs:
            n_bad += 1
            if n_bad < 9:
                print(repr(text), ours, theirs)
    print(f"{folder.name}: {len(lines)} captions and {len(all_texts) - len(lines)} random texts, {n_bad} have other ids than tokenizers")
    if clip:
        sys.path.insert(0, str(clip))
        import clip as openai

        n_bad = 0
        for text, ours in zip(lines, found):
            theirs = openai.tokenize(text, truncate=True)[0].tolist()
            theirs = theirs[: theirs.index(49407) + 1]
            if ours != theirs:
                n_bad += 1
                if n_bad < 6:
                    print(repr(text))
        print(f"{folder.name}: of {len(lines)} captions {n_bad} have other ids than OpenAI's")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) > 4 else None)
