#!/usr/bin/env bash
# Everything that needs a GPU, from built binaries: gpu_test.sh BIN OUT
#   BIN  directory with kernel_test, cuda_backend_test, panel_gpu_test and tessera, built with CUDA
#   OUT  directory for logs and JSON
# TESSERA_MODEL may name a .safetensors file whose weights are multiplied and checked with NumPy.
# Exit code 0 only when every part passed.
set -uo pipefail
bin=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
failed=0

part() {
  local name=$1; shift
  local start=$SECONDS
  if timeout 240 "$@" >"$out/$name.log" 2>&1; then
    printf 'ok      %-24s %4d s  %s\n' "$name" $((SECONDS - start)) "$(grep -E '^\[  PASSED|ERROR SUMMARY|RACECHECK SUMMARY|^all ' "$out/$name.log" | tail -1)"
  else
    failed=1
    printf 'FAILED  %-24s %4d s  see %s\n' "$name" $((SECONDS - start)) "$out/$name.log"
    tail -25 "$out/$name.log"
  fi
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,memory.total --format=csv,noheader

# Benchmarks first: what comes later must not leave the clocks or the caches in its own state.
# Kernels that need aligned rows (_v4) cannot take the odd shape and are left out there.
mapfile -t kernels < <("$bin/tessera" kernels --json | grep -o '"cuda\.[a-z_]*\.f32[^"]*"' | tr -d '"' | sort -u)
all=(--kernel auto) any_row=(--kernel auto)
for kernel in "${kernels[@]}"; do
  all+=(--kernel "$kernel")
  case "$kernel" in *_v4) ;; *) any_row+=(--kernel "$kernel") ;; esac
done
part bench "$bin/tessera" bench 512 512 512 1024 1024 1024 4096 4096 4096 \
  --device cuda --seconds 0.2 "${all[@]}" --json-file "$out/bench.json"
part bench_odd "$bin/tessera" bench 1000 1001 1003 --device cuda --seconds 0.2 "${any_row[@]}" \
  --json-file "$out/bench_odd.json"
cat "$out/bench.log" "$out/bench_odd.log"

part kernel_test "$bin/kernel_test" --needs-gpu '--gtest_filter=Cuda/*'
part cuda_backend_test "$bin/cuda_backend_test" --needs-gpu
part cuda_split_k_test "$bin/cuda_split_k_test" --needs-gpu
part panel_gpu_test "$bin/panel_gpu_test" --needs-gpu
if [ -n "${TESSERA_MODEL:-}" ]; then
  part model python3 "$here/model_test.py" "$bin/tessera" "$TESSERA_MODEL" cuda
fi

# Each tool on every kernel, over cases with tails in every dimension, padding, batches and scalars.
tails='Cuda/*A1_*:Cuda/*E1_*:Cuda/*StridedBatches*'
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck initcheck synccheck racecheck; do
    part "sanitizer_$tool" compute-sanitizer --tool $tool --error-exitcode 1 \
      "$bin/kernel_test" --needs-gpu "--gtest_filter=$tails"
  done
else
  echo "skipped compute-sanitizer: not on PATH"
fi
exit $failed
