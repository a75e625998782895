"""Multiplies the weights of a real model file with every kernel and compares with NumPy in FP64.

usage: model_test.py TESSERA MODEL.safetensors cpu|cuda

The four op pairs are covered by W_ih (512 x 128), W_hh (512 x 128) and a product of the two. Each
element must lie within the bound of the check that `tessera mul` prints.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(SKIPPED)


def load_safetensors(path, name):
    """Reads one F32 tensor independently of Tessera's reader."""
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        entry = json.loads(f.read(length))[name]
        assert entry["dtype"] == "F32"
        begin, end = entry["data_offsets"]
        f.seek(8 + length + begin)
        return np.frombuffer(f.read(end - begin), "<f4").reshape(entry["shape"])


def main():
    tessera, model, device = sys.argv[1:4]
    if not os.path.exists(model):
        print(f"skipped: {model} is not here")
        return SKIPPED
    kernels = json.loads(subprocess.check_output([tessera, "kernels", "--json"]))
    kernels = kernels["kernels"] if isinstance(kernels, dict) else kernels
    ids = [k["id"] for k in kernels if k["id"].startswith(device + ".") and ".f32" in k["id"]]
    assert ids, f"no f32 kernel for {device}"
    w_ih = load_safetensors(model, "lstm_cell.weight_ih").astype(np.float64)
    w_hh = load_safetensors(model, "lstm_cell.weight_hh").astype(np.float64)
    spec_ih, spec_hh = f"{model}:lstm_cell.weight_ih", f"{model}:lstm_cell.weight_hh"
    with tempfile.TemporaryDirectory() as directory:
        square = os.path.join(directory, "square.npy")
        np.save(square, (w_ih.T @ w_hh).astype(np.float32))
        s = np.load(square).astype(np.float64)
        cases = [
            ("NT", spec_ih, spec_hh, w_ih, w_hh.T),
            ("TN", spec_ih, spec_hh, w_ih.T, w_hh),
            ("NN", spec_ih, square, w_ih, s),
            ("TT", square, spec_ih, s.T, w_ih.T),
        ]
        worst = 0.0
        for kernel in ids:
            for ops, a, b, a64, b64 in cases:
                out = os.path.join(directory, f"c_{ops}.npy")
                command = [tessera, "mul", a, b, "-o", out, "--device", device, "--kernel", kernel,
                           "--json"]
                command += ["--trans-a"] * (ops[0] == "T") + ["--trans-b"] * (ops[1] == "T")
                report = json.loads(subprocess.check_output(command))
                assert report["kernel"]["id"] == kernel if isinstance(report["kernel"], dict) \
                    else report["kernel"] == kernel, report
                c = np.load(out)
                assert c.dtype == np.float32 and c.shape == (a64.shape[0], b64.shape[1])
                # The element bound of docs/verify.md: (k + 3) u |A||B|.
                bound = (a64.shape[1] + 3) * 2.0**-24 * (np.abs(a64) @ np.abs(b64)) + 1e-37
                ratio = np.max(np.abs(c - a64 @ b64) / bound)
                assert ratio <= 1, f"{kernel} {ops}: {ratio} times the bound"
                worst = max(worst, ratio)
    print(f"all {len(ids)} kernels x 4 op pairs within the bound; worst {worst:.3g} of it")
    return 0


sys.exit(main())
