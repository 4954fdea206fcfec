#!/usr/bin/env python3
"""Draw the terminal in docs/assets from what the program prints, or check that the drawing is up to date.

    pictures.py PROGRAM [--check]
"""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "docs" / "assets" / "terminal.svg"
COLUMNS = 132
COMMANDS = [
    "capeval score -r references.json good.json weak.json -m bleu,rouge-l,cider-d --ci",
    "capeval compare -r references.json weak.json good.json -m cider-d",
]

# Colours that are told apart on their ground, on pages of either kind.
THEME = TerminalTheme(
    (16, 19, 26),
    (228, 232, 240),
    [(16, 19, 26), (255, 123, 114), (126, 211, 133), (255, 201, 77), (127, 176, 255), (210, 168, 255), (110, 214, 214), (228, 232, 240)],
)

# Without rich's address of a font: the reader's own will do.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="capeval score \
and capeval compare in a terminal">
    <style>
    .{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
    {styles}
    </style>
    <defs>{lines}</defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


def drawing(program):
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    variables = {**os.environ, "COLUMNS": str(COLUMNS)}
    variables.pop("NO_COLOR", None)
    for command in COMMANDS:
        call = [program, *command.split()[1:], "--color", "always"]
        folder = ROOT / "examples" / "quickstart"
        run = subprocess.run(call, cwd=folder, env=variables, capture_output=True, text=True, check=True)
        # Signatures and explanations below the table are for the page about them.
        table = run.stdout.split("\n\n")[0]
        console.print(Text.from_ansi(f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m\n{table}\n"))
    svg = console.export_svg(title="capeval", theme=THEME, code_format=FORMAT, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.split("\n"))


def main():
    svg = drawing(Path(sys.argv[1]).resolve())
    if "--check" not in sys.argv:
        DRAWING.write_text(svg, encoding="utf-8")
    elif DRAWING.read_text(encoding="utf-8") != svg:
        sys.exit(f"{DRAWING.relative_to(ROOT)} is not up to date; run `cargo xtask pictures`")


if __name__ == "__main__":
    main()
