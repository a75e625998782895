#!/usr/bin/env python3
"""What a call from Python costs beside the C++ call, and a PyTorch one beside torch.mm.

    python bench/python_overhead.py [--json FILE] [--rounds N]

Small square products, where the call is most of the time. Every contender runs in turns with the
others, in rounds of many calls; the median round counts. NumPy: 64 x 64, FP32, one thread, beside
tessera::gemm called in a loop of C++. CUDA tensors, where there is a GPU: the time the host takes
to enqueue a call, 64 x 64, beside torch.mm. CPU tensors, where there is PyTorch: 8 x 8, where
nothing but the call counts. Each product is verified before it is timed.
"""

import argparse
import datetime
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("TESSERA_NUM_THREADS", "1")

import numpy as np
import tessera
from tessera import _core

N = 64


def seconds_per_call(call, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def contest(contenders, rounds, calls, between=lambda: None):
    """Median, lowest and highest microseconds a call of each, run in turns."""
    for contender in contenders.values():
        contender(calls)
        between()
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            times[name].append(contender(calls) * 1e6)
            between()
    return {
        name: {"median_us": statistics.median(t), "min_us": min(t), "max_us": max(t)}
        for name, t in times.items()
    }


def on_numpy(rounds):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((N, N)).astype(np.float32) for _ in range(2))
    out = np.empty((N, N), np.float32)
    for product in (tessera.gemm(a, b), tessera.gemm(a, b, out=out)):
        if not tessera.verify(a, b, product, method="full"):
            sys.exit("wrong product: no time counts")
    row = contest(
        {
            "cpp": lambda n: _core.seconds_of_cpp_calls(a, b, out, n) / n,
            "gemm, out given": lambda n: seconds_per_call(lambda: tessera.gemm(a, b, out=out), n),
            "gemm": lambda n: seconds_per_call(lambda: tessera.gemm(a, b), n),
            "matmul": lambda n: seconds_per_call(lambda: tessera.matmul(a, b), n),
            "numpy.matmul": lambda n: seconds_per_call(lambda: np.matmul(a, b), n),
        },
        rounds,
        2000,
    )
    return judged("numpy", row, "cpp", ["gemm, out given", "gemm", "matmul"], 3.0)


def on_tensors(device, size, rounds, goal_us):
    import torch

    import tessera.torch

    torch.set_num_threads(1)
    a, b = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    op = torch.ops.tessera.gemm.default
    if not tessera.verify(a, b, op(a, b), method="full"):
        sys.exit("wrong product: no time counts")
    with torch.inference_mode(False):
        row = contest(
            {
                "torch.mm": lambda n: seconds_per_call(lambda: torch.mm(a, b), n),
                "torch.ops.tessera.gemm": lambda n: seconds_per_call(lambda: op(a, b), n),
                "tessera.torch.gemm": lambda n: seconds_per_call(
                    lambda: tessera.torch.gemm(a, b), n
                ),
            },
            rounds,
            200,
            torch.cuda.synchronize if device == "cuda" else lambda: None,
        )
    others = ["torch.ops.tessera.gemm", "tessera.torch.gemm"]
    where = f"cuda, {torch.cuda.get_device_name()}" if device == "cuda" else "tensors on the cpu"
    return judged(where, row, "torch.mm", others, goal_us, size)


def judged(where, row, reference, others, goal_us, size=N):
    base = row[reference]["median_us"]
    for name in others:
        row[name]["overhead_us"] = row[name]["median_us"] - base
        if goal_us is not None:
            row[name]["met"] = row[name]["overhead_us"] <= goal_us
    goal = "no goal" if goal_us is None else f"goal: {goal_us:g} us over {reference}"
    print(f"{where}: {size} x {size}, FP32; {goal}")
    for name, entry in row.items():
        over = f"  over {reference}: {entry['overhead_us']:+.2f} us" if name in others else ""
        print(f"  {name:<24} {entry['median_us']:8.2f} us{over}")
    return {"where": where, "size": size, "beside": reference, "goal_us": goal_us, "calls": row}


def commit():
    here = Path(__file__).resolve().parent
    done = subprocess.run(
        ["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True
    )
    return done.stdout.strip() or None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the results here too")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    results = [on_numpy(options.rounds)]
    if any(k.backend == "cuda" for k in tessera.kernels()) and not _core.cuda_unavailable_reason():
        results.append(on_tensors("cuda", N, options.rounds, 5.0))
    if importlib.util.find_spec("torch"):
        results.append(on_tensors("cpu", 8, options.rounds, None))
    if options.json:
        info = {
            "schema": "tessera-python-overhead-1",
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": commit(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "cpu": cpu_name(),
            "load": os.getloadavg()[0],
            "threads": os.environ["TESSERA_NUM_THREADS"],
            "results": results,
        }
        if "torch" in sys.modules:
            info["torch"] = sys.modules["torch"].__version__
        Path(options.json).write_text(json.dumps(info, indent=1) + "\n")


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
