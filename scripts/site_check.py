#!/usr/bin/env python3
"""Check a built site: no dead link or anchor, every page reachable, nothing fetched from elsewhere, pages light.

    site_check.py SITE
"""

import gzip
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a page may weigh when it is sent packed, in bytes, with style and scripts and without pictures.
LIGHT = 110_000

# Pages of reports, which are single files of their own.
OWN = "gallery/"


class Read(HTMLParser):
    """The links, the anchors and the files of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.files, self.pictures = [], set(), [], []
        self.in_head, self.is_named, self.bare_heads = False, False, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(value for key, value in attributes if key in ("id", "name") and value)
        if tag == "th":
            self.in_head, self.is_named = True, False
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") == "stylesheet":
            self.files.append(found["href"])
        elif tag == "link" and found.get("rel") == "icon":
            self.pictures.append(found["href"])
        elif tag == "script" and found.get("src"):
            self.files.append(found["src"])
        elif tag in ("img", "source") and found.get("src"):
            self.pictures.append(found["src"])

    def handle_data(self, data):
        self.is_named |= self.in_head and bool(data.strip())

    def handle_endtag(self, tag):
        if tag == "th":
            self.bare_heads += not self.is_named
            self.in_head = False


def target(site, page, address):
    """The file that an address on a page means, and its anchor."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    file = page if not path else (site / path.lstrip("/") if path.startswith("/") else page.parent / path)
    file = Path(*file.parts).resolve()
    return (file / "index.html" if file.is_dir() else file), unquote(parts.fragment)


def problems(site):
    pages = {path.resolve(): Read(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    packed = {}
    for path, page in sorted(pages.items()):
        name = path.relative_to(site).as_posix()
        if name.startswith(OWN) and path.name != "index.html":
            continue
        for address in page.links + page.files + page.pictures:
            if urlsplit(address).scheme or address.startswith("//"):
                if address not in page.links:
                    yield f"{name}: fetches {address}"
                continue
            file, anchor = target(site, path, address)
            if not file.exists():
                yield f"{name}: a dead link to {address}"
            elif anchor and file in pages and anchor not in pages[file].anchors and not anchor.startswith("__"):
                yield f"{name}: no anchor in {address}"
        if page.bare_heads:
            yield f"{name}: {page.bare_heads} columns of tables without a name"
        weight = len(gzip.compress(path.read_bytes()))
        for address in page.files:
            file = target(site, path, address)[0]
            if file.exists():
                packed.setdefault(file, len(gzip.compress(file.read_bytes())))
                weight += packed[file]
        if weight > LIGHT:
            yield f"{name}: {weight:,} bytes packed, more than {LIGHT:,}"
    start = (site / "index.html").resolve()
    seen, waiting = {start}, [start]
    while waiting:
        path = waiting.pop()
        for address in pages[path].links:
            if not urlsplit(address).scheme:
                file = target(site, path, address)[0]
                if file in pages and file not in seen:
                    seen.add(file)
                    waiting.append(file)
    for path in sorted(set(pages) - seen):
        if path.name != "404.html":
            yield f"{path.relative_to(site).as_posix()}: no link leads here"


def main():
    site = Path(sys.argv[1]).resolve()
    found = list(problems(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages: links, anchors and weights are in order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
