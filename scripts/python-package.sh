#!/usr/bin/env bash
# Installs the Python package into a folder, without what it depends on:
#   scripts/python-package.sh PYTHON FOLDER
# Built from a copy (links followed), since a build leaves folders beside the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:?usage: scripts/python-package.sh PYTHON FOLDER}
folder=${2:?usage: scripts/python-package.sh PYTHON FOLDER}
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT

cp -rL python/{pyproject.toml,README.md,src} "$source"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target "$folder" "$source"
