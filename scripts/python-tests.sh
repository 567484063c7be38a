#!/usr/bin/env bash
# Lints, types and tests the Python client, installed as a user installs it, against the built service (npm run build) and a private Redis.
#   scripts/python-tests.sh            without PyTorch; its tests are left out
#   scripts/python-tests.sh --torch    with the PyTorch of test/parity/requirements.txt
# Environments lie outside the repository and are made once (scripts/python-env.sh). PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$(scripts/python-env.sh python/requirements-test.txt)
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT

# Built from a copy, since a build leaves folders beside the sources; through the source distribution, so that this is tested as well.
mkdir "$site/python" "$site/packages"
cp -r python/{pyproject.toml,README.md,src} "$site/python"
ln -s "$PWD/src" "$site/src"
(cd "$site/python" && "$python" -c 'from setuptools import build_meta; build_meta.build_sdist("../sdist")' >/dev/null)
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --target "$site/packages" "$site"/sdist/*.tar.gz
packages=$site/packages

if [ "${1:-}" = --torch ]; then
  torch=$(scripts/python-env.sh test/parity/requirements.txt)
  packages=$packages:$("$torch" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
fi

cd python
"$python" -m ruff check --config pyproject.toml . ../chaos ../examples/plugins
"$python" -m ruff format --config pyproject.toml --check --quiet . ../chaos ../examples/plugins
"$python" -m mypy --cache-dir "$site/mypy"
MYPYPATH=src "$python" -m mypy --cache-dir "$site/mypy" ../chaos/producers/*.py
"$python" -m vulture
# The installed package, not the sources; caches stay out of the repository.
PYTHONPATH=$packages HYPOTHESIS_STORAGE_DIRECTORY=$site/hypothesis \
  "$python" -m pytest -o pythonpath=tests -o cache_dir="$site/pytest" tests
