#!/usr/bin/env bash
# Everything that needs a GPU, from built binaries: gpu_test.sh BIN OUT
#   BIN  directory with kernel_test, cuda_backend_test, panel_test and tessera, built with CUDA
#   OUT  directory for logs and JSON
# Exit code 0 only when every part passed.
set -uo pipefail
bin=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
failed=0

part() {
  local name=$1; shift
  local start=$SECONDS
  if "$@" >"$out/$name.log" 2>&1; then
    printf 'ok      %-24s %4d s  %s\n' "$name" $((SECONDS - start)) "$(grep -E '^\[  PASSED|ERROR SUMMARY|^all ' "$out/$name.log" | tail -1)"
  else
    failed=1
    printf 'FAILED  %-24s %4d s  see %s\n' "$name" $((SECONDS - start)) "$out/$name.log"
    tail -25 "$out/$name.log"
  fi
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,memory.total --format=csv,noheader
part kernel_test "$bin/kernel_test" --needs-gpu '--gtest_filter=Cuda/*'
part cuda_backend_test "$bin/cuda_backend_test" --needs-gpu
[ ! -x "$bin/panel_gpu_test" ] || part panel_gpu_test "$bin/panel_gpu_test" --needs-gpu

# Each tool on every kernel, over cases with tails in all dimensions, padding, batches and scalars.
filter='Cuda/*A1_*:Cuda/*A9_*:Cuda/*E1_*:Cuda/*StridedBatches*'
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    part "sanitizer_$tool" compute-sanitizer --tool $tool --error-exitcode 1 \
      "$bin/kernel_test" --needs-gpu "--gtest_filter=$filter"
  done
else
  echo "skipped compute-sanitizer: not on PATH"
fi

if [ -n "${TESSERA_MODEL:-}" ]; then
  part model python3 "$here/model_test.py" "$bin/tessera" "$TESSERA_MODEL" cuda
fi
part bench "$bin/tessera" bench 512 512 512 1024 1024 1024 4096 4096 4096 8192 8192 8192 \
  --device cuda --json-file "$out/bench.json"
cat "$out/bench.log"
exit $failed
