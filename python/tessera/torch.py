"""Tessera as a PyTorch operator, ``torch.ops.tessera.gemm``, with gradients.

    import tessera.torch
    c = tessera.torch.gemm(a, b, trans_b=True)
    c = tessera.torch.matmul(a, b)

CPU and CUDA tensors of float32 or float64. CUDA work goes to the current stream of the tensors'
device, can be captured into a graph, and takes its scratch memory from PyTorch's allocator. The
operators can be compiled, and both gradients are products by Tessera. Under autocast narrower
inputs are widened to float32.

PyTorch is imported here and nowhere else in the package, and nothing is built against it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _core
from ._torch_plain import is_plain

# From 2.10 on PyTorch's tensors can be read and made by C functions.
_exchange = getattr(Tensor, "__dlpack_c_exchange_api__", None)
_has_exchange = _exchange is not None and _core.use_exchange(_exchange)

_library = torch.library.Library("tessera", "DEF")
# Not "kernel": PyTorch's compiler passes an operator's arguments on beside one of that name.
_OPTIONS = (
    "float alpha=1, float beta=0, bool trans_a=False, bool trans_b=False, str kernel_name='auto'"
)
_library.define(
    f"gemm(Tensor a, Tensor b, Tensor? c=None, *, {_OPTIONS}) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define(
    f"gemm_out(Tensor a, Tensor b, Tensor? c, Tensor(a!) out, *, {_OPTIONS}) -> ()",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_library.define("bmm(Tensor a, Tensor b) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


# --- what the operators compute ------------------------------------------------------------------


def _check(operation: str, first: Tensor, others: dict[str, Tensor | None]) -> None:
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


def _product_shape(a: Tensor, b: Tensor, trans_a: bool, trans_b: bool) -> tuple[int, int]:
    shape_a, shape_b = a.shape, b.shape
    for name, shape in (("a", shape_a), ("b", shape_b)):
        if len(shape) != 2:
            raise ValueError(
                f"gemm: {name} has shape {tuple(shape)}: a matrix, with 2 dimensions, is needed; "
                "matmul takes batches"
            )
    k, m = shape_a if trans_a else (shape_a[1], shape_a[0])
    n, other = shape_b if trans_b else (shape_b[1], shape_b[0])
    if k != other:
        raise ValueError(
            f"gemm: a is {tuple(shape_a)}{', transposed' if trans_a else ''} and b is "
            f"{tuple(shape_b)}{', transposed' if trans_b else ''}: the inner sizes {k} and {other} "
            "must be equal"
        )
    return m, n


def _check_addend(c: Tensor | None, shape: tuple[int, int]) -> None:
    if c is not None and tuple(c.shape) != shape:
        raise ValueError(f"gemm: c is {tuple(c.shape)}: it must be {shape} like the product")


def _multiply(
    a: Tensor, b: Tensor, out: Tensor, alpha: float = 1, beta: float = 0, trans_a: bool = False,
    trans_b: bool = False, kernel_name: str = "auto", only_check: bool = False,
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


def _gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1, beta: float = 0,
    trans_a: bool = False, trans_b: bool = False, kernel_name: str = "auto",
) -> Tensor:  # fmt: skip
    _check("gemm", a, {"b": b, "c": c})
    shape = _product_shape(a, b, trans_a, trans_b)
    _check_addend(c, shape)
    out = a.new_empty(shape)
    if beta != 0:
        if c is None:
            raise ValueError(f"gemm: beta is {beta}, but there is no c to be scaled by it")
        out.copy_(c)
    _multiply(a, b, out, alpha, beta, trans_a, trans_b, kernel_name)
    return out


def _gemm_out(
    a: Tensor, b: Tensor, c: Tensor | None, out: Tensor, *, alpha: float = 1, beta: float = 0,
    trans_a: bool = False, trans_b: bool = False, kernel_name: str = "auto",
) -> None:  # fmt: skip
    _check("gemm", a, {"b": b, "c": c, "out": out})
    shape = _product_shape(a, b, trans_a, trans_b)
    _check_addend(c, shape)
    if tuple(out.shape) != shape:
        raise ValueError(f"gemm: out is {tuple(out.shape)}: it must be {shape} like the product")
    if c is not None and beta != 0:
        _multiply(a, b, out, alpha, beta, trans_a, trans_b, kernel_name, only_check=True)
        out.copy_(c)
    _multiply(a, b, out, alpha, beta, trans_a, trans_b, kernel_name)
    torch.autograd.graph.increment_version(out)


def _bmm_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    if a.dim() < 3 or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"bmm: a is {tuple(a.shape)} and b is {tuple(b.shape)}: they must be (..., m, k) and "
            "(..., k, n) with the same dimensions before"
        )
    return (*a.shape[:-1], b.shape[-1])


def _bmm(a: Tensor, b: Tensor) -> Tensor:
    _check("bmm", a, {"b": b})
    out = a.new_empty(_bmm_shape(a, b))
    _multiply(a, b, out)
    return out


for _key in ("CPU", "CUDA"):
    _library.impl("gemm", _gemm, _key)
    _library.impl("gemm_out", _gemm_out, _key)
    _library.impl("bmm", _bmm, _key)


# --- what tracing and autograd need to know -------------------------------------------------------


@torch.library.register_fake("tessera::gemm", lib=_library)
def _(a, b, c=None, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"):
    _check("gemm", a, {"b": b, "c": c})
    shape = _product_shape(a, b, trans_a, trans_b)
    _check_addend(c, shape)
    return a.new_empty(shape)


@torch.library.register_fake("tessera::gemm_out", lib=_library)
def _(a, b, c, out, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"):
    _check("gemm", a, {"b": b, "c": c, "out": out})
    _product_shape(a, b, trans_a, trans_b)


@torch.library.register_fake("tessera::bmm", lib=_library)
def _(a, b):
    _check("bmm", a, {"b": b})
    return a.new_empty(_bmm_shape(a, b))


def _gemm_context(ctx, inputs, keyword_only_inputs, output):
    a, b, c = inputs
    ctx.save_for_backward(a, b)
    ctx.options = keyword_only_inputs


def _gemm_backward(ctx, grad):
    a, b = ctx.saved_tensors
    gemm_op = torch.ops.tessera.gemm
    alpha, beta = ctx.options["alpha"], ctx.options["beta"]
    trans_a, trans_b = ctx.options["trans_a"], ctx.options["trans_b"]
    # An omitted c has no entry here, and must get none.
    needed = ctx.needs_input_grad
    grads = [None] * len(needed)
    if needed[0]:
        if trans_a:
            grads[0] = gemm_op(b, grad, alpha=alpha, trans_a=trans_b, trans_b=True)
        else:
            grads[0] = gemm_op(grad, b, alpha=alpha, trans_b=not trans_b)
    if needed[1]:
        if trans_b:
            grads[1] = gemm_op(grad, a, alpha=alpha, trans_a=True, trans_b=trans_a)
        else:
            grads[1] = gemm_op(a, grad, alpha=alpha, trans_a=not trans_a)
    if len(needed) > 2 and needed[2]:
        # With beta == 0 c was not read, whatever the gradient is.
        grads[2] = grad * beta if beta != 0 else torch.zeros_like(grad)
    return tuple(grads)


torch.library.register_autograd(
    "tessera::gemm", _gemm_backward, setup_context=_gemm_context, lib=_library
)


def _bmm_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _bmm_backward(ctx, grad):
    a, b = ctx.saved_tensors
    bmm = torch.ops.tessera.bmm
    grad_a = bmm(grad, b.mT) if ctx.needs_input_grad[0] else None
    grad_b = bmm(a.mT, grad) if ctx.needs_input_grad[1] else None
    return grad_a, grad_b


torch.library.register_autograd(
    "tessera::bmm", _bmm_backward, setup_context=_bmm_context, lib=_library
)

for _name in ("tessera::gemm", "tessera::bmm"):
    for _type in ("cpu", "cuda"):
        torch.library.register_autocast(_name, _type, torch.float32, lib=_library)


# --- functions ------------------------------------------------------------------------------------


def gemm(
    a: Tensor,
    b: Tensor,
    *,
    alpha: float = 1,
    beta: float = 0,
    c: Tensor | None = None,
    trans_a: bool = False,
    trans_b: bool = False,
    out: Tensor | None = None,
    precision: str = "fp32",
    device: Any = None,
    kernel: str | None = None,
) -> Tensor:
    """tessera.gemm for tensors: differentiable, on the current stream of their device.

    Without ``out`` this is torch.ops.tessera.gemm; a call that nothing in PyTorch's dispatcher
    would act on goes around it, which is faster. ``out`` takes no part in autograd: neither it
    nor an input may require a gradient then. Arguments and errors are as in tessera.gemm.
    """
    if (
        c is None
        and out is None
        and beta == 0
        and precision == "fp32"
        and device is None
        and not torch.compiler.is_compiling()
        and is_plain(a, b)
    ):
        kernel = kernel or "auto"
        if _has_exchange:
            result = _core.multiply_tensors(a, b, alpha, trans_a, trans_b, kernel)
            if result is not None:
                return result
        return _gemm(a, b, alpha=alpha, trans_a=trans_a, trans_b=trans_b, kernel_name=kernel)
    for name, x in (("a", a), ("b", b), ("c", c), ("out", out)):
        if not isinstance(x, Tensor) and not (x is None and name in ("c", "out")):
            raise TypeError(f"gemm: {name} is {type(x).__name__}: all must be tensors when one is")
    if precision != "fp32":
        _core.check_precision(precision, a.dtype == torch.float64)
    if device is not None and not _is_on(a, torch.device(device)):
        raise ValueError(f"gemm: device {device}, but a is on {a.device}: move the tensors first")
    options = dict(
        alpha=alpha, beta=beta, trans_a=trans_a, trans_b=trans_b, kernel_name=kernel or "auto"
    )
    if out is None:
        return torch.ops.tessera.gemm.default(a, b, c, **options)
    if out.requires_grad or torch.is_grad_enabled() and _any_requires_grad(a, b, c):
        raise ValueError(
            "gemm: out takes no part in autograd: neither it nor an input may require a gradient"
        )
    if c is not None and c is not out and beta != 0 and _overlap(c, out):
        raise ValueError("gemm: out shares memory with c: it must be the same tensor or separate")
    torch.ops.tessera.gemm_out(a, b, None if c is out else c, out, **options)
    return out


def matmul(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
    """torch.matmul through Tessera: vectors, matrices, broadcast batches; differentiable."""
    for name, x in (("a", a), ("b", b)):
        if not isinstance(x, Tensor):
            raise TypeError(f"matmul: {name} is {type(x).__name__}: it must be a tensor")
        if x.dim() == 0:
            raise ValueError(f"matmul: {name} is a scalar: at least 1 dimension is needed")
    left = a.unsqueeze(0) if a.dim() == 1 else a
    right = b.unsqueeze(1) if b.dim() == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: a is {tuple(a.shape)} and b is {tuple(b.shape)}: the inner sizes "
            f"{left.shape[-1]} and {right.shape[-2]} must be equal"
        )
    result = _matmul(left, right)
    if b.dim() == 1:
        result = result.squeeze(-1)
    if a.dim() == 1:
        result = result.squeeze(-1 if b.dim() == 1 else -2)
    if out is None:
        return result
    _check("matmul", result, {"out": out})
    if out.shape != result.shape:
        raise ValueError(
            f"matmul: out is {tuple(out.shape)}: it must be {tuple(result.shape)} like the product"
        )
    if out.requires_grad or result.requires_grad:
        raise ValueError(
            "matmul: out takes no part in autograd: neither it nor an input may require a gradient"
        )
    return out.copy_(result)


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    if a.dim() == 2 and b.dim() == 2:
        return torch.ops.tessera.gemm(a, b)
    if b.dim() == 2 and a.is_contiguous():
        rows = a.reshape(-1, a.shape[-1]) if a.numel() > 0 else None
        if rows is not None:  # a batch of a times one b is one tall product
            return torch.ops.tessera.gemm(rows, b).reshape(*a.shape[:-1], b.shape[-1])
    try:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except RuntimeError:
        raise ValueError(
            f"matmul: a is {tuple(a.shape)} and b is {tuple(b.shape)}: the dimensions before the "
            "last two must be equal or 1"
        ) from None
    # A broadcast dimension has stride 0, which costs no copy.
    return torch.ops.tessera.bmm(a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:]))


def addmm(
    c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """torch.addmm through Tessera: beta * c + alpha * a @ b, c broadcast; differentiable."""
    shape = _product_shape(a, b, False, False)
    try:
        c = c.expand(shape)
    except RuntimeError:
        raise ValueError(
            f"addmm: c is {tuple(c.shape)}: it must be {shape} like the product, or broadcast to it"
        ) from None
    return torch.ops.tessera.gemm(a, b, c, alpha=alpha, beta=beta)


def shared_gemm_cuda(A: Tensor, B: Tensor) -> Tensor:
    """A @ B for two float32 matrices on a GPU, under the name that the exercise uses."""
    for name, x in (("A", A), ("B", B)):
        if not x.is_cuda:
            raise ValueError(f"shared_gemm_cuda: {name} is on {x.device}: it must be on a GPU")
        if x.dtype != torch.float32:
            raise TypeError(f"shared_gemm_cuda: {name} is {x.dtype}: it must be torch.float32")
    return torch.ops.tessera.gemm(A, B)


def _is_on(a: Tensor, device: torch.device) -> bool:
    return a.device.type == device.type and device.index in (None, a.device.index)


def _any_requires_grad(*tensors: Tensor | None) -> bool:
    return any(x is not None and x.requires_grad for x in tensors)


def _overlap(x: Tensor, y: Tensor) -> bool:
    """Whether their address ranges meet; the same tensor under another name does not count."""
    if x.data_ptr() == y.data_ptr() and x.stride() == y.stride():
        return False
    spans = []
    for t in (x, y):
        last = sum((n - 1) * step for n, step in zip(t.shape, t.stride()))
        spans.append((t.data_ptr(), t.data_ptr() + (last + 1) * t.element_size()))
    return x.numel() > 0 and spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]
