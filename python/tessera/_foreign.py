"""CuPy and JAX: results in the library's own arrays, and the order of work on a GPU."""

from __future__ import annotations

import sys
from typing import Any

from . import _arrays, _core


def gemm(
    library: str, a: Any, b: Any, alpha: float, beta: float, c: Any, trans_a: bool, trans_b: bool,
    out: Any, precision: str, device: str, kernel: str,
) -> Any:  # fmt: skip
    options = (precision, device, kernel)
    if library == "cupy":
        stream = _cupy_stream()
        if out is None:
            out = _cupy_empty(_core.product_shape("gemm", a, b, trans_a, trans_b), a)
            if c is not None and beta != 0:
                _check_cupy_addend(c, out)
                out[...] = c
                c = None
        return _core.gemm(a, b, alpha, beta, c, trans_a, trans_b, out, *options, stream)
    _refuse_jax_out(out)
    if out is not None or not _on_gpu(a):
        result = _core.gemm(a, b, alpha, beta, c, trans_a, trans_b, out, *options)
        return result if out is not None else _to_jax(result)
    result = _jax_empty(_core.product_shape("gemm", a, b, trans_a, trans_b), a)
    _core.gemm(a, b, alpha, 0.0, None, trans_a, trans_b, result, *options)
    _core.synchronise(_device_of(a))
    product = _to_jax(result)
    return product if c is None or beta == 0 else product + beta * c


def matmul(library: str, a: Any, b: Any, out: Any) -> Any:
    if library == "cupy":
        if out is None:
            out = _cupy_empty(_core.product_shape("matmul", a, b), a)
        return _core.matmul(a, b, out, _cupy_stream())
    _refuse_jax_out(out)
    if out is not None or not _on_gpu(a):
        result = _core.matmul(a, b, out)
        return result if out is not None else _to_jax(result)
    result = _jax_empty(_core.product_shape("matmul", a, b), a)
    _core.matmul(a, b, result)
    _core.synchronise(_device_of(a))
    return _to_jax(result)


def _cupy_stream() -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr)


def _cupy_empty(shape: tuple[int, ...], like: Any) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(like.device.id):
        return cupy.empty(shape, dtype=like.dtype)


def _check_cupy_addend(c: Any, out: Any) -> None:
    if c.dtype != out.dtype:
        raise TypeError(f"gemm: c is {c.dtype}: it must have the dtype of a and b, {out.dtype}")
    if c.shape != out.shape:
        raise ValueError(f"gemm: c is {c.shape}: it must be {out.shape} like the product")


def _device_of(array: Any) -> int:
    return int(array.__dlpack_device__()[1])


def _on_gpu(array: Any) -> bool:
    return hasattr(array, "__dlpack_device__") and int(array.__dlpack_device__()[0]) in (2, 13)


class _DeviceArray:
    """Memory of a GPU that JAX can take; Tessera owns it until then."""

    def __init__(self, shape: tuple[int, ...], is_double: bool, device: int):
        self._capsule = _core.new_device_array(shape, is_double, device)
        self._device = device

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device  # DLPack's number of CUDA


def _jax_empty(shape: tuple[int, ...], like: Any) -> Any:
    return _DeviceArray(shape, str(like.dtype) == "float64", _device_of(like))


def _refuse_jax_out(out: Any) -> None:
    if out is not None and _arrays.library_of(out) == "jax":
        raise ValueError("gemm: out is a JAX array, which is read-only")


def _to_jax(result: Any) -> Any:
    import jax

    return jax.dlpack.from_dlpack(result)
