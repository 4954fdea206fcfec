"""Runs both programs of CHAIR, and compares capeval with them caption by caption; or writes the golden values of the tests.

    pip install nltk tqdm
    # In the folder WORK: chair.py of shikiw/OPERA as opera_chair.py, utils/chair.py of LisaAnne/Hallucination as
    # lisa_chair.py, pattern/text/en/inflect.py of clips/pattern, data/synonyms.txt of LisaAnne/Hallucination, and the
    # folder nltk_data with punkt_tab, averaged_perceptron_tagger_eng and wordnet.
    python scripts/chair_oracle.py compare target/release/capeval WORK CAPTIONS_VAL2014.json RESULTS.jsonl [RESULTS.jsonl …]
    python scripts/chair_oracle.py goldens WORK testdata/chair

COCO's files of instances are large; if WORK has none (coco/instances_val2014.json), some are made at random, which both sides
read alike. The first program is for Python 2: its lines `print "\\n"` are left out, and singularize is loaded alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

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
        spec = importlib.util.spec_from_file_location("opera_chair", work / "opera_chair.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
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


def compare(capeval: str, work_path: str, captions: str, *results: str) -> None:
    work = Path(work_path).resolve()
    os.environ["NLTK_DATA"] = str(work / "nltk_data")
    rows = {path: [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()] for path in results}
    images = {row["image_id"] for all_of in rows.values() for row in all_of}
    coco = prepare(work, Path(captions), images)
    for words in ("wordnet", "pattern"):
        chair = program(work, words, coco)
        start = time.perf_counter()
        expected = {path: [counts(chair, row["caption"], row["image_id"]) for row in all_of] for path, all_of in rows.items()}
        seconds = time.perf_counter() - start
        different = 0
        start = time.perf_counter()
        for path, all_of in rows.items():
            with tempfile.TemporaryDirectory() as folder:
                candidates = Path(folder, "c.json")
                candidates.write_text(json.dumps([{"image_id": row["image_id"], "caption": row["caption"]} for row in all_of]))
                table = Path(folder, "t.jsonl")
                command = [capeval, "score", "-r", str(coco / "captions_val2014.json"), str(candidates), "-m", f"chair:words={words}"]
                command += ["--objects", str(work / "synonyms.txt"), "--instances", str(coco / "instances_val2014.json")]
                command += ["--missing", "skip", "-f", "json", "--segments", str(table), "--nltk-data", str(work / "nltk_data")]
                said = subprocess.run(command, capture_output=True, text=True, check=False)
                if said.returncode:
                    raise SystemExit(said.stderr)
                report = json.loads(said.stdout)["systems"][0]["scores"]
                lines = {line["image_id"]: line for line in map(json.loads, table.read_text("utf-8").splitlines())}
            sums = [sum(column) for column in zip(*expected[path])]
            n = len(all_of)
            corpus = [sums[1] / sums[2], sums[0] / n, sums[3] / sums[4], sums[5] / n]
            ours = [report[key] for key in ("chair-i", "chair-s", "chair-recall", "chair-words")]
            for row, (captioned, hallucinated, mentions, recalled, objects, length) in zip(all_of, expected[path]):
                line = lines[row["image_id"]]
                line = line.get("scores", line)
                found = [line["chair-i"], line["chair-s"], line["chair-recall"], line["chair-words"]]
                theirs = [hallucinated / mentions if mentions else 0, captioned, recalled / objects if objects else 0, length]
                if found != theirs:
                    different += 1
                    if different <= 5:
                        print(words, row["image_id"], found, theirs, repr(row["caption"][:300]))
            equal = "equal" if ours == corpus else f"{corpus}"
            print(f"{words} {Path(path).name}: CHAIRi {100 * ours[0]:.1f} CHAIRs {100 * ours[1]:.1f} recall {100 * ours[2]:.1f} length {ours[3]:.1f}: {equal}")
        print(f"{words}: {different} captions of {sum(map(len, rows.values()))} differ; the program took {seconds:.1f} s, capeval {time.perf_counter() - start:.1f} s with {len(results)} starts")


if __name__ == "__main__":
    {"compare": compare}[sys.argv[1]](*sys.argv[2:])
