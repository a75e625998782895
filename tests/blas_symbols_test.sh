#!/usr/bin/env bash
# What libtessera_blas.so shows to a process: the BLAS names and nothing else.
# usage: tests/blas_symbols_test.sh LIBRARY
set -euo pipefail
expected="cblas_dgemm
cblas_dgemm_batch
cblas_sgemm
cblas_sgemm_batch
dgemm_
sgemm_"
got=$(LC_ALL=C nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort)
[ "$got" = "$expected" ] || { diff <(echo "$expected") <(echo "$got"); exit 1; }
# Loading it prints nothing and changes nothing.
[ "$(LD_PRELOAD=$1 /bin/echo hello 2>&1)" = hello ]
