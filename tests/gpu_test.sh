#!/usr/bin/env bash
# Everything that needs a GPU, from built binaries: gpu_test.sh BIN OUT
#   BIN  directory with tessera and the tests labelled gpu, built with CUDA;
#        without nvcc here, also check_gpu (see check_gpu_test.sh)
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
export TESSERA_SUITES=${TESSERA_SUITES:-$here/../bench/suites}
part bench_gpu_test "$bin/bench_gpu_test" --needs-gpu
part peaks "$bin/tessera" info --peaks
part cost "$bin/tessera" bench --cost --device cuda --json-file "$out/cost.json"
rungs=()
for stem in $("$bin/tessera" kernels --json | grep -o '"k[0-9][0-9]_[a-z_]*"' | tr -d '"' | sort -u); do
  rungs+=(--kernel "$stem")
done
part targets "$bin/tessera" bench --suite targets --device cuda --seconds 0.3 --kernel auto \
  "${rungs[@]}" --json-file "$out/targets.json"
part every_kernel "$bin/tessera" bench 1024 1024 1024 1000 1001 1003 --device cuda --seconds 0.05 \
  --kernel all --json-file "$out/every_kernel.json"
part ladder "$bin/tessera" ladder --device cuda --seconds 0.3 --json-file "$out/ladder.json"
cat "$out"/{peaks,cost,targets,ladder}.log

part check_gpu bash "$here/check_gpu_test.sh" "$bin" "$out"
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
