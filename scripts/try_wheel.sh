#!/bin/sh
# Installs the wheel in a folder into a fresh environment, makes the first table, and runs the tests of the reference programs' scores.
#
#     scripts/try_wheel.sh PYTHON FOLDER
set -eu
fresh=$(mktemp -d)
"$1" -m venv "$fresh"
bin=$fresh/bin
[ -d "$bin" ] || bin=$fresh/Scripts
"$bin/python" -m pip install --quiet "$2"/*.whl pytest
"$bin/capeval" score -m bleu,rouge-l,cider-d -r examples/quickstart/references.json examples/quickstart/good.json
"$bin/python" -m pytest -q -p no:cacheprovider python/tests/test_goldens.py python/tests/test_score.py
