"""What importing the package imports."""

import subprocess
import sys

import capeval


def loaded(start=""):
    """The modules that are loaded after ``import capeval`` in a fresh process without site packages."""
    program = f"import sys; sys.path[:] = {sys.path!r}; import capeval; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    return {name for name in run.stdout.split() if name.startswith(start)}


def test_parts_wait_until_they_are_used():
    assert loaded("capeval.") == {"capeval._engine", "capeval._mecab"}
    assert not loaded() & {"numpy", "json", "inspect", "dataclasses", "typing"}


def test_every_public_name_is_there_and_listed():
    assert all(getattr(capeval, name) is not None for name in capeval.__all__)
    given = {name for names in capeval._PARTS.values() for name in names}
    assert given | {"install_as_pycocoevalcap"} == set(capeval.__all__)
    assert set(capeval.__all__) <= set(dir(capeval))
