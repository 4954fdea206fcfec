"""Where PyInstaller finds what it needs to know of the package; the entry point ``pyinstaller40`` leads here."""

from __future__ import annotations

import os


def hook_dirs() -> list[str]:
    """The folder of hooks."""
    return [os.path.join(os.path.dirname(__file__), "_hooks")]
