#!/usr/bin/env python3
"""Puts `tessera check`'s counts of the plain rungs beside Nsight Compute's.

  checker_counters.py measure TESSERA OUT   on a machine with a GPU, ncu and a CUDA build
  checker_counters.py compare TESSERA OUT JSON   where nvcc and clang are; reads OUT, writes JSON

Run from the root of the source tree.
"""
import csv
import json
import subprocess
import sys

SIZES = (256, 1024)
RUNGS = (
    ("k01_naive", "naive.f32", ""),
    ("k02_tiled", "tiled.f32.t8", "t8"),
    ("k02_tiled", "tiled.f32.t16", "t16"),
    ("k02_tiled", "tiled.f32.t32", "t32"),
    ("k03_register_tiled", "register_tiled.f32.128x128x8_t8x8", "128x128x8_t8x8"),
    ("k03_register_tiled", "register_tiled.f32.64x64x16_t4x4", "64x64x16_t4x4"),
    ("k04_vectorized", "vectorized.f32.128x128x16_t8x8_v4", "128x128x16_t8x8_v4"),
    ("k05_double_buffered", "double_buffered.f32.128x128x16_t8x8_s2_v4", "128x128x16_t8x8_s2_v4"),
    ("k06_warp_tiled", "warp_tiled.f32.64x128x16_t8x8_k2", "64x128x16_t8x8_k2"),
)
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "copies": "smsp__inst_executed_op_ldgsts.sum",
}


def csv_path(out, size, name):
    return f"{out}/ncu_{size}_{name}.csv"


def measure(tessera, out):
    for size in SIZES:
        for _, name, _ in RUNGS:
            command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
                       "--metrics", ",".join(METRICS.values()), tessera, "bench", *[str(size)] * 3, "--once",
                       "--device", "cuda", "--kernel", "cuda." + name, "--peer", "none"]
            with open(csv_path(out, size, name), "w") as file:
                subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)


def measured(out, size, name):
    with open(csv_path(out, size, name)) as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))[1:]
    total = dict.fromkeys(METRICS, 0)
    for row in rows:
        for key, metric in METRICS.items():
            total[key] += int(float(row[metric].replace(",", "")))
    return total


def counted(tessera, size, stem, config):
    command = [tessera, "check", "tests/check/registry/plain_kernels.cu", "--json", "--max-accesses", "60000000",
               "--", "-I", "src", "-I", "include", f"-DKERNEL={stem}", f"-DSQUARE={size}", f"-DCONFIG={config}"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if any("widths" in note for note in report["notes"]):
        raise SystemExit("nvcc did not compile it: " + "; ".join(report["notes"]))
    total = dict.fromkeys(list(METRICS)[:-1], 0)
    # Of these the hardware counts two sectors more than the copy holds.
    total["requests_of_16_byte_copies"] = 0
    # All blocks do the same here, so those that were counted stand for the others.
    share = {x["kernel"]: x["blocks_total"] / x["blocks_counted"] for x in report["launches"]}
    for site in report["sites"]:
        part, kind = site["space"], site["access"]
        scale = share[site["kernel"]]
        if part == "global":
            total[f"global_{kind}_requests"] += site["requests"] * scale
            total[f"global_{kind}_sectors"] += site["sectors"] * scale
            if site["bytes"] == 16 and site["place"]["file"].endswith("cp_async.cuh"):
                total["requests_of_16_byte_copies"] += site["requests"] * scale
        else:
            total[f"shared_{kind}_wavefronts"] += site["wavefronts"] * scale
            total[f"shared_{kind}_conflicts"] += (site["wavefronts"] - site["ideal_wavefronts"]) * scale
    return {key: round(value) for key, value in total.items()}


def compare(tessera, out, path):
    rows = []
    for size in SIZES:
        for stem, name, config in RUNGS:
            row = {"kernel": "cuda." + name, "size": size, "measured": measured(out, size, name),
                   "counted": counted(tessera, size, stem, config)}
            rows.append(row)
            print(row["kernel"], size)
            for key, value in row["counted"].items():
                print(f"  {key:<26}{value:>12}{row['measured'].get(key, ''):>12}")
    provenance = subprocess.run([tessera, "--version"], capture_output=True, text=True).stdout.split()
    with open(path, "w") as file:
        json.dump({"what": "requests, sectors and wavefronts of C = A B as tessera check counts them and as "
                           "Nsight Compute measured them on the device", "device": "NVIDIA H200",
                   "profiler": "Nsight Compute 2025.3.1", "date": "2026-11-30", "program": provenance,
                   "rows": rows}, file, indent=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"] and len(sys.argv) == 4:
        measure(*sys.argv[2:])
    elif sys.argv[1:2] == ["compare"] and len(sys.argv) == 5:
        compare(*sys.argv[2:])
    else:
        raise SystemExit(__doc__)
