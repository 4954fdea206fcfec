"""Compare capeval's n-gram models with KenLM's: estimation with lmplz, scoring with query.

    run.py kenlm LMPLZ QUERY DATA

LMPLZ and QUERY are KenLM's programs, DATA has the folder `multi30k`. Estimates models of several orders from German and English captions with both programs and compares every
probability and backoff weight, then scores other captions with both programs under KenLM's model. KenLM uses
32-bit numbers; the tolerance is 1e-4 in base-10 logarithms.
"""

import pathlib
import re
import tempfile

from shared import Comparison, built, lines, options, output


def words(path):
    return [" ".join(re.findall(r"\w+|[^\w\s]", line.lower())) for line in lines(path)]


def arpa(text):
    ngrams = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) >= 2:
            ngrams[fields[1]] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return ngrams


def main(arguments):
    given = options(__doc__, "lmplz", "query", ("data", {"type": pathlib.Path})).parse_args(arguments)
    data = given.data / "multi30k"
    english = [line for k in range(1, 6) for line in words(data / f"train.{k}.en.gz")]
    german = [line for k in range(1, 6) for line in words(data / f"val.{k}.de.gz")]
    work = [
        ("en, 20,000 captions", english[:20000], words(data / "test_2016.1.en.gz")),
        ("en, 145,000 captions", english, words(data / "test_2016.2.en.gz")),
        ("de, 5,070 captions", german, words(data / "test_2016.1.de.gz")),
    ]
    ours = built("capeval-lexical", "ngram")
    comparison = Comparison()
    for name, train, test in work:
        for order in (2, 3, 4, 5):
            text = "\n".join(train) + "\n"
            fallback = [] if order < 5 and "de" not in name else ["fallback"]
            command = [given.lmplz, "-o", order, "-S", "200M", "-T", tempfile.gettempdir()]
            theirs_text = output([*command, *["--discount_fallback"] * len(fallback)], text)
            theirs, found = arpa(theirs_text), arpa(output([ours, "estimate", order, *fallback], text))
            assert theirs.keys() == found.keys(), (len(theirs), len(found))
            for place, what in enumerate(("probabilities", "weights")):
                values = ([ngrams[key][place] for key in theirs] for ngrams in (found, theirs))
                comparison.add(f"{name}, order {order}, {what}", *values, 1e-4, list(theirs))
            with tempfile.NamedTemporaryFile("w", suffix=".arpa", encoding="utf-8") as file:
                file.write(theirs_text)
                file.flush()
                text = "\n".join(test) + "\n"
                scores = [line.split("\t") for line in output([ours, "score", file.name], text).splitlines()]
                report = output([given.query, "-v", "sentence", file.name], text).splitlines()
            expected = [line.split() for line in report if line.startswith("Total:")]
            assert all(a[2] == b[3] for a, b in zip(scores, expected)), "unknown words"
            ours_and_theirs = [float(a[0]) for a in scores], [float(b[1]) for b in expected]
            comparison.add(f"{name}, order {order}, captions", *ours_and_theirs, 1e-4, test)
    return comparison.end()
