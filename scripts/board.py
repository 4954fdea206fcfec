#!/usr/bin/env python3
"""Write the leaderboard of public systems as one page without a server, `docs/assets/board.html` of the gallery.

    board.py SERVER DATA SCRATCH OUT [--data-of-metrics DIR]

SERVER is the program, DATA the folder with the references of Karpathy's test split, `refs.json.gz`, and systems in `systems`,
SCRATCH an empty folder. The board is that of the server; what needs a server (forms, links, scripts) is left out of the page.
"""
import argparse
import html
import html.parser
import pathlib
import re

import server_systems

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


def alone(site, page):
    """A page with its styles inside."""
    styles = re.findall(r'<link rel="stylesheet" href="([^"]*)">', page)
    style = "".join(site.ask("GET", path)[1].decode() for path in styles)
    parser = Alone()
    parser.feed(page)
    return "".join(parser.written).replace("</head>", f"<style>{style}</style>\n</head>")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("server")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data-of-metrics", metavar="DIR", help="where METEOR's data are")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    systems, _ = server_systems.make_files(given.data, given.scratch, not given.data_of_metrics, decimals=3)
    with server_systems.serving(given, {system: METHODS[system] for system in systems}) as (site, _):
        page = site.ask("GET", "/b/karpathy/test/leaderboard?ref=c5")[1].decode()
        given.out.write_text(alone(site, page), encoding="utf-8")


if __name__ == "__main__":
    main()
