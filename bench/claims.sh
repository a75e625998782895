#!/usr/bin/env bash
# Measures what docs/claims.md quotes, on the GPU of this machine: claims.sh TESSERA OUT
#   TESSERA  the program, built with CUDA
#   OUT      directory for the JSON
set -euo pipefail
tessera=$1 out=$2
mkdir -p "$out"

run() {
  printf '\n$ tessera %s\n' "$*" >&2
  "$tessera" "$@"
}

# One element a thread, tiles of three widths, register tiles of two depths and shapes, and the rest.
kernels=(--kernel k01_naive)
for config in tiled.f32.t8 tiled.f32.t16 tiled.f32.t32 \
  register_tiled.f32.128x128x8_t8x8 register_tiled.f32.128x128x16_t8x8 \
  register_tiled.f32.128x64x8_t8x4 register_tiled.f32.64x64x16_t4x4 \
  vectorized.f32.128x128x16_t8x8_v4 double_buffered.f32.128x128x16_t8x8_s2_v4; do
  kernels+=(--kernel "cuda.$config")
done

run info --peaks --json >"$out/peaks.json"
run bench 256 256 256 512 512 512 1024 1024 1024 2048 2048 2048 4096 4096 4096 8192 8192 8192 \
  --device cuda --seconds 0.15 "${kernels[@]}" --kernel auto --json-file "$out/sizes.json"
for data in normal integers zeros; do
  run bench 8192 8192 8192 --device cuda --seconds 0.5 --data $data --json-file "$out/data_$data.json"
done
TESSERA_TUNE_CACHE=$out/tune.json run tune --fresh --kernel k02_tiled --device cuda --seconds 0.1 \
  256 256 256 512 512 512 1024 1024 1024 2048 2048 2048 4096 4096 4096 \
  --json-file "$out/tile_width.json"
# Last: where the driver keeps counters for administrators, this ends with exit code 4.
run bench 1024 1024 1024 --device cuda --peer none --seconds 0.1 --counters "${kernels[@]}" \
  --kernel k06_warp_tiled --kernel k07_packed --json-file "$out/counters_1024.json"
