"""Compare the ids of tokens of models with those of Hugging Face's library, and of OpenAI's CLIP.

    run.py token_ids FOLDER TEXTS.jsonl [CLIP]

TEXTS has a JSON string in each line; hostile ones are added. CLIP is a clone of openai/CLIP. Needs tokenizers, transformers,
ftfy and regex.
"""
import json
import random
import sys
from pathlib import Path

from shared import Comparison, built, json_lines, options, output


def hostile(n):
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


def main(arguments):
    given = options(__doc__, ("folder", {"type": Path}), "texts", ("clip", {"nargs": "?"})).parse_args(arguments)
    from tokenizers import Tokenizer

    folder, real = given.folder, json_lines(given.texts)
    texts = real + hostile(20_000)
    asked = "\n".join(map(json.dumps, texts)) + "\n"
    found = [json.loads(line) for line in output([built("capeval-neural", "token_ids"), folder], asked).splitlines()]
    if (folder / "tokenizer.json").is_file():
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
    else:
        from transformers import CLIPTokenizerFast

        tokenizer = CLIPTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).backend_tokenizer
    is_clip = json.loads((folder / "config.json").read_text())["model_type"] == "clip"
    expected = [e.ids for e in tokenizer.encode_batch([text if is_clip else text.strip() for text in texts])]
    # Ours are cut at the length of the model.
    cut = lambda ids, n: ids if len(ids) <= n or len(ids) < 60 else ids[: n - 1] + ids[-1:]
    comparison = Comparison(8)
    comparison.texts(f"{folder.name}, tokenizers", found, [cut(ids, len(ours)) for ids, ours in zip(expected, found)], texts)
    if given.clip:
        sys.path.insert(0, given.clip)
        import clip

        theirs = [clip.tokenize(text, truncate=True)[0].tolist() for text in real]
        comparison.texts(f"{folder.name}, OpenAI", found[: len(real)], [ids[: ids.index(49407) + 1] for ids in theirs], real)
    return comparison.end()
