"""load and save against NumPy's own reader and writer."""

import json
import struct

import numpy as np
import pytest
import tessera
from support import LAYOUTS, random

DTYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1", ">f4", ">i2"]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", DTYPES)
def test_load_what_numpy_saved(tmp_path, dtype, order):
    x = np.asarray(np.arange(12).reshape(3, 4) % 5, dtype=dtype, order=order)
    np.save(tmp_path / "x.npy", x)
    got = tessera.load(tmp_path / "x.npy")
    assert got.dtype == x.dtype and np.array_equal(got, x)
    assert got.flags.f_contiguous == (order == "F") and not got.flags.writeable
    assert not got.flags.owndata  # it lies in the file


@pytest.mark.parametrize("shape", [(), (5,), (0, 3), (3, 0), (1, 1)])
def test_load_shapes(tmp_path, shape):
    np.save(tmp_path / "x.npy", random(1, shape))
    got = tessera.load(tmp_path / "x.npy")
    assert got.shape == shape and np.array_equal(got, random(1, shape))


def test_loaded_array_outlives_the_file(tmp_path):
    np.save(tmp_path / "x.npy", random(2, (50, 60)))
    got = tessera.load(tmp_path / "x.npy")
    (tmp_path / "x.npy").unlink()
    assert np.array_equal(tessera.gemm(got, got, trans_b=True),
                          tessera.gemm(random(2, (50, 60)), random(2, (50, 60)), trans_b=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numpy_loads_what_was_saved(tmp_path, dtype, layout):
    x = random(3, (7, 9), dtype)
    tessera.save(tmp_path / "x.npy", LAYOUTS[layout](x))
    got = np.load(tmp_path / "x.npy")
    assert got.dtype == dtype and np.array_equal(got, x)


def test_rounding(tmp_path):
    x = random(4, (6, 6))
    tessera.save(tmp_path / "h.npy", x, dtype="f16")
    assert np.array_equal(np.load(tmp_path / "h.npy"), x.astype(np.float16))


def test_safetensors_and_bfloat16(tmp_path):
    path = tmp_path / "x.safetensors"
    x = np.array([[1.0, -2.5, 3.0e38]], np.float32)
    tessera.save(path, x, dtype="bf16", tensor="weight")
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert header["weight"]["dtype"] == "BF16" and header["weight"]["shape"] == [1, 3]
    got = tessera.load(f"{path}:weight")
    assert got.dtype == np.float32
    assert np.array_equal(got.view(np.uint32) & 0xFFFF, [[0, 0, 0]])
    assert np.allclose(got, x, rtol=2.0**-8)
    assert np.array_equal(tessera.load(path), got)


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        tessera.load(tmp_path / "none.npy")
    (tmp_path / "bad.npy").write_bytes(b"not an array, but longer than a header")
    with pytest.raises(ValueError, match="bad.npy"):
        tessera.load(tmp_path / "bad.npy")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="cube.npy"):
        tessera.load(tmp_path / "cube.npy")
    with pytest.raises(TypeError, match="int64"):
        tessera.save(tmp_path / "i.npy", np.zeros((2, 2), np.int64))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        tessera.save(tmp_path / "v.npy", np.zeros(3))
    with pytest.raises(OSError):
        tessera.save(tmp_path / "missing" / "x.npy", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="f15"):
        tessera.save(tmp_path / "x.npy", np.zeros((2, 2)), dtype="f15")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.npy", "cube.npy"]
