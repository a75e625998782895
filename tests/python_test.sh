#!/usr/bin/env bash
# The Python package that ./dev test installed: its tests, and what its wheel depends on.
# usage: tests/python_test.sh FOLDER   (with venv/ and wheel/ in it); exit code 77 is "skipped"
set -euo pipefail
folder=$(realpath -m "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
python=$folder/venv/bin/python
if [ ! -x "$python" ] || ! "$python" -c 'import tessera' 2>/dev/null; then
  echo "skipped: no package in $folder (./dev test installs it, when pip and its packages are there)"
  exit 77
fi

cd "$folder" # so that the installed package is tested, not the folder of its sources
echo "==> pytest"
"$python" -m pytest -q -p no:cacheprovider -rs "$source/python/tests"

wheel=$(ls "$folder"/wheel/tessera_gemm-*.whl)
echo "==> auditwheel show $(basename "$wheel")"
if "$python" -c 'import auditwheel' 2>/dev/null; then
  "$python" -m auditwheel show "$wheel"
else
  echo "auditwheel is not to be had here: left out"
fi

echo "==> stable ABI"
case "$wheel" in
  *-abi3-*)
    if "$python" -c 'import abi3audit' 2>/dev/null; then
      "$python" -m abi3audit --strict --verbose "$wheel"
    else
      echo "abi3audit is not to be had here: left out"
    fi
    ;;
  *) echo "a wheel for one version of Python (abi3 begins with 3.12): nothing to check" ;;
esac
