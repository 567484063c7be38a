#!/usr/bin/env bash
# Prints the path of a Python that has the packages of a requirements file, made once and kept outside the repository:
#   python=$(scripts/python-env.sh test/parity/requirements.txt)
# The environment's name carries a hash of the file and of Python's version, so another file is another environment.
# Requirements are installed exactly as listed (--no-deps): list what is needed, with versions.
set -euo pipefail

requirements=${1:?usage: scripts/python-env.sh REQUIREMENTS.txt}
base=${PYTHON:-python3}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/dataflex-mq
hash=$({ "$base" -VV; cat "$requirements"; } | "$base" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16])')
env=$cache/venv-$hash

if [ ! -x "$env/bin/python" ]; then
  mkdir -p "$cache"
  # Built beside its place and moved there whole: an interrupted build leaves nothing that looks finished.
  partial=$(mktemp -d "$env.partial-XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  "$base" -m venv "$partial" >&2
  "$partial/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$requirements" >&2
  # Two simultaneous builds give the same: the first one stays.
  mv -T "$partial" "$env" 2>/dev/null || [ -x "$env/bin/python" ]
fi
echo "$env/bin/python"
