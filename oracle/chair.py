"""Compare CHAIR with both of its programs, caption by caption, or write the golden values of its tests.

    run.py chair compare WORK CAPTIONS_VAL2014.json RESULTS.jsonl ...
    run.py chair goldens WORK testdata/chair

The folder WORK has chair.py of shikiw/OPERA as opera_chair.py, utils/chair.py of LisaAnne/Hallucination as lisa_chair.py,
pattern/text/en/inflect.py of clips/pattern, data/synonyms.txt of LisaAnne/Hallucination, and the folder nltk_data with
punkt_tab, averaged_perceptron_tagger_eng and wordnet. Needs nltk and tqdm.

COCO's files of instances are large; if WORK has none (coco/instances_val2014.json), some are made at random, which both sides
read alike. The first program is for Python 2: its lines `print "\\n"` are left out, and singularize is loaded alone.
"""
import contextlib
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
import types
from pathlib import Path

from shared import Comparison, capeval, json_lines, module as load, options, output

CATEGORIES = [
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light", "fire hydrant",
    "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe",
    "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat",
    "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl",
    "banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven",
    "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
]  # fmt: skip


def singularize_of(work: Path):
    """pattern.en's singularize, without the package around it."""
    text = (work / "inflect.py").read_text("utf-8")
    start = text.index("#### SINGULARIZE")
    end = text.index("#### VERB CONJUGATION")
    prepositions = re.search(r"plural_prepositions = set\(\(.*?\)\)", text, re.DOTALL)
    assert prepositions is not None
    names: dict[str, object] = {"re": re, "NOUN": "NN"}
    exec(prepositions[0] + "\n" + text[start:end], names)  # noqa: S102, the program itself
    return names["singularize"]


def program(work: Path, words: str, coco: Path) -> object:
    """CHAIR with all references and instances read; `words` says which program."""
    if words == "wordnet":
        module = load(work / "opera_chair.py")
        with contextlib.redirect_stdout(io.StringIO()):
            return module.CHAIR(str(coco))
    text = (work / "lisa_chair.py").read_text("utf-8")
    text = re.sub(r'^(\s*)print .*$', r"\1pass", text, flags=re.MULTILINE)
    for name, content in {"misc": {"os": os}, "pattern": {}, "pattern.en": {"singularize": singularize_of(work)}}.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(content)
    module = types.ModuleType("lisa_chair")
    # Its data lie in the folder in which it runs.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").mkdir()
        Path(folder, "data/synonyms.txt").write_bytes((work / "synonyms.txt").read_bytes())
        before = os.getcwd()
        os.chdir(folder)
        try:
            exec(compile(text.split("if __name__ ==")[0], "lisa_chair.py", "exec"), module.__dict__)  # noqa: S102
            images = {image["id"] for image in json.loads((coco / "captions_val2014.json").read_text("utf-8"))["images"]}
            found = module.CHAIR(images, str(coco))
        finally:
            os.chdir(before)
    with contextlib.redirect_stdout(io.StringIO()):
        found.get_annotations()
    return found


def counts(chair: object, caption: str, image: int) -> list[int]:
    """What is counted in a caption, as the programs do it."""
    words, nodes, _, raw = chair.caption_to_words(caption)
    objects = set(chair.imid_to_objects.get(image, ()))
    hallucinated = [node for node in nodes if node not in objects]
    recalled = {node for node in nodes if node in objects}
    return [int(bool(hallucinated)), len(hallucinated), len(nodes), len(recalled), len(objects), len(raw)]


def prepare(work: Path, captions: Path, images: set[int]) -> Path:
    """The folder of COCO's annotations that programs read, with these images alone."""
    coco = work / "coco"
    coco.mkdir(exist_ok=True)
    whole = json.loads(captions.read_text("utf-8"))
    kept = [row for row in whole["annotations"] if row["image_id"] in images]
    head = {"info": {}, "licenses": []}
    files = {"val": {**head, "images": [{"id": image} for image in sorted(images)], "annotations": kept}}
    files["train"] = {**head, "images": [], "annotations": []}
    for split, content in files.items():
        (coco / f"captions_{split}2014.json").write_text(json.dumps(content), "utf-8")
    if not (coco / "instances_real").exists():
        rng = random.Random(5)
        instances = [
            {"image_id": image, "category_id": rng.randrange(80) + 1, "iscrowd": rng.randrange(2), "segmentation": [[1.5, 2.5]]}
            for image in sorted(images)
            for _ in range(rng.randrange(6))
        ]
        names = [{"id": number + 1, "name": name} for number, name in enumerate(CATEGORIES)]
        for split, rows in (("val", instances), ("train", [])):
            content = {**head, "images": [], "annotations": rows, "categories": names}
            (coco / f"instances_{split}2014.json").write_text(json.dumps(content), "utf-8")
    return coco


