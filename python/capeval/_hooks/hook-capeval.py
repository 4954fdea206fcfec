"""Collects what is imported when it is first used, the stub that lists the public names, and the sources for `help`."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

datas = collect_data_files("capeval", include_py_files=True, includes=["*.py", "*.pyi"])
hiddenimports = collect_submodules("capeval")
