"""The operators torch.ops.tessera.*: what they compute, and what tracing is told of it.

Gradients, transforms and autocast are in _torch_transforms.py; nothing here is built against
PyTorch. gemm takes two matrices; bmm takes batches of them with the same dimensions before.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import _core
from ._torch_plain import is_plain

# From 2.10 on PyTorch's tensors can be read and made by C functions.
_exchange = getattr(Tensor, "__dlpack_c_exchange_api__", None)
has_exchange = _exchange is not None and _core.use_exchange(_exchange)

library = torch.library.Library("tessera", "DEF")
# Not "kernel": PyTorch's compiler passes an operator's arguments on beside one of that name.
_OPTIONS = (
    "float alpha=1, float beta=0, bool trans_a=False, bool trans_b=False, str kernel_name='auto'"
)
for _name in ("gemm", "bmm"):
    library.define(
        f"{_name}(Tensor a, Tensor b, Tensor? c=None, *, {_OPTIONS}) -> Tensor",
        tags=(torch.Tag.pt2_compliant_tag,),
    )
    library.define(
        f"{_name}_out(Tensor a, Tensor b, Tensor? c, Tensor(a!) out, *, {_OPTIONS}) -> ()",
        tags=(torch.Tag.pt2_compliant_tag,),
    )
GEMM = torch.ops.tessera.gemm.default
BMM = torch.ops.tessera.bmm.default


# --- the rules -----------------------------------------------------------------------------------


def check_alike(operation: str, first: Tensor, others: dict[str, Tensor | None]) -> None:
    dtype = first.dtype
    if dtype is not torch.float32 and dtype is not torch.float64:
        raise TypeError(f"{operation}: a is {first.dtype}: it must be torch.float32 or float64")
    for name, other in others.items():
        if other is None:
            continue
        if other.dtype is not dtype:
            raise TypeError(
                f"{operation}: a is {first.dtype} and {name} is {other.dtype}: "
                "both must have the same dtype"
            )
        if other.device != first.device:
            raise ValueError(
                f"{operation}: a is on {first.device} and {name} on {other.device}: "
                "both must be on the same device"
            )


def product_shape(
    operation: str, a: Tensor, b: Tensor, trans_a: bool = False, trans_b: bool = False
) -> tuple[int, ...]:
    shape_a, shape_b = a.shape, b.shape
    if operation == "gemm":
        for name, shape in (("a", shape_a), ("b", shape_b)):
            if len(shape) != 2:
                raise ValueError(
                    f"gemm: {name} has shape {tuple(shape)}: a matrix, with 2 dimensions, is "
                    "needed; matmul takes batches"
                )
    elif len(shape_a) < 3 or shape_a[:-2] != shape_b[:-2]:
        raise ValueError(
            f"{operation}: a is {tuple(shape_a)} and b is {tuple(shape_b)}: batches are needed, "
            "with the same dimensions before the last two"
        )
    k, m = shape_a[-2:] if trans_a else (shape_a[-1], shape_a[-2])
    n, other = shape_b[-2:] if trans_b else (shape_b[-1], shape_b[-2])
    if k != other:
        raise ValueError(
            f"{operation}: a is {tuple(shape_a)}{', transposed' if trans_a else ''} and b is "
            f"{tuple(shape_b)}{', transposed' if trans_b else ''}: the inner sizes {k} and {other} "
            "must be equal"
        )
    return (*shape_a[:-2], m, n)


def _check_new(operation, a, b, c, beta, trans_a, trans_b) -> tuple[int, ...]:
    """The shape of a result that is yet to be made."""
    check_alike(operation, a, {"b": b, "c": c})
    shape = product_shape(operation, a, b, trans_a, trans_b)
    _check_addend(operation, c, shape)
    if c is None and beta != 0:
        raise ValueError(f"{operation}: beta is {beta}, but there is no c to be scaled by it")
    return shape


def _check_given(operation, a, b, c, out, trans_a, trans_b) -> None:
    check_alike(operation, a, {"b": b, "c": c, "out": out})
    shape = product_shape(operation, a, b, trans_a, trans_b)
    _check_addend(operation, c, shape)
    if tuple(out.shape) != shape:
        raise ValueError(
            f"{operation}: out is {tuple(out.shape)}: it must be {shape} like the product"
        )


def _check_addend(operation: str, c: Tensor | None, shape: tuple[int, ...]) -> None:
    if c is not None and tuple(c.shape) != shape:
        raise ValueError(f"{operation}: c is {tuple(c.shape)}: it must be {shape} like the product")


# --- what the operators compute ------------------------------------------------------------------


def _multiply(
    operation: str, a: Tensor, b: Tensor, out: Tensor, alpha: float, beta: float, trans_a: bool,
    trans_b: bool, kernel_name: str, only_check: bool = False,
) -> None:  # fmt: skip
    device = a.device
    index, stream, allocate = -1, 0, None
    if a.is_cuda:
        index = device.index
        stream = torch._C._cuda_getCurrentRawStream(index)
        scratch: list[Tensor] = []  # lives until the work is enqueued: the allocator keeps order

        def allocate(size: int) -> int:
            scratch.append(torch.empty(size, dtype=torch.uint8, device=device))
            return scratch[0].data_ptr()

    while True:
        to_copy = _core.multiply_pointers(
            operation,
            (a.data_ptr(), a.shape, a.stride()),
            (b.data_ptr(), b.shape, b.stride()),
            (out.data_ptr(), out.shape, out.stride()),
            a.dtype is torch.float64,
            index, alpha, beta, trans_a, trans_b, kernel_name, stream, allocate, only_check,
        )  # fmt: skip
        if to_copy == 0:
            return
        if to_copy & 1:
            a = a.clone(memory_format=torch.contiguous_format)
        if to_copy & 2:
            b = b.clone(memory_format=torch.contiguous_format)


def plain_gemm(
    a: Tensor, b: Tensor, alpha: float, trans_a: bool, trans_b: bool, kernel_name: str
) -> Tensor:
    """A product of two tensors of which is_plain is true."""
    if has_exchange:
        result = _core.multiply_tensors(a, b, alpha, trans_a, trans_b, kernel_name)
        if result is not None:
            return result
    return _new("gemm", a, b, None, alpha, 0, trans_a, trans_b, kernel_name)


def _new(operation, a, b, c, alpha, beta, trans_a, trans_b, kernel_name) -> Tensor:
    shape = _check_new(operation, a, b, c, beta, trans_a, trans_b)
    out = a.new_empty(shape)
    if beta != 0:
        out.copy_(c)
    _multiply(operation, a, b, out, alpha, beta, trans_a, trans_b, kernel_name)
    return out


def _into(operation, a, b, c, out, alpha, beta, trans_a, trans_b, kernel_name) -> None:
    _check_given(operation, a, b, c, out, trans_a, trans_b)
    options = (alpha, beta, trans_a, trans_b, kernel_name)
    if c is not None and beta != 0:
        _multiply(operation, a, b, out, *options, only_check=True)
        out.copy_(c)
    _multiply(operation, a, b, out, *options)
    torch.autograd.graph.increment_version(out)


def _register(operation: str) -> None:
    def new(a, b, c=None, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"):
        if operation == "gemm" and beta == 0 and c is None and is_plain(a, b):
            return plain_gemm(a, b, alpha, trans_a, trans_b, kernel_name)
        return _new(operation, a, b, c, alpha, beta, trans_a, trans_b, kernel_name)

    def into(
        a, b, c, out, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"
    ):
        _into(operation, a, b, c, out, alpha, beta, trans_a, trans_b, kernel_name)

    def fake_new(
        a, b, c=None, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"
    ):
        return a.new_empty(_check_new(operation, a, b, c, beta, trans_a, trans_b))

    def fake_into(
        a, b, c, out, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"
    ):
        _check_given(operation, a, b, c, out, trans_a, trans_b)

    for key in ("CPU", "CUDA"):
        library.impl(operation, new, key)
        library.impl(f"{operation}_out", into, key)
    torch.library.register_fake(f"tessera::{operation}", fake_new, lib=library)
    torch.library.register_fake(f"tessera::{operation}_out", fake_into, lib=library)


_register("gemm")
_register("bmm")
