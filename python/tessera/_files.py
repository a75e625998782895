""".npy and .safetensors files, through the library's own readers and writers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _arrays, _core, _options
from ._verify import on_host

_NUMPY_NAMES = {
    "f64": "f8", "f32": "f4", "f16": "f2", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2",
    "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "bool": "b1",
}  # fmt: skip
_SHORT_NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
_WRITTEN = {".npy": ["f64", "f32", "f16"]}
_WRITTEN[".safetensors"] = [*_WRITTEN[".npy"], "bf16", "f8_e4m3", "f8_e5m2"]


def load(spec: str | os.PathLike[str]) -> np.ndarray:
    """Return the array of "x.npy", "x.safetensors:tensor", or of a file with a single tensor.

    The array is read-only and lies in the mapped file, which stays open as long as it lives. bf16
    and 8-bit floats, which NumPy lacks, are widened to float32. Any number of dimensions.

    Raises FileNotFoundError, or ValueError that names file, field, value and rule.
    """
    name = _path("load", spec)
    try:
        tensor = _core.open_tensor(name)
    except ValueError:
        if not os.path.lexists(name) and not os.path.lexists(name.rpartition(b":")[0]):
            raise FileNotFoundError(2, "load: no such file", os.fsdecode(name)) from None
        raise
    numpy_name = _NUMPY_NAMES.get(tensor.dtype)
    if numpy_name is None:
        out = np.empty(tensor.shape, np.float32)
        _core.read_into(tensor, out)
        out.flags.writeable = False
        return out
    dtype = np.dtype((">" if tensor.big_endian else "<") + numpy_name)
    flat = np.frombuffer(tensor, dtype)
    return flat.reshape(tensor.shape, order="F" if tensor.column_major else "C")


def save(
    path: str | os.PathLike[str],
    array: Any,
    *,
    dtype: Any = None,
    tensor: str = "C",
) -> None:
    """Write an array of float64, float32 or float16 to a file, in one step once it is complete.

    path:   a name that ends in ".safetensors" gives that format, with one tensor; any other .npy.
    array:  of any shape and any strides, NumPy, PyTorch (bfloat16 too), CuPy, JAX or a buffer. Its
            elements are written in C order.
    dtype:  what to round to: "f64", "f32", "f16", or "bf16", "f8_e4m3", "f8_e5m2" in .safetensors,
            or a NumPy or PyTorch dtype; None keeps the array's.
    tensor: its name in .safetensors.

    Raises TypeError for other arrays, ValueError for types that the format lacks, OSError when it
    cannot be written: then the file is as it was.
    """
    name = _path("save", path)
    array, own = _widened(array)
    stored = own if dtype is None else _short_name(dtype)
    ending = ".safetensors" if name.endswith(b".safetensors") else ".npy"
    if stored and stored not in _WRITTEN[ending]:
        written = ", ".join(_WRITTEN[ending])
        shown = stored if dtype is None else dtype
        raise ValueError(f"save: dtype is {shown}: {ending} files are written as {written}")
    if not _core.is_storable(array):
        array = _arrays.packed(array)
    _core.save(name, array, stored, _options.text("save", "tensor", tensor))


def _path(operation: str, path: Any) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"{operation}: path {os.fspath(path)!r} holds a null character")
    return name


def _widened(array: Any) -> tuple[Any, str]:
    """The array in a type that C++ has, and the name of its own when that is another."""
    own = _SHORT_NAMES.get(str(getattr(array, "dtype", "")).removeprefix("torch."), "")
    if own in ("f16", "bf16"):
        array = array.float() if _arrays.library_of(array) == "torch" else array.astype(np.float32)
    else:
        own = ""
    array = on_host("save", "array", array)
    if isinstance(array, np.ndarray) and array.dtype.kind == "f" and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array, own


def _short_name(dtype: Any) -> str:
    name = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    if name in _WRITTEN[".safetensors"]:
        return name
    if name not in _SHORT_NAMES:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            pass
    return _SHORT_NAMES.get(name, name)
