""".npy and .safetensors files, through the library's own readers and writers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _arrays, _core
from ._verify import _on_host

_NUMPY_NAMES = {
    "f64": "f8", "f32": "f4", "f16": "f2", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2",
    "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "bool": "b1",
}  # fmt: skip
_SHORT_NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def load(spec: str | os.PathLike[str]) -> np.ndarray:
    """Return the array of "x.npy", "x.safetensors:tensor", or of a file with a single tensor.

    The array is read-only and lies in the mapped file, which stays open as long as it lives. bf16
    and 8-bit floats, which NumPy lacks, are widened to float32. At most two dimensions.

    Raises FileNotFoundError, or ValueError that names file, field, value and rule.
    """
    name = os.fspath(spec)
    try:
        tensor = _core.open_tensor(name)
    except ValueError:
        if not os.path.lexists(name) and not os.path.lexists(name.rpartition(":")[0]):
            raise FileNotFoundError(2, "load: no such file", name) from None
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
    path: str | os.PathLike[str], array: Any, *, dtype: str | None = None, tensor: str = "C"
) -> None:
    """Write a matrix of float32 or float64 to a file, in one step once it is complete.

    path:   a name that ends in ".safetensors" gives that format, with one tensor; any other .npy.
    dtype:  what to round to: "f64", "f32", "f16", or "bf16", "f8_e4m3", "f8_e5m2" in .safetensors;
            None keeps the array's.

    Raises TypeError for other arrays, ValueError for other ranks and types that the format lacks,
    OSError when it cannot be written: then the file is as it was.
    """
    array = _on_host(array)
    if isinstance(array, np.ndarray) and array.ndim == 2 and not _core.is_matrix(array):
        array = _arrays.packed(array)
    name = "" if dtype is None else _SHORT_NAMES.get(str(dtype), str(dtype))
    _core.save(os.fspath(path), array, name, tensor)
