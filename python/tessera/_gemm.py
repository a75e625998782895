"""gemm and matmul for arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _core, _foreign, _options

_ndarray = np.ndarray
_core_gemm = _core.gemm
_core_matmul = _core.matmul


def gemm(
    a: Any,
    b: Any,
    *,
    alpha: float = 1,
    beta: float = 0,
    c: Any = None,
    trans_a: bool = False,
    trans_b: bool = False,
    out: Any = None,
    precision: str = "fp32",
    device: str | None = None,
    kernel: str | None = None,
) -> Any:
    """Return alpha * op(a) * op(b) + beta * c, where op is the transpose when trans_a (trans_b).

    a, b:      matrices with 2 dimensions, op(a) of shape (m, k) and op(b) of (k, n): both float32
               or both float64, NumPy, PyTorch, CuPy or JAX arrays or anything with the buffer
               protocol or DLPack.
    c:         (m, n), read when beta is not 0. Without it, what is in ``out`` is scaled by beta.
    out:       (m, n), where the result goes; may be ``c`` itself, may not overlap a or b. After
               KeyboardInterrupt its contents are undefined. Without it a new dense array of the
               library of a and b is returned.
    precision: the least precise arithmetic that is allowed. "fp32" means IEEE FP32; float64 arrays
               are always computed in FP64.
    device:    None is where the arrays are. "cuda" or "cuda:N" copies host arrays there and the
               result back.
    kernel:    a name from kernels(), a family or a file's stem; None chooses.

    No copy is made of an array whose rows or columns are contiguous and do not overlap: slices
    with a step of rows, transposes, padded rows. Others (general, negative or zero strides, an odd
    address) are copied densely first. beta == 0 never reads c; alpha == 0 never reads a or b.

    Raises TypeError (no array, other dtypes), ValueError (shapes, devices, out), before anything
    is written; NotImplementedError when no kernel can do it; RuntimeError without the device.
    """
    if type(a) is not _ndarray or type(b) is not _ndarray:
        library = _arrays.library_of(a, b, c, out)
        if library == "torch":
            from . import torch as _torch

            return _torch.gemm(
                a, b, alpha=alpha, beta=beta, c=c, trans_a=trans_a, trans_b=trans_b, out=out,
                precision=precision, device=device, kernel=kernel,
            )
        if library != "numpy":
            alpha, beta, trans_a, trans_b, *names = _plain(
                alpha, beta, trans_a, trans_b, precision, device, kernel
            )
            return _foreign.gemm(
                library, a, b, alpha, beta, c, trans_a, trans_b, out, *names
            )
    try:
        return _core_gemm(
            a, b, alpha, beta, c, trans_a, trans_b, out, precision, device or "", kernel or "auto"
        )
    except TypeError as error:
        if not _options.is_unfit(error):
            raise
    alpha, beta, trans_a, trans_b, *names = _plain(
        alpha, beta, trans_a, trans_b, precision, device, kernel
    )
    return _core_gemm(a, b, alpha, beta, c, trans_a, trans_b, out, *names)


def _plain(
    alpha: Any, beta: Any, trans_a: Any, trans_b: Any, precision: Any, device: Any, kernel: Any
) -> tuple[float, float, bool, bool, str, str, str]:
    """The arguments as the binding takes them; raises TypeError naming the one that is unfit."""
    return (
        float(_options.number("gemm", "alpha", alpha)),
        float(_options.number("gemm", "beta", beta)),
        _options.switch("gemm", "trans_a", trans_a),
        _options.switch("gemm", "trans_b", trans_b),
        _options.text("gemm", "precision", precision),
        _options.text("gemm", "device", device, ""),
        _options.text("gemm", "kernel", kernel or None, "auto"),
    )


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """Return the matrix product of a and b as ``numpy.matmul`` defines it.

    The last two dimensions are matrices, (..., m, k) and (..., k, n); those before are broadcast.
    A vector a is a row, a vector b a column, and the dimension is dropped from the result.
    Types, copies and errors are as in gemm. For PyTorch tensors it is differentiable.
    """
    if type(a) is not _ndarray or type(b) is not _ndarray:
        library = _arrays.library_of(a, b, out)
        if library == "torch":
            from . import torch as _torch

            return _torch.matmul(a, b, out=out)
        if library != "numpy":
            return _foreign.matmul(library, a, b, out)
    result = _core_matmul(a, b, out)
    return result[()] if out is None and result.ndim == 0 else result
