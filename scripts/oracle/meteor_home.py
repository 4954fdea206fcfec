#!/usr/bin/env python3
"""Make a folder with METEOR's jar, the English paraphrases, and small paraphrase tables for other languages.

    meteor_home.py FOLDER [--jar JAR]

The published package has a paraphrase table only for English, and the jar rejects German, French, Spanish, Russian
and Czech without their tables. These tables are made up from the words in meteor_compare.py. To use the same folder
with both programs:

    capeval data install meteor --from FOLDER
    meteor_compare.py $(capeval data path)/meteor-1.5.bin --jar FOLDER/meteor-1.5.jar --config de-table fr-table
"""
import argparse
import gzip
import os
import random
import shutil

from meteor_compare import COMMON, LANGUAGES


def table(rng):
    """Entries of random phrases, with ascending sources and ascending targets within each source."""
    words = sorted(set(word.lower() for word in LANGUAGES + COMMON if word.isalpha()))
    phrase = lambda longest: " ".join(rng.choice(words) for _ in range(rng.randrange(1, longest)))
    sources = sorted({phrase(4) for _ in range(600)} | set(words))
    for source in sources:
        targets = {rng.choice(words) if rng.random() < 0.6 else phrase(5) for _ in range(rng.randrange(1, 25))}
        for target in sorted(targets - {source}):
            yield f"{rng.random():.4f}\n{source}\n{target}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--jar")
    arguments = parser.parse_args()
    jar = arguments.jar
    if jar is None:
        import pycocoevalcap.meteor
        jar = os.path.join(next(iter(pycocoevalcap.meteor.__path__)), "meteor-1.5.jar")
    data = os.path.join(arguments.folder, "data")
    os.makedirs(data, exist_ok=True)
    shutil.copy(jar, os.path.join(arguments.folder, "meteor-1.5.jar"))
    shutil.copy(os.path.join(os.path.dirname(jar), "data/paraphrase-en.gz"), data)
    for language in ("cz", "de", "es", "fr", "ru"):
        rng = random.Random(language)
        with gzip.open(os.path.join(data, f"paraphrase-{language}.gz"), "wt", encoding="utf-8") as out:
            out.writelines(table(rng))


if __name__ == "__main__":
    main()