def compare(given):
    work = given.work.resolve()
    os.environ["NLTK_DATA"] = str(work / "nltk_data")
    rows = {path: json_lines(path) for path in given.results}
    coco = prepare(work, given.captions, {row["image_id"] for all_of in rows.values() for row in all_of})
    comparison = Comparison(5)
    for words in ("wordnet", "pattern"):
        chair = program(work, words, coco)
        for path, all_of in rows.items():
            expected = [counts(chair, row["caption"], row["image_id"]) for row in all_of]
            with tempfile.TemporaryDirectory() as folder:
                candidates, table = Path(folder, "c.json"), Path(folder, "t.jsonl")
                candidates.write_text(json.dumps([{"image_id": row["image_id"], "caption": row["caption"]} for row in all_of]))
                command = [capeval(), "score", "-r", coco / "captions_val2014.json", candidates, "-m", f"chair:words={words}"]
                command += ["--objects", work / "synonyms.txt", "--instances", coco / "instances_val2014.json"]
                command += ["--missing", "skip", "-f", "json", "--segments", table, "--nltk-data", work / "nltk_data"]
                report = json.loads(output(command))["systems"][0]["scores"]
                lines = {line["image_id"]: line["scores"] for line in json_lines(table)}
            share = lambda a, b: a / b if b else 0.0
            theirs = [
                {"chair-i": share(hallucinated, mentions), "chair-s": captioned, "chair-recall": share(recalled, objects), "chair-words": length}
                for captioned, hallucinated, mentions, recalled, objects, length in expected
            ]
            sums, n = [sum(column) for column in zip(*expected)], len(all_of)
            corpus = {"chair-i": sums[1] / sums[2], "chair-s": sums[0] / n, "chair-recall": sums[3] / sums[4], "chair-words": sums[5] / n}
            for key, value in corpus.items():
                ours = [lines[row["image_id"]][key] for row in all_of]
                name = f"{words} {path.name} {key}"
                comparison.add(name, ours, [row[key] for row in theirs], 0.0, [row["caption"][:300] for row in all_of])
                comparison.add(f"{name}, corpus", [report[key]], [value])
    return comparison.end()


# Tiny data in the form of NLTK's, of our own, so that tests need none of others.
PUNKT = {
    "abbrev_types.txt": "mr\ndr\nu.s\ne.g\ni.e\na.m\nst\nvs\nno\n",
    "collocations.tab": "##number##\tdogs\nb\tcat\nno\tman\n",
    "sent_starters.txt": "he\nit\nthe\na\n",
    "ortho_context.tab": "the\t46\ndog\t48\ncat\t12\nman\t120\nbus\t36\na\t62\nhe\t34\n##number##\t64\n",
}
TAGS = ["NN", "NNS", "VBG", "VBZ", "JJ", "JJR", "RB", "DT", "IN", "."]
NOUNS = ["dog", "man", "woman", "child", "bus", "glass", "racket", "tennis", "knife", "box", "church", "bush", "baby", "goose", "ski", "ball",
         "parking", "meter", "running", "wine", "horse", "cat", "people", "person", "tie", "bow", "canoe", "quiz", "wolf", "phone"]  # fmt: skip
VERBS = ["run", "ride", "park", "bus", "tie", "fly", "sit", "stop", "bow", "carry"]
EXCEPTIONS = {"noun": "men man\nwomen woman\nchildren child\ngeese goose\nknives knife\n", "verb": "ran run\nrode ride\nsat sit\n"}


