#!/usr/bin/env bash
# `tessera check --gpu`, on a machine with a GPU: check_gpu_test.sh BIN OUT
#   BIN  directory with tessera, built with CUDA
#   OUT  directory for its JSON
# Where there is no nvcc, BIN/check_gpu must hold the compiled kernels. They are built beforehand,
# on a machine with nvcc, for the GPU's architecture:
#   check_gpu_test.sh --images BIN sm_90
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)/check
failed=0

# name, file, arguments, expected exit code, words that the report must have (extended pattern)
cases=(
  "solved|gpu/solved.cu||0|\"differing\": 0"
  "missing_second_barrier|gpu/missing_second_barrier.cu||6|\"state\": \"empty\""
  "tiled|right/tiled16.cu|--gemm 256,320,192|0|\"name\": \"k02_tiled\""
  "alpha_beta|right/alpha_beta.cu|--gemm 257,130,65|0|\"right\": true"
  "double|right/double.cu|--gemm 256,256,256|0|\"right\": true"
  "half|right/half.cu|--gemm 67,45,33|0|\"right\": true"
  "writes_far_away|gpu/writes_far_away.cu|--gemm 32,32,32|6|\"fault\": \".*illegal"
  "never_ends|gpu/never_ends.cu|--gemm 16,16,16 --time-limit 5|6|\"fault\": \"did not finish"
)

build_images() {
  local bin=$1 arch=$2 entry name file arguments
  mkdir -p "$bin/check_gpu"
  for entry in "${cases[@]}"; do
    IFS='|' read -r name file arguments _ <<<"$entry"
    # shellcheck disable=SC2086
    "$bin/tessera" check "$here/$file" $arguments --arch "$arch" \
      --gpu-image "$bin/check_gpu/$name.so" || failed=1
  done
}

run_case() {
  local bin=$1 out=$2 name=$3 file=$4 arguments=$5 code=$6 words=$7 got image=
  [ -e "$bin/check_gpu/$name.so" ] && image=$bin/check_gpu/$name.so
  # shellcheck disable=SC2086
  TESSERA_CHECK_GPU_IMAGE=$image "$bin/tessera" check "$here/$file" $arguments --gpu --no-nvcc \
    --json >"$out/check_gpu_$name.json" 2>"$out/check_gpu_$name.err"
  got=$?
  if [ $got -ne "$code" ] || ! grep -Eq "$words" "$out/check_gpu_$name.json"; then
    echo "FAILED $name: exit $got, expected $code with $words"
    head -c 2000 "$out/check_gpu_$name.json" "$out/check_gpu_$name.err"
    failed=1
  else
    echo "ok     $name"
  fi
}

if [ "$1" = --images ]; then
  build_images "$2" "$3"
else
  for entry in "${cases[@]}"; do
    IFS='|' read -r name file arguments code words <<<"$entry"
    run_case "$1" "$2" "$name" "$file" "$arguments" "$code" "$words"
  done
fi
exit $failed
