#!/usr/bin/env bash
# The Python package on a machine with a GPU: its tests on CUDA tensors (streams, devices, graphs),
# examples/load_inline.py, right and broken, and what a call costs beside torch.mm.
#
# usage: tests/python_gpu_test.sh OUT [PYTHON]
#   OUT     folder for results: python_gpu.json (everything), pytest.xml, overhead.json, logs
#   PYTHON  has PyTorch for CUDA, pytest, numpy and this package with CUDA kernels (default: python3)
set -uo pipefail
out=$(realpath -m "${1:?usage: tests/python_gpu_test.sh OUT [PYTHON]}")
python=${2:-python3}
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
cd "$out" # so that the installed package is tested, not the folder of its sources
command -v nvcc >/dev/null || export PATH="$PATH:/usr/local/cuda/bin"

"$python" - <<'PY' || exit 1
import sys
import torch, tessera
if not torch.cuda.is_available():
    sys.exit("python_gpu_test: PyTorch finds no GPU")
if not any(k.backend == "cuda" for k in tessera.kernels()):
    sys.exit("python_gpu_test: the installed package has no CUDA kernels: install it where nvcc is")
print("PyTorch", torch.__version__, "on", torch.cuda.get_device_name())
PY

status=0
# run NAME EXPECTED_CODE COMMAND...: its output in NAME.log, one line here.
run() {
  local name=$1 expected=$2 start code
  shift 2
  start=$(date +%s.%N)
  "$@" >"$name.log" 2>&1
  code=$?
  printf '%s\t%s\t%s\t%s\n' "$name" "$code" "$expected" "$(date +%s.%N | awk -v s="$start" '{print $1 - s}')" >>steps.tsv
  if [ $code -eq "$expected" ]; then
    echo "ok      $name: $(tail -n 1 "$name.log")"
  else
    echo "FAILED  $name: exit code $code"
    tail -n 40 "$name.log"
    status=1
  fi
}

rm -f steps.tsv pytest.xml overhead.json
# The same tests as without a GPU; here each of PyTorch's runs on CPU and CUDA tensors.
run pytest 0 "$python" -m pytest -q -p no:cacheprovider -rs --junitxml=pytest.xml "$source/python/tests"
run import_and_multiply 0 "$python" -c '
import time
start = time.perf_counter()
import torch
ready = time.perf_counter()
import tessera.torch
a = torch.randn(1024, 1024, device="cuda")
tessera.torch.shared_gemm_cuda(a, a)
torch.cuda.synchronize()
seconds = time.perf_counter() - ready
print(f"tessera.torch imported and multiplied in {seconds:.2f} s, PyTorch itself imported in {ready - start:.2f} s")
assert seconds < 1'
run load_inline 0 "$python" "$source/examples/load_inline.py"
printf 'extern "C" void solve(const float* A) { nonsense(A); }\n' >broken.cu
run load_inline_broken 1 "$python" "$source/examples/load_inline.py" --source broken.cu
grep -q nonsense load_inline_broken.log || { echo "FAILED  the compiler's message is missing"; status=1; }
run overhead 0 "$python" "$source/bench/python_overhead.py" --json overhead.json

"$python" - "$source" "$status" <<'PY' >python_gpu.json
import datetime, json, platform, subprocess, sys
import xml.etree.ElementTree as xml
from pathlib import Path
import numpy, torch

suites = xml.parse("pytest.xml").getroot().iter("testsuite") if Path("pytest.xml").exists() else []
tests = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
cuda = 0
for suite in suites:
    for name in tests:
        tests[name] += int(suite.get(name))
    cuda += sum("[cuda" in case.get("name") or "torch_cuda" in case.get("classname")
                for case in suite.iter("testcase") if case.find("skipped") is None)
steps = [line.split("\t") for line in Path("steps.tsv").read_text().splitlines()]
commit = subprocess.run(["git", "-C", sys.argv[1], "describe", "--always", "--dirty"],
                        capture_output=True, text=True).stdout.strip()
driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                        capture_output=True, text=True).stdout.split("\n")[0]
print(json.dumps({
    "schema": "tessera-python-gpu-1",
    "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    "commit": commit or None,
    "passed": sys.argv[2] == "0",
    "device": torch.cuda.get_device_name(), "devices": torch.cuda.device_count(), "driver": driver,
    "python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__,
    "pytest": {**tests, "on_cuda": cuda},
    "steps": [{"name": n, "exit_code": int(c), "expected": int(e), "seconds": float(s),
               "last_line": (Path(n + ".log").read_text().splitlines() or [""])[-1]}
              for n, c, e, s in steps],
    "overhead": json.loads(Path("overhead.json").read_text())["results"]
                if Path("overhead.json").exists() else None,
}, indent=1))
PY
[ $status -eq 0 ] && echo "all passed: $out/python_gpu.json" || echo "failed: $out/python_gpu.json"
exit $status
