"""NumPy as an independent writer and reader of the files that src/io reads and writes.

usage: numpy_io_test.py PATH_OF_IO_DUMP; exits 77 (skipped) when NumPy is not importable.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not importable")
    sys.exit(77)

DUMP = sys.argv[1]
NAMES = {"f2": "f16", "f4": "f32", "f8": "f64", "b1": "bool"} | {
    f"{kind}{size}": f"{kind}{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)
}


def dump(*args):
    return subprocess.run([DUMP, *map(str, args)], capture_output=True, text=True)


def show(*specs):
    """What io_dump says of each file: its head and its values."""
    done = dump("show", *specs)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.split("\n"))
    shown = []
    for _ in specs:
        head = dict(next(lines).partition(" ")[::2] for _ in range(5))
        rows, cols = int(head["rows"]), int(head["cols"])
        values = [float.fromhex(x) for _ in range(rows) for x in next(lines).split()]
        shown.append((head, np.array(values, dtype=np.float64).reshape(rows, cols)))
    return shown


def same(got, want):
    """Equal bit for bit as doubles, except that one NaN is as good as another."""
    want = np.asarray(want, dtype=np.float64).reshape(got.shape)
    nan = np.isnan(want)
    return (
        np.array_equal(np.isnan(got), nan)
        and np.array_equal(got[~nan], want[~nan])
        and np.array_equal(np.signbit(got[~nan]), np.signbit(want[~nan]))
    )


def sample(dtype, shape, rng):
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(dtype).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        native = dtype.newbyteorder("=")
        return rng.integers(info.min, info.max, count, native, True).astype(dtype).reshape(shape)
    values = rng.standard_normal(count)
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny / 2]
    values[: len(special)] = special[:count]
    return values.astype(dtype).reshape(shape)


def cases():
    shapes = [(), (1,), (7,), (1, 9), (9, 1), (2, 3), (33, 65), (0,), (0, 3), (3, 0)]
    for shape in shapes:
        for layout in "CF":
            versions = ((1, 0), (2, 0), (3, 0)) if shape == (2, 3) else ((1, 0),)
            for version in versions:
                yield shape, layout, version


def check_reading(directory, rng):
    checked = 0
    for code, name in NAMES.items():
        for order in "<>":
            dtype = np.dtype(order + code)
            arrays, paths = [], []
            for shape, layout, version in cases():
                arrays.append(np.array(sample(dtype, shape, rng), order=layout))
                paths.append(directory / f"read{len(paths)}.npy")
                with open(paths[-1], "wb") as file:
                    np.lib.format.write_array(file, arrays[-1], version=version)
            for case, array, (head, got) in zip(cases(), arrays, show(*paths), strict=True):
                shape, layout, _ = case
                assert head["dtype"] == name, (dtype, case)
                assert head["shape"].split() == [str(n) for n in shape], (dtype, case)
                column = layout == "F" and len(shape) == 2 and not array.flags.c_contiguous
                assert head["layout"] == ("column" if column else "row"), (dtype, case)
                assert same(got, array), (dtype, case, got, array)
                checked += 1
    return checked


def check_refusals(directory):
    path = directory / "refused.npy"
    arrays = {
        "<c8": np.zeros((2, 2), np.complex64),
        "<U3": np.array([["abc"]]),
        "<M8[s]": np.zeros((2, 2), "M8[s]"),
        "a": np.zeros((2, 2), [("a", "f4"), ("b", "i4")]),
        "|V4": np.zeros((2, 2), "V4"),
        "|O": np.array([[None]]),
        "3 dimensions": np.zeros((2, 2, 2), np.float32),
    }
    for text, array in arrays.items():
        np.save(path, array, allow_pickle=True)
        done = dump("show", path)
        assert done.returncode == 3 and text in done.stderr, (text, done)
        assert done.stderr.count("\n") == 1, done.stderr
    np.savez(directory / "refused.npz", a=arrays["<c8"])
    assert "zip" in dump("show", directory / "refused.npz").stderr


def check_writing(directory, rng):
    for code in ("f2", "f4", "f8"):
        for shape in [(2, 3), (1, 1), (17, 129), (0, 3), (3, 0)]:
            array = sample(np.dtype("<f8"), shape, rng)
            np.save(directory / "in.npy", array)
            done = dump("copy", directory / "in.npy", directory / "out.npy", NAMES[code])
            assert done.returncode == 0, done.stderr
            with np.errstate(over="ignore"):
                want = array.astype(code)  # NumPy rounds to nearest, ties to even
            got = np.load(directory / "out.npy", allow_pickle=False)
            assert got.dtype == np.dtype("<" + code) and got.shape == shape
            assert got.flags.c_contiguous
            assert same(got.astype(np.float64), want), (code, shape)
            mapped = np.load(directory / "out.npy", mmap_mode="r")
            assert mapped.offset % 64 == 0


def check_safetensors(directory, rng):
    """The layout of the file by the letter of its format; bf16 as the high half of float32."""
    array = rng.standard_normal((5, 7)).astype(np.float32)
    np.save(directory / "in.npy", array)
    for name, text, size in [("f32", "F32", 4), ("f64", "F64", 8), ("f16", "F16", 2),
                             ("bf16", "BF16", 2), ("f8_e5m2", "F8_E5M2", 1)]:
        path = directory / "out.safetensors"
        done = dump("copy", directory / "in.npy", path, name)
        assert done.returncode == 0, done.stderr
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        assert header == {"C": {"dtype": text, "shape": [5, 7], "data_offsets": [0, 35 * size]}}
        assert length % 8 == 0 and (8 + length) % 64 == 0 and len(raw) == 8 + length + 35 * size
        data = raw[8 + length :]
        if name == "bf16":
            got = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
            bits = array.view(np.uint32).reshape(-1)
            want = (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).view(np.float32)
        elif name == "f8_e5m2":
            # The format is the high byte of binary16; every nearest value lies within half a step.
            got = (np.frombuffer(data, "u1").astype(np.uint16) << 8).view(np.float16)
            want = got
            assert np.all(np.abs(got - array.reshape(-1)) <= np.abs(array.reshape(-1)) / 8 + 2**-17)
        else:
            got = np.frombuffer(data, {"f32": "<f4", "f64": "<f8", "f16": "<f2"}[name])
            want = array.astype(got.dtype).reshape(-1)
        assert np.array_equal(got, want), name
        ((head, back),) = show(f"{path}:C")
        assert head["dtype"] == name and same(back, got.astype(np.float64)), name


def main():
    rng = np.random.default_rng(20240607)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        checked = check_reading(directory, rng)
        check_refusals(directory)
        check_writing(directory, rng)
        check_safetensors(directory, rng)
    print(f"NumPy {np.__version__}: {checked} files read alike; files written read alike")


if __name__ == "__main__":
    main()
