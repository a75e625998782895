#!/usr/bin/env bash
# The reference BLAS's level 3 test programs (Debian: libblas-test) on libtessera_blas.so.
# usage: tests/blas_reference_test.sh LIBRARY MODE WORK
#   MODE preload: by LD_PRELOAD; alternative: LIBRARY, linked to the reference, is libblas.so.3
# Exit code 77 is "skipped".
set -euo pipefail
library=$(realpath "$1") mode=$2 work=$3
folder=$(dirname "$(find /usr/lib -path '*/blas/xblat3s' -print -quit 2>/dev/null)")
if [ ! -x "$folder/xblat3s" ]; then
  echo "skipped: no /usr/lib/*/blas/xblat3s (Debian: libblas-test)"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work/lib"
cd "$work"
ln -s "$library" lib/libblas.so.3

# on_tessera PROGRAM INPUT OUTPUT: its calls are logged in OUTPUT.calls.
on_tessera() {
  # Under LD_PRELOAD the reference stands behind: another library may be this machine's libblas.so.3,
  # without what the C program takes from the reference.
  local variables=(LD_PRELOAD="$library" LD_LIBRARY_PATH="$folder")
  [ "$mode" = preload ] || variables=(LD_LIBRARY_PATH="$work/lib")
  env "${variables[@]}" TESSERA_LOG="calls:$work/$3.calls" "$folder/$1" <"$2" >"$3"
}

# judge OUTPUT DTYPE MINIMUM TEXT...: every text stands there, no test failed, and at least MINIMUM
# products of this type and no other were computed here.
judge() {
  local output=$1 dtype=$2 minimum=$3 text calls
  shift 3
  for text in "$@"; do
    grep -qE "$text" "$output" || { echo "missing in $output: $text"; cat "$output"; exit 1; }
  done
  if grep -qE 'FAIL|FATAL|SUSPECT|\*\*\*\*' "$output"; then cat "$output"; exit 1; fi
  calls=$(grep -c "\"dtype\":\"$dtype\"" "$output.calls")
  [ "$calls" = "$(wc -l <"$output.calls")" ] && [ "$calls" -ge "$minimum" ] ||
    { echo "$output: $calls products of $dtype here, at least $minimum expected"; exit 1; }
  echo "$output: passed, $calls products computed by $(basename "$library")"
}

# larger INPUT OUTPUT: INPUT tries sizes up to 9; these cross the tiles of kernels, of gemm only. 65
# is the most the programs take.
larger() {
  sed -e "1s/'[^']*'/'$2'/" -e '9s/^6/5/' -e '10s/^[0-9 ]*/1 16 33 48 65 /' \
    -e '/GEMM/!s/^\([SD][A-Z0-9]*\) *T /\1 F /' "$1"
}

for kind in s:S:f32 d:D:f64; do
  IFS=: read -r low up dtype <<<"$kind"
  # The Fortran program writes into a file that its input names, the C program on stdout.
  on_tessera "xblat3$low" "$folder/${low}blat3.in" "${low}blat3.stdout"
  mv "${low}blat3.stdout.calls" "${low}blat3.out.calls"
  judge "${low}blat3.out" "$dtype" 10000 "${up}GEMM +PASSED THE TESTS OF ERROR-EXITS" \
    "${up}GEMM +PASSED THE COMPUTATIONAL TESTS" "${up}SYR2K +PASSED THE COMPUTATIONAL" "END OF TESTS"
  larger "$folder/${low}blat3.in" "$low.larger.out" >"$low.larger.in"
  on_tessera "xblat3$low" "$low.larger.in" "$low.larger.stdout"
  mv "$low.larger.stdout.calls" "$low.larger.out.calls"
  judge "$low.larger.out" "$dtype" 5000 "${up}GEMM +PASSED THE COMPUTATIONAL TESTS" "END OF TESTS"
  on_tessera "x${low}cblat3" "$folder/${low}in3" "${low}cblat3.out"
  judge "${low}cblat3.out" "$dtype" 20000 "cblas_${low}gemm +PASSED THE TESTS OF ERROR-EXITS" \
    "cblas_${low}gemm +PASSED THE COLUMN-MAJOR COMPUTATIONAL" \
    "cblas_${low}gemm +PASSED THE ROW-MAJOR +COMPUTATIONAL" "END OF TESTS"
done
