#!/usr/bin/env python3
"""Writes the seed corpus of the fuzz targets: a folder of corpus/ beside this file for each.

The seeds are small files that load, and files that lie in each of the ways the readers check;
for the translation, programs of every form that it rewrites.
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


TRANSLATE = {
    "launch": b"template <int T> __global__ void k(float* p, int n = 2) { p[n] = T; }\n"
    b"void f() { k<16><<<dim3(1, 2), 4 << 2, 0, s>>>(p, 1); (*q[1])<<<g, b>>>(); }\n",
    "launch_function": b"namespace a { __global__ void k(); }\n"
    b"void f() { std::cudaLaunchKernel((const void*)&a::k, g, b, x, 0, s); }\n",
    "shared": b"__global__ void __launch_bounds__(64, 2) k() {\n  __shared__ __align__(16) float "
    b"s[4][A<1, 2>::v], t;\n  extern __shared__ char raw[];\n}\n",
    "file_shared": b"__shared__ float tile[16];\n__device__ void f() { tile[0] = 1; }\n",
    "constants": b"#define T 16\n#define AREA (T * (T + 1)) << 1\nconstexpr int kA = AREA - 0x1e;\n"
    b"enum { BM = 64, BN };\ntypedef float real; using element = real;\n",
    "assembly": b'__device__ void f() { asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p '
    b'cp.async.ca.shared.global [%1], [%2], 4; }\\n" :: "r"(n), "r"(a), "l"(b) : "memory"); }\n',
    "classes": b"struct S : B<int> { S() : a{1}, b(2) {} __device__ int operator()(int) const; };\n"
    b"template <class T> struct Q { static __global__ void k(T); };\nvoid Q<int>::f() {}\n",
    "markers": b'# 1 "<built-in>" 1\n#define __X 1\n# 1 "/usr/include/cublas_v2.h" 1 3\nint c;\n'
    b'# 4 "k.cu" 2\nauto s = R"x(<<<)x"; char c = \'\\\'\';\n',
    "refused": b"__global__ void k() { cg::this_grid().sync(); wmma::fill(f); k<<<1, 2>>>(); }\n"
    b"void f() { cublasSgemm(h); thrust::sort(v); tex2D<float>(t); }\n",
    "unbalanced": b"__global__ void k(int a[ { ( < __shared__ __align__( x;\n} ) >>>( <<<\n",
}


def cubin(relocations=".rela.debug_line", **lies):
    """One kernel of two instructions and their line numbers, as an ELF file."""
    name = b"_Z1kPf"
    text = b"".join(struct.pack("<QQ", code, width) for code, width in ((0x981, 4 << 9), (0x386, 4 << 9)))
    info = struct.pack("<BBH", 4, 0x2F, 8) + struct.pack("<II", 1, 40)
    header = b"\1\1\xfb\x0e\x0a" + b"\0\1\1\1\1\0\0\0\1" + b"\0" + b"k.cu\0\0\0\0" + b"\0"
    program = b"\0\x09\2" + bytes(8) + b"\3\2\1" + b"\2\x10\3\1\1" + b"\2\x10" + b"\0\1\1"
    lines = struct.pack("<IHI", 6 + len(header) + len(program), 2, len(header)) + header + program
    moved = struct.pack("<QQq", lines.index(b"\0\x09\2") + 3, 1 << 32 | 2, 0)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, len(text))
    annotations = struct.pack("<BBH", 4, 0x55, 8) + struct.pack("<II", 1, 0x10)
    sections = [
        (b".text." + name, 1, text),
        (b".nv.info." + name, 0x70000000, annotations),
        (b".nv.shared." + name, 8, b""),
        (b".strtab", 3, b"\0" + name + b"\0"),
        (b".symtab", 2, symbols),
        (b".nv.info", 0x70000000, info),
        (b".debug_line", 1, lines),
        (relocations.encode(), 4, moved),
    ]
    names = b"\0" + b"".join(n + b"\0" for n, _, _ in sections) + b".shstrtab\0"
    sections.append((b".shstrtab", 3, names))
    body, headers = b"", bytes(64)
    for n, kind, data in sections:
        size = lies.get(n.decode(), len(data))
        headers += struct.pack("<IIQQQQIIQQ", names.index(n + b"\0"), kind, 0, 0, 64 + len(body), size, 0, 0, 0, 0)
        body += data
    count = len(sections) + 1
    return (
        b"\x7fELF\2\1\1\0\x08" + bytes(7)
        + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0x06005A04, 64, 0, 0, 64, count, count - 1)
        + body + headers
    )


CUBIN = {
    "one": cubin(),
    "addend_in_place": cubin(".rel.debug_line"),
    "no_lines": cubin(**{".debug_line": 0}),
    "long_section": cubin(**{".nv.info": 1 << 40}),
    "long_shared": cubin(**{".nv.shared._Z1kPf": 1 << 63}),
    "short_symbols": cubin(**{".symtab": 30}),
    "truncated": cubin()[:300],
    "no_sections": cubin()[:64],
}

for folder, seeds in (
    ("npy", NPY),
    ("safetensors", SAFETENSORS),
    ("suite", SUITE),
    ("translate", TRANSLATE),
    ("cubin", CUBIN),
):
    (HERE / folder).mkdir(parents=True, exist_ok=True)
    for name, seed in seeds.items():
        assert len(seed) < 2048, name
        (HERE / folder / name).write_bytes(seed)
