"""Third-party data that capeval does not carry."""

from __future__ import annotations

import os
import sys

from . import _engine


def install_meteor(source: str | os.PathLike[str] | None = None) -> str:
    """Installs METEOR's data (42 MB), once per machine and user.

    They come out of the published package pycocoevalcap 1.2: the installed one, or else its wheel (104 MB), which pip
    fetches and checks. No Java is needed, and from then on no network.

    Args:
        source: the wheel, a ``meteor-1.5.jar`` with ``data/`` beside it, or a folder that holds these.

    Returns:
        The file, in the folder that ``CAPEVAL_DATA`` names or the system's place for a user's data.

    Raises:
        FileNotFoundError: the source is not there.
        ValueError: the source is something else.
        RuntimeError: pip cannot fetch the package.
    """
    path, recognized = _engine.install_meteor(None if source is None else os.fspath(source), sys.executable)
    if not recognized:
        import warnings

        warnings.warn(
            f"{source or path}: these are not the resources of pycocoevalcap 1.2; scores will not compare with "
            "published ones",
            stacklevel=2,
        )
    return path
