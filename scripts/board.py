#!/usr/bin/env python3
"""Write the leaderboard of public systems into `board.html` beside this file, from which `gallery.py` makes a page.

    board.py SERVER DATA SCRATCH [--data-of-metrics DIR]

SERVER is the program, DATA the folder with the references of Karpathy's test split, `refs.json.gz`, and systems in `systems`,
SCRATCH an empty folder. The board is that of the server; what needs a server (forms, links, scripts) is left out, and of styles
only the names are kept.
"""
import argparse
import html
import html.parser
import pathlib
import re

import server_systems

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--data-of-metrics", metavar="DIR", help="where METEOR's data are")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    systems, _ = server_systems.make_files(given.data, given.scratch, not given.data_of_metrics, decimals=3)
    with server_systems.serving(given, {system: METHODS[system] for system in systems}) as (site, _):
        page = site.ask("GET", "/b/karpathy/test/leaderboard?ref=c5")[1].decode()
        KEPT.write_text(alone(page), encoding="utf-8")


if __name__ == "__main__":
    main()