def tiny(folder: Path, captions: list[str]) -> None:
    """Writes tiny data; the tagger's weights are random."""
    rng = random.Random(11)
    punkt = folder / "tokenizers/punkt_tab/english"
    tagger = folder / "taggers/averaged_perceptron_tagger_eng"
    wordnet = folder / "corpora/wordnet"
    for one in (punkt, tagger, wordnet):
        one.mkdir(parents=True, exist_ok=True)
    for name, text in PUNKT.items():
        (punkt / name).write_text(text, "utf-8")
    words = sorted({word for caption in captions[:60] for word in re.findall(r"[a-z]+", caption.lower())})
    names = ["i suffix", "i pref1", "i word", "i-1 word", "i-1 suffix", "i-2 word", "i+1 word", "i+1 suffix", "i+2 word"]
    features = {"bias": 1, **{f"i-1 tag {tag}": 1 for tag in TAGS}, **{f"i tag+i-2 tag {one} {other}": 1 for one in TAGS for other in TAGS}}
    for word in words:
        for name in names:
            if rng.random() < 0.2:
                part = word[-3:] if name.endswith("suffix") else word[0] if name == "i pref1" else word
                features[f"{name} {part}"] = 1
    weights = {
        feature: {tag: rng.randrange(-16, 17) / 8 for tag in rng.sample(TAGS, rng.randrange(1, 4))} for feature in features
    }
    known = {"a": "DT", "the": "DT", "on": "IN", ".": "."}
    for kind, content in (("weights", weights), ("tagdict", known), ("classes", TAGS)):
        (tagger / f"averaged_perceptron_tagger_eng.{kind}.json").write_text(json.dumps(content), "utf-8")
    for part, letter, lemmas in (("noun", "n", NOUNS), ("verb", "v", VERBS), ("adj", "a", ["red", "big"]), ("adv", "r", ["fast"])):
        lines = [f"{lemma} {letter} 1 0 1 0 {number + 1:08d}  " for number, lemma in enumerate(sorted(lemmas))]
        (wordnet / f"index.{part}").write_text("  1 a line of the licence\n" + "\n".join(lines) + "\n", "utf-8")
        (wordnet / f"{part}.exc").write_text(EXCEPTIONS.get(part, ""), "utf-8")


