#!/usr/bin/env bash
# NumPy's own tests of linear algebra and of products, with libtessera_blas.so preloaded.
# usage: tests/blas_numpy_test.sh PYTHON LIBRARY WORK      exit code 77 is "skipped"
set -euo pipefail
python=$1 library=$(realpath "$2") work=$3
skip() { echo "skipped: $1"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || skip "$python has no NumPy"
for module in pytest hypothesis; do
  "$python" -c "import $module" 2>/dev/null || skip "$python has no $module (Debian: python3-$module)"
done
core=$("$python" -c 'import numpy
try: import numpy._core as core
except ImportError: import numpy.core as core
print(core.__name__)')
extension=$("$python" -c "import $core._multiarray_umath as m; print(m.__file__)")
# Not in a pipe: grep -q leaves it early, and pipefail would take that for a failure.
libraries=$(ldd "$extension")
[[ $libraries == *libblas.so.3* ]] ||
  skip "this NumPy is not linked to libblas.so.3 but brings its own BLAS (Debian's python3-numpy is)"
for module in numpy.linalg.tests "$core.tests"; do
  "$python" -c "import $module" 2>/dev/null || skip "this NumPy comes without $module"
done
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# on_tessera NAME MINIMUM PYTEST-ARGUMENTS...: passes with at least MINIMUM products here.
on_tessera() {
  local name=$1 minimum=$2 log=$work/$1.calls dtype calls
  shift 2
  LD_PRELOAD=$library TESSERA_LOG=calls:$log "$python" -m pytest -q -p no:cacheprovider -rs "$@" ||
    { echo "$name: failed"; exit 1; }
  for dtype in f32 f64; do
    calls=$(grep -c "\"dtype\":\"$dtype\"" "$log" || true)
    echo "$name: $calls products of $dtype computed by $(basename "$library")"
    [ "$calls" -ge "$minimum" ] || { echo "at least $minimum expected"; exit 1; }
  done
  rm "$log"
}
on_tessera linalg 50 --pyargs numpy.linalg
# Without the dot products of vectors of several gigabytes.
on_tessera products 10 --pyargs "$core.tests.test_multiarray" "$core.tests.test_einsum" \
  "$core.tests.test_numeric" \
  -k "(dot or Dot or matmul or MatMul or Matmul or inner or einsum) and not huge"
