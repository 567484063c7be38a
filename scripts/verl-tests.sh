#!/usr/bin/env bash
# Tests of the verl trainers against the real verl and TransferQueue on the CPU. Needs a built package (npm run build) and redis-server.
#   scripts/verl-tests.sh [pytest's arguments]
# DFX_TRANSFER_QUEUE=0.1.8 runs them on another TransferQueue than the one listed.
set -euo pipefail
cd "$(dirname "$0")/.."

torch=$(scripts/python-env.sh test/parity/requirements.txt)
python=$(scripts/python-env.sh python/requirements-verl.txt)
checker=$(scripts/python-env.sh python/requirements-test.txt)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Installed as a user installs it, so that verl finds its entry point.
scripts/python-package.sh "$python" "$scratch/site"
if [ -n "${DFX_TRANSFER_QUEUE:-}" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$scratch/site" "TransferQueue==$DFX_TRANSFER_QUEUE"
fi

PYTHONPATH=$scratch/site:$("$torch" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PYTHONPATH
# One CPU machine: no accelerator is looked for, nothing is fetched. Warnings are those of verl and Ray.
export CUDA_VISIBLE_DEVICES= HF_HUB_OFFLINE=1 RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0 TOKENIZERS_PARALLELISM=false
export PYTHONDONTWRITEBYTECODE=1 DFX_DIST=${DFX_DIST:-$PWD/dist}
cd python
# Against verl's real types.
"$checker" -m mypy --python-executable "$python" --cache-dir "$scratch/mypy"
HYPOTHESIS_STORAGE_DIRECTORY=$scratch/hypothesis \
  "$python" -m pytest -o pythonpath=tests tests/verl -W ignore --disable-warnings -p no:cacheprovider "$@"