def goldens(given):
    """What NLTK and both programs make of our own captions, and of hostile ones, with tiny data."""
    work, folder = given.work.resolve(), given.folder.resolve()
    own = json_lines(folder.parent / "captions.jsonl")
    captions = [caption for row in own for caption in (row["hyp"], *row["refs"])][:60] + hostile(random.Random(3), 140)
    data = folder / "nltk_data"
    tiny(data, captions)
    os.environ["NLTK_DATA"] = str(data)
    objects = (folder / "objects.txt").read_text("utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        # What NLTK's reader of WordNet wants in addition.
        root = Path(scratch)
        shutil.copytree(data, root / "nltk_data")
        wordnet = root / "nltk_data/corpora/wordnet"
        for name in ("lexnames", "index.sense", "data.noun", "data.verb", "data.adj", "data.adv"):
            (wordnet / name).write_text("", "utf-8")
        (wordnet / "lexnames").write_text("00\tadj.all\t3\n", "utf-8")
        os.environ["NLTK_DATA"] = str(root / "nltk_data")
        for name in ("opera_chair.py", "lisa_chair.py", "inflect.py"):
            shutil.copy(work / name, root / name)
        text = (root / "opera_chair.py").read_text("utf-8")
        text = re.sub(r"synonyms_txt = '''.*?'''", lambda _: f"synonyms_txt = {objects!r}", text, flags=re.DOTALL)
        (root / "opera_chair.py").write_text(text, "utf-8")
        (root / "synonyms.txt").write_text(objects, "utf-8")
        names = [line.split(", ")[0] for line in objects.splitlines()]
        rng = random.Random(4)
        instances = {image: sorted(set(rng.sample(names, rng.randrange(4)))) for image in range(len(captions))}
        head = {"info": {}, "licenses": []}
        coco = root / "coco"
        coco.mkdir()
        rows = [{"image_id": image, "category_id": names.index(name)} for image, all_of in instances.items() for name in all_of]
        categories = [{"id": number, "name": name} for number, name in enumerate(names)]
        # Each caption is described by the next one, too.
        references = [{"image_id": image, "caption": captions[(image + 1) % len(captions)]} for image in range(len(captions))]
        images = [{"id": image} for image in range(len(captions))]
        for split, some, annotations in (("val", rows, references), ("train", [], [])):
            (coco / f"instances_{split}2014.json").write_text(json.dumps({**head, "images": [], "annotations": some, "categories": categories}))
            (coco / f"captions_{split}2014.json").write_text(json.dumps({**head, "images": images if some else [], "annotations": annotations}))
        import nltk
        from nltk.stem import WordNetLemmatizer

        singularize = singularize_of(root)
        chairs = {words: program(root, words, coco) for words in ("wordnet", "pattern")}
        parts = {"J": "a", "V": "v", "N": "n", "R": "r"}
        found = []
        for image, caption in enumerate(captions):
            tokens = nltk.word_tokenize(caption.lower())
            tags = [tag for _, tag in nltk.pos_tag(tokens)]
            lemmas = [WordNetLemmatizer().lemmatize(token, parts.get(tag[0], "n")) for token, tag in zip(tokens, tags)]
            found.append({
                "caption": caption,
                "sentences": nltk.sent_tokenize(caption.lower()),
                "tokens": tokens,
                "tags": tags,
                "lemmas": lemmas,
                "singulars": [singularize(token) for token in tokens],
                "instances": instances[image],
                "counts": {words: counts(chair, caption, image) for words, chair in chairs.items()},
            })  # fmt: skip
    singular = {word: singularize(word) for word in SINGULARS}
    versions = f"nltk {nltk.__version__}, Python {sys.version.split()[0]}; shikiw/OPERA, LisaAnne/Hallucination and clips/pattern as in the head of the script"
    lines = ",\n".join(json.dumps(row, ensure_ascii=True, separators=(",", ":")) for row in found)
    text = f'{{"programs": {json.dumps(versions)},\n"singulars": {json.dumps(singular)},\n"captions": [\n{lines}\n]}}\n'
    (folder / "golden.json").write_text(text, "utf-8")
    print(f"{len(found)} captions, {len(singular)} singulars")


SINGULARS = """bus buses glass glasses tennis skis ties neckties pies canoes magpies doggies collies people children oxen oxenford men women
geese knives wolves leaves calves shelves halves lives wives hives natives massives cloves waves eaves heaves deaves loaves chiefs axes taxes
quizzes matrices vertices indices apices aliases statuses octopi viri cacti crises testes shoes potatoes heroes mice lice dice boxes churches
glass's dogs' man's mothers-in-law man-of-war well-known runs-about movies zombies series queries flies boys days quies analyses
psychoanalyses bases diagnoses parentheses prognoses synopses theses hypotheses roses noses closes glucose neuroses data pasta media
criteria news views s ss ter on ison our four hour flour scissors debris tuna water rice sands formulae arthritis gateaux bureaux cookies
veggies opera corpora genera trilbys zoa monies moves removes ſ buſ a ' - -- x ies es ves ses""".split()


def hostile(rng: random.Random, n: int) -> list[str]:
    """Captions that tokenizers seldom see."""
    words = "dog dogs man men woman women bus buses glass glasses wine bow tie toilet seat baby adult passenger bird bear train parking meter meters tennis racket"
    words = words.split() + ["mr.", "dr.", "u.s.", "e.g.", "b.", "no.", "st.", "1.", "12.5", "3,000", "1999", "...", ". . .", "cannot", "gonna", "wanna", "d'ye", "'tis", "'twas",
             "gimme", "gotta", "lemme", "more'n", "isn't", "they're", "i'm", "he'd", "we'll", "dogs'", "man's", "well-known", "knives", "geese", "iPhone", "stove", "top", "oven"]  # fmt: skip
    separators = [" ", " ", " ", ", ", ". ", ".", "? ", "! ", "; ", ": ", "\n", "\n\n", '"', ' "', '" ', "'", " '", "' ", "\u201c", "\u201d ", "\u2018", "\u2019 ", " (", ") ", "[", "]",
                  "...", "--", " -- ", "-", ".) ", '." ', "\u00a0", "\u2028", "\u00ab", "\u00bb", "`", "``", "''", "*", "@", "#", "$", "%", "&", "<", ">", "\u00e9", "\u017f", "\u212a", "\u0130",
                  "\u0663", "\u4e00", "\x1c", "\u2014", ",,", "::", "?!", "..", "\u0301", "\u200d", "_", "\u00bd", "\r", "\x85"]  # fmt: skip
    found = []
    for _ in range(n):
        text = ""
        for _ in range(rng.randrange(1, 14)):
            word = rng.choice(words)
            text += (word.capitalize() if rng.random() < 0.2 else word) + (rng.choice(separators) if rng.random() < 0.6 else " ")
        found.append(text)
    return found


def main(arguments):
    parser = options(__doc__)
    commands = parser.add_subparsers(required=True)
    for run in (compare, goldens):
        command = commands.add_parser(run.__name__)
        command.set_defaults(run=run)
        command.add_argument("work", type=Path)
        if run is compare:
            command.add_argument("captions", type=Path)
            command.add_argument("results", type=Path, nargs="+")
        else:
            command.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    return given.run(given)
