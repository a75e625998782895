"""load and save against NumPy's own reader and writer."""

import json
import os
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


SHAPES = [(), (5,), (0,), (1,), (2, 3, 4), (3, 1, 2, 2), (2, 0, 3), (1, 1, 1)]


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_number_of_dimensions(tmp_path, shape, name):
    x = random(5, shape, np.float64)
    for laid in (x, np.asarray(x, order="F"), x.T.copy().T, np.flip(np.flip(x).copy())):
        tessera.save(tmp_path / name, laid)
        got = tessera.load(tmp_path / name)
        assert got.shape == shape and got.dtype == x.dtype and np.array_equal(got, x)
        if name == "x.npy":
            assert np.array_equal(np.load(tmp_path / name), x)


def test_load_many_dimensions_in_fortran_order(tmp_path):
    x = np.asfortranarray(random(6, (2, 3, 4)))
    np.save(tmp_path / "x.npy", x)
    got = tessera.load(tmp_path / "x.npy")
    assert np.array_equal(got, x) and got.flags.f_contiguous and not got.flags.owndata


@pytest.mark.parametrize("dtype", ["bf16", "f8_e5m2"])
def test_many_dimensions_that_are_widened(tmp_path, dtype):
    x = np.arange(24.0).reshape(2, 3, 4) % 4
    tessera.save(tmp_path / "x.safetensors", x, dtype=dtype)
    got = tessera.load(tmp_path / "x.safetensors")
    assert got.dtype == np.float32 and np.array_equal(got, x)


def test_types_that_are_saved(tmp_path):
    """What load returns of a floating-point file can be saved, in the type that it has."""
    path = tmp_path / "x.npy"
    x = random(7, (3, 4))
    for dtype in ("f2", "f4", "f8", ">f4", ">f8"):
        tessera.save(path, x.astype(dtype))
        got = np.load(path)
        assert got.dtype == np.dtype(dtype).newbyteorder("=")
        assert np.array_equal(got, x.astype(dtype))
    for dtype in ("f16", "float16", "<f2", np.float16, np.dtype("f2")):
        tessera.save(path, x, dtype=dtype)
        assert np.load(path).dtype == np.float16


def test_tensors_are_saved(tmp_path):
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    path = tmp_path / "x.safetensors"
    for tensor in (x.bfloat16(), x.half(), torch.nn.Parameter(x), x.double(), x.t()):
        tessera.save(path, tensor)
        assert np.array_equal(tessera.load(path), tensor.detach().double().numpy())
    tessera.save(path, x.bfloat16())
    assert b'"BF16"' in path.read_bytes()
    tessera.save(path, x, dtype=torch.float16)
    assert b'"F16"' in path.read_bytes()
    with pytest.raises(TypeError, match="array is torch.int64"):
        tessera.save(path, x.long())


NAMES = ["a b.npy", "a:b.npy", "-o.npy", "\u00fc.npy", "a\nb.npy", b"bytes.npy", "\udcff.npy", "x"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_odd_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    x = random(8, (2, 3))
    tessera.save(name, x)
    assert os.listdir(os.fsencode(tmp_path)) == [os.fsencode(name)]
    assert np.array_equal(tessera.load(name), x)


def test_null_character_in_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="null character"):
        tessera.save("a\0.npy", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="null character"):
        tessera.load("a\0.npy")
    assert not os.listdir()


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
    with pytest.raises(TypeError, match="int64"):
        tessera.save(tmp_path / "i.npy", np.zeros((2, 2), np.int64))
    with pytest.raises(TypeError, match="masked array"):
        tessera.save(tmp_path / "m.npy", np.ma.zeros((2, 2)))
    with pytest.raises(TypeError, match="of type list"):
        tessera.save(tmp_path / "l.npy", [[1.0]])
    with pytest.raises(TypeError, match="tensor is 3: it must be a str"):
        tessera.save(tmp_path / "t.safetensors", np.zeros((2, 2)), tensor=3)
    with pytest.raises(ValueError, match="dtype is bf16: .npy files are written as f64, f32, f16"):
        tessera.save(tmp_path / "b.npy", np.zeros((2, 2)), dtype="bf16")
    with pytest.raises(OSError):
        tessera.save(tmp_path / "missing" / "x.npy", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="f15"):
        tessera.save(tmp_path / "x.npy", np.zeros((2, 2)), dtype="f15")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.npy"]
