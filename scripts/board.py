#!/usr/bin/env python3
"""Write the leaderboard of public systems into `board.html` beside this file, from which `gallery.py` makes a page.

    board.py SERVER DATA SCRATCH [--data-of-metrics DIR]

SERVER is the program, DATA the folder with the references of Karpathy's test split, `refs.json.gz`, and systems in `systems`,
SCRATCH an empty folder. The board is that of the server; what needs a server (forms, links, scripts) is left out, and of styles
only the names are kept.
"""
import argparse
import gzip
import html
import html.parser
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "xtask/bench"))

from server import Site  # noqa: E402

KEPT = pathlib.Path(__file__).with_name("board.html")

METHODS = {
    "magic_magic": "MAGIC: GPT-2 guided by CLIP, 2022",
    "satic": "SATIC: semi-autoregressive transformer, 2021",
    "scn_lstm": "SCN-LSTM: semantic compositional network, 2017",
    "showedittell_rl": "Show, Edit and Tell, trained with CIDEr-D, 2020",
    "showedittell_xe": "Show, Edit and Tell, cross entropy, 2020",
    "smurf_m2transformer_c2": "Meshed-memory transformer, 2020",
}

# What needs a server: elements and classes.
LEFT_OUT = {"script", "form", "details", "input", "nav", "footer", "header", "img", "link"}
CLASSES = {"actions", "bars", "skip"}

EMPTY = {"input", "img", "link", "meta", "br", "hr"}


class Alone(html.parser.HTMLParser):
    """A page without what needs a server."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.written = []
        self.inside = []

    def handle_starttag(self, tag, attributes):
        is_left_out = tag in LEFT_OUT or any(name == "class" and value in CLASSES for name, value in attributes)
        if self.inside or is_left_out:
            if tag not in EMPTY:
                self.inside.append(tag)
        elif tag != "a":
            shown = "".join(f' {name}="{html.escape(value or "")}"' for name, value in attributes)
            self.written.append(f"<{tag}{shown}>")

    def handle_endtag(self, tag):
        if self.inside:
            self.inside.pop()
        elif tag != "a":
            self.written.append(f"</{tag}>")

    def handle_data(self, data):
        self.add(data)

    def handle_entityref(self, name):
        self.add(f"&{name};")

    def handle_charref(self, name):
        self.add(f"&#{name};")

    def handle_decl(self, text):
        self.add(f"<!{text}>")

    def add(self, text):
        if not self.inside:
            self.written.append(text)


def alone(page):
    """A page without what needs a server, with the names of its styles."""
    styles = re.findall(r'<link rel="stylesheet" href="[^"]*/([^"/]*)">', page)
    links = "".join(f'<link rel="stylesheet" href="{name}">\n' for name in styles)
    parser = Alone()
    parser.feed(page)
    return re.sub(r"\n{3,}", "\n", "".join(parser.written)).replace("</head>", f"{links}</head>")


PLAN = """
slug = "karpathy"
title = "Karpathy's test split"
[[phases]]
slug = "test"
title = "Test"
human = false
decimals = 3
metrics = {metrics}
[[phases.references]]
name = "c5"
file = "c5.json"
images = "ids.json"
[[phases.references]]
name = "c40"
file = "c40.json"
images = "ids.json"
"""


def load(path):
    with gzip.open(path, "rb") as file:
        return json.load(file)


def make_files(data, scratch, metrics):
    """Writes the references and the systems, all for the images that every system describes; returns the systems."""
    references = load(data / "refs.json.gz")
    systems = {path.name.removesuffix(".json.gz"): load(path) for path in sorted((data / "systems").glob("*.json.gz"))}
    common = set.intersection(*({one["image_id"] for one in results} for results in systems.values()))
    ids = [image["id"] for image in references["images"] if image["id"] in common]
    own = {image: [] for image in ids}
    for annotation in references["annotations"]:
        if annotation["image_id"] in own:
            own[annotation["image_id"]].append(annotation["caption"])
    (scratch / "ids.json").write_text(json.dumps(ids))
    for name, neighbours in (("c5", 1), ("c40", 8)):
        annotations = [
            {"id": number, "image_id": image, "caption": caption}
            for number, (image, caption) in enumerate(
                (image, caption)
                for place, image in enumerate(ids)
                for other in (ids[(place + step) % len(ids)] for step in range(neighbours))
                for caption in own[other][:5]
            )
        ]
        images = [{"id": image} for image in ids]
        (scratch / f"{name}.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    for name, results in systems.items():
        kept = [{"image_id": one["image_id"], "caption": one["caption"]} for one in results if one["image_id"] in common]
        (scratch / f"{name}.json").write_text(json.dumps(kept))
    (scratch / "plan.toml").write_text(PLAN.format(metrics=json.dumps(metrics)))
    print(f"{len(systems)} systems, {len(ids)} images")
    return list(systems)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--data-of-metrics", metavar="DIR", help="where METEOR's data are")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    metrics = ["bleu", *["meteor"] * bool(given.data_of_metrics), "rouge-l", "cider-d"]
    systems = make_files(given.data, given.scratch, metrics)
    site = Site(given)
    with site.running():
        site.admin("benchmark", "apply", given.scratch / "plan.toml")
        phase = site.phase("karpathy")
        for system in systems:
            waited = site.submit(phase, site.person(system), (given.scratch / f"{system}.json").read_text(), METHODS[system])
            print(f"{system}: scores after {waited:.1f} s", flush=True)
        page = site.ask("GET", "/b/karpathy/test/leaderboard?ref=c5")[1].decode()
    KEPT.write_text(alone(page), encoding="utf-8")


if __name__ == "__main__":
    main()
