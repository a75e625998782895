#!/usr/bin/env python3
"""Writes the seed corpus of the fuzz targets: corpus/npy, corpus/safetensors and corpus/suite beside
this file.

The seeds are small files that load, and files that lie in each of the ways the readers check.
Run it after changing it, and commit what it writes.
"""

import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "corpus"


def npy(header, data, major=1):
    if isinstance(header, str):
        header = header.encode("latin1")
    length = struct.pack("<H" if major == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([major, 0]) + length + header + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors(header, data):
    if not isinstance(header, bytes):
        header = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(header)) + header + data


def array(descr, shape, order=False):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


SIX = struct.pack("<6f", 0, 1, 2, 3, 4, 5)

NPY = {
    "c_order": npy(array("'<f4'", "(2, 3)"), SIX),
    "fortran_order": npy(array("'<f4'", "(2, 3)", True), SIX),
    "version_2": npy(array("'<f4'", "(2, 3)"), SIX, 2),
    "version_3": npy(array("'<f4'", "(2, 3)"), SIX, 3),
    "big_endian": npy(array("'>f4'", "(2, 3)"), struct.pack(">6f", 0, 1, 2, 3, 4, 5)),
    "f2": npy(array("'<f2'", "(3, 4)"), SIX),
    "f8": npy(array("'>f8'", "(1, 3)", True), SIX),
    "i1": npy(array("'|i1'", "(4, 6)"), SIX),
    "u8": npy(array("'<u8'", "(3,)"), SIX),
    "bool": npy(array("'|b1'", "(24, 1)", True), SIX),
    "scalar": npy(array("'<f4'", "()"), SIX[:4]),
    "empty": npy(array("'<f4'", "(0, 3)"), b""),
    "other_spelling": npy("{\"shape\":(2L,3L),\"descr\":\"f4\",\"fortran_order\":False}", SIX),
    "three_dimensions": npy(array("'<f4'", "(1, 2, 3)"), SIX),
    "short_data": npy(array("'<f4'", "(2, 3)"), SIX[:20]),
    "long_data": npy(array("'<f4'", "(2, 3)"), SIX + b"x"),
    "wrapping_shape": npy(array("'<f4'", "(4294967296, 4294967296)"), b""),
    "wrapping_size": npy(array("'<f4'", "(18446744073709551617,)"), b""),
    "long_header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFF0),
    "structured": npy(array("[('a', '<f4')]", "(2, 3)"), SIX),
    "object": npy(array("'|O'", "(2, 3)"), SIX),
    "malformed_descr": npy(array("'<ixy'", "(2, 3)"), SIX),
    "empty_descr": npy(array("''", "(2, 3)"), SIX),
}

SAFETENSORS = {
    "one": safetensors({"w": entry("F32", [2, 3], 0, 24)}, SIX),
    "metadata": safetensors(
        {"__metadata__": {"format": "pt"}, "w": entry("F32", [6], 0, 24)}, SIX
    ),
    "any_order": safetensors(
        {"b": entry("F64", [1], 16, 24), "a": entry("F32", [2, 2], 0, 16)}, SIX
    ),
    "empty_tensor": safetensors(
        {"e": entry("F32", [0, 4], 8, 8), "a": entry("F16", [4], 0, 8)}, SIX[:8]
    ),
    "small_types": safetensors(
        {
            "a": entry("BF16", [2, 2], 0, 8),
            "b": entry("F8_E4M3", [2, 4], 8, 16),
            "c": entry("F8_E5M2", [8], 16, 24),
        },
        SIX,
    ),
    "other_types": safetensors(
        {"i": entry("I64", [1], 0, 8), "x": entry("NEW", [1], 8, 16), "f": entry("F4", [16], 16, 24)},
        SIX,
    ),
    "none": safetensors({}, b""),
    "padded": safetensors(b'{"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   ', SIX[:4]),
    "overlap": safetensors({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 2, 6)}, SIX[:6]),
    "hole": safetensors({"a": entry("F32", [1], 4, 8)}, SIX[:8]),
    "end_before_begin": safetensors({"a": entry("F32", [1], 4, 0)}, SIX[:4]),
    "negative_offset": safetensors({"a": entry("F32", [1], -4, 0)}, SIX[:4]),
    "lying_shape": safetensors({"a": entry("F32", [1024, 1024], 0, 4)}, SIX[:4]),
    "wrapping_shape": safetensors({"a": entry("F32", [2**32, 2**32], 0, 0)}, b""),
    "far_offsets": safetensors({"a": entry("F32", [1], 2**64 - 4, 2**64 - 1)}, SIX[:4]),
    "long_header": struct.pack("<Q", 2**64 - 4) + b"{}",
    "nested": safetensors(b'{"a":' + b"[" * 200, b""),
    "duplicate": safetensors(b'{"a":{"dtype":"F32","dtype":"F32"}}', b""),
    "nul": safetensors(b"{}\0", b""),
    "escapes": safetensors(
        b'{"\\u00e9\\n":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', SIX[:4]
    ),
}



def log_line(**changes):
    def matrix(rows, cols, layout):
        return {"rows": rows, "cols": cols, "ld": 9, "layout": layout, "batch_stride": 99}

    line = {"tessera": "gemm", "dtype": "f32", "op_a": "T", "op_b": "N", "m": 3, "n": 4, "k": 5}
    line |= {"a": matrix(5, 3, "row"), "b": matrix(5, 4, "col"), "c": matrix(3, 4, "row")}
    line |= {"batch": 2, "alpha": 1.5, "beta": -2, "device": "cpu", "threads": 1}
    return json.dumps(line | changes, separators=(",", ":")).encode() + b"\n"


SUITE = {
    "plain": b"M,N,K,opA,opB\n64,32,16,N,T\n",
    "any_order": b"\xef\xbb\xbf# comment\r\ncount,k,N,m\r\n7,1,2,3\r\n",
    "faults": b"M,N,K\n1,2\n0,1,1\n1,abc,1\n99999999999999999999,1,1\n1,1,1",
    "large": b"M,N,K\n2147483648,1,2147483648\n2147483648,1,1\n",
    "log": log_line() + log_line(),
    "log_scalars": log_line(alpha="nan") + log_line(beta="-inf"),
    "log_batch": log_line(batch=2**63) + log_line(batch=0),
    "log_types": log_line(c=[]) + log_line(op_a=None) + b"{}\n[\n\xff\n",
    "log_large_ld": log_line(
        a={"rows": 5, "cols": 3, "ld": 2**63 - 1, "layout": "row", "batch_stride": -(2**63)}
    ),
}

for folder, seeds in (("npy", NPY), ("safetensors", SAFETENSORS), ("suite", SUITE)):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, seed in seeds.items():
        assert len(seed) < 1024, name
        (HERE / folder / name).write_bytes(seed)
