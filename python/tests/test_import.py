"""What importing the package imports."""

import subprocess
import sys
from pathlib import Path

import pytest

import capeval
from capeval import _engine


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
    assert {"score", "Report", "__version__", "install_as_pycocoevalcap"} < set(capeval.__all__) < set(dir(capeval))
    assert {"meta", "options", "reward"} < set(dir(capeval)) - set(capeval.__all__)
    assert capeval.options.ScoreOptions and capeval.meta.run
    with pytest.raises(AttributeError, match="module 'capeval' has no attribute 'scores'"):
        capeval.scores


def test_the_package_may_be_in_a_zip(tmp_path):
    """But for the extension module, which no zip can hold: it is taken from where it is."""
    import zipfile

    folder = Path(capeval.__file__).parent
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in [*folder.glob("*.py"), folder / "__init__.pyi"]:
            archive.write(path, f"capeval/{path.name}")
    program = (
        "import importlib.machinery, importlib.util, sys\n"
        "zipped, library = sys.argv[1:]\n"
        "loader = importlib.machinery.ExtensionFileLoader('capeval._engine', library)\n"
        "spec = importlib.util.spec_from_loader('capeval._engine', loader)\n"
        "sys.modules['capeval._engine'] = importlib.util.module_from_spec(spec)\n"
        "loader.exec_module(sys.modules['capeval._engine'])\n"
        "sys.path.insert(0, zipped)\n"
        "import capeval\n"
        "sys.modules['capeval']._engine = sys.modules['capeval._engine']\n"
        "assert zipped in capeval.__file__, capeval.__file__\n"
        "assert 'The tokenizer of all metrics' in capeval.score.__doc__\n"
        "print(capeval.score({1: ['a dog']}, {1: 'a dog'}, 'rouge-l')['rouge-l'])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "all.zip", _engine.__file__],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert run.stdout == "1.0\n", run.stderr


def test_programs_that_are_frozen_have_the_stub_and_all_modules():
    import runpy

    from capeval._pyinstaller import hook_dirs

    (folder,) = hook_dirs()
    hook = Path(folder, "hook-capeval.py")
    assert hook.is_file()
    pytest.importorskip("PyInstaller")
    found = runpy.run_path(str(hook))
    assert any(source.endswith("__init__.pyi") for source, _ in found["datas"])
    needed = {f"capeval.{name}" if module == "." else f"capeval{module}" for name, module in capeval._MODULES.items()}
    assert needed <= set(found["hiddenimports"])
