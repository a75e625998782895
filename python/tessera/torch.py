"""Tessera as a PyTorch operator, ``torch.ops.tessera.gemm``, with gradients.

    import tessera.torch
    c = tessera.torch.gemm(a, b, trans_b=True)
    c = tessera.torch.matmul(a, b)

CPU and CUDA tensors of float32 or float64. CUDA work goes to the current stream of the tensors'
device, can be captured into a graph, and takes its scratch memory from PyTorch's allocator. The
operators can be compiled, mapped (torch.vmap) and differentiated both ways; all gradients are
products by Tessera. Under autocast narrower inputs are widened to float32.

PyTorch is imported in the modules that only this one imports, and nothing is built against it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import handle_torch_function

from . import _core, _options, _torch_transforms  # noqa: F401  (the last for its registrations)
from ._torch_ops import BMM, GEMM, plain_gemm, product_shape
from ._torch_plain import is_plain

__all__ = ["addmm", "gemm", "matmul", "shared_gemm_cuda"]


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
        and (type(alpha) is int or type(alpha) is float)
        and precision == "fp32"
        and device is None
        and not torch.compiler.is_compiling()
        and is_plain(a, b)
    ):
        try:
            return plain_gemm(a, b, alpha, trans_a, trans_b, kernel or "auto")
        except TypeError as error:
            if not _options.is_unfit(error):
                raise
    tensors = {"a": a, "b": b, "c": c, "out": out}
    if _is_overridden(*tensors.values()):
        return handle_torch_function(
            gemm, tuple(tensors.values()), a, b, alpha=alpha, beta=beta, c=c, trans_a=trans_a,
            trans_b=trans_b, out=out, precision=precision, device=device, kernel=kernel,
        )  # fmt: skip
    for name, x in tensors.items():
        if x is not None or name in ("a", "b"):
            check_dense("gemm", name, x)
    if precision != "fp32":
        name = _options.text("gemm", "precision", precision)
        _core.check_precision(name, a.dtype == torch.float64)
    if device is not None and not _is_on(a, device):
        raise ValueError(f"gemm: device {device}, but a is on {a.device}: move the tensors first")
    options = dict(
        alpha=_options.number("gemm", "alpha", alpha),
        beta=_options.number("gemm", "beta", beta),
        trans_a=_options.switch("gemm", "trans_a", trans_a),
        trans_b=_options.switch("gemm", "trans_b", trans_b),
        kernel_name=_options.text("gemm", "kernel", kernel or None, "auto"),
    )
    if out is None:
        return GEMM(a, b, c, **options)
    _check_out("gemm", out, a, b, c)
    if c is not None and c is not out and beta != 0 and _overlap(c, out):
        raise ValueError("gemm: out shares memory with c: it must be the same tensor or separate")
    torch.ops.tessera.gemm_out(a, b, None if c is out else c, out, **options)
    return out


def matmul(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
    """torch.matmul through Tessera: vectors, matrices, broadcast batches; differentiable.

    out: takes no part in autograd, and may not overlap a or b; the product is written there
         directly, so its rows or columns must be contiguous.
    """
    if _is_overridden(a, b, out):
        return handle_torch_function(matmul, (a, b, out), a, b, out=out)
    for name, x in (("a", a), ("b", b)):
        check_dense("matmul", name, x)
        if x.dim() == 0:
            raise ValueError(f"matmul: {name} is a scalar: at least 1 dimension is needed")
    left = a.unsqueeze(0) if a.dim() == 1 else a
    right = b.unsqueeze(1) if b.dim() == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: a is {tuple(a.shape)} and b is {tuple(b.shape)}: the inner sizes "
            f"{left.shape[-1]} and {right.shape[-2]} must be equal"
        )
    # The dimensions that vectors lack, from the end.
    dropped = ([-1] if b.dim() == 1 else []) + (
        [-1 if b.dim() == 1 else -2] if a.dim() == 1 else []
    )
    if out is None:
        result = _matmul(left, right)
        for at in dropped:
            result = result.squeeze(at)
        return result
    check_dense("matmul", "out", out)
    shape = [*_batch_shape(left, right), left.shape[-2], right.shape[-1]]
    for at in dropped:
        del shape[at]
    if tuple(out.shape) != tuple(shape):
        raise ValueError(
            f"matmul: out is {tuple(out.shape)}: it must be {tuple(shape)} like the product"
        )
    _check_out("matmul", out, a, b)
    view = out
    for at in reversed(dropped):
        view = view.unsqueeze(at)
    _matmul_into(left, right, view)
    return out


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    if a.dim() == 2 and b.dim() == 2:
        return gemm(a, b)
    if b.dim() == 2 and a.is_contiguous() and a.numel() > 0:
        # A batch of a times one b is one tall product.
        return gemm(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return BMM(*_broadcast(a, b))


def _matmul_into(a: Tensor, b: Tensor, out: Tensor) -> None:
    if b.dim() == 2 and a.is_contiguous() and out.is_contiguous() and a.numel() > 0:
        a, out = a.reshape(-1, a.shape[-1]), out.view(-1, out.shape[-1])
    if out.dim() == 2:
        torch.ops.tessera.gemm_out(a, b, None, out)
    else:
        torch.ops.tessera.bmm_out(*_broadcast(a, b), None, out)


def _batch_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    try:
        return tuple(torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    except RuntimeError:
        raise ValueError(
            f"matmul: a is {tuple(a.shape)} and b is {tuple(b.shape)}: the dimensions before the "
            "last two must be equal or 1"
        ) from None


def _broadcast(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    # A broadcast dimension has stride 0, which costs no copy.
    batch = _batch_shape(a, b)
    return a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])


def addmm(
    c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """torch.addmm through Tessera: beta * c + alpha * a @ b, c broadcast; differentiable."""
    if _is_overridden(c, a, b):
        return handle_torch_function(addmm, (c, a, b), c, a, b, beta=beta, alpha=alpha)
    for name, x in (("c", c), ("a", a), ("b", b)):
        check_dense("addmm", name, x)
    shape = product_shape("gemm", a, b)
    try:
        c = c.expand(shape)
    except RuntimeError:
        raise ValueError(
            f"addmm: c is {tuple(c.shape)}: it must be {shape} like the product, or broadcast to it"
        ) from None
    alpha = _options.number("addmm", "alpha", alpha)
    return GEMM(a, b, c, alpha=alpha, beta=_options.number("addmm", "beta", beta))


def shared_gemm_cuda(A: Tensor, B: Tensor) -> Tensor:
    """A @ B for two float32 matrices on a GPU, under the name that the exercise uses."""
    for name, x in (("A", A), ("B", B)):
        check_dense("shared_gemm_cuda", name, x)
        if not x.is_cuda:
            raise ValueError(f"shared_gemm_cuda: {name} is on {x.device}: it must be on a GPU")
        if x.dtype != torch.float32:
            raise TypeError(f"shared_gemm_cuda: {name} is {x.dtype}: it must be torch.float32")
    return gemm(A, B)


# --- the rules -----------------------------------------------------------------------------------


def _is_overridden(*arguments: Any) -> bool:
    """Whether one stands for a tensor without being one, as those that trace a program do."""
    # PyTorch 2.11 cannot compile a question about the type of None.
    return any(
        x is not None and not isinstance(x, Tensor) and hasattr(type(x), "__torch_function__")
        for x in arguments
    )


def check_dense(operation: str, name: str, x: Any) -> None:
    """Raises TypeError for what is no tensor with strides."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{operation}: {name} is {type(x).__name__}: all must be tensors when one is"
        )
    kind = "nested" if x.is_nested else "quantized" if x.is_quantized else None
    if kind is None and x.layout is not torch.strided:
        kind = str(x.layout).removeprefix("torch.")
    if kind is not None:
        raise TypeError(f"{operation}: {name} is a {kind} tensor: it must be a dense one")


def _check_out(operation: str, out: Tensor, a: Tensor, b: Tensor, c: Tensor | None = None) -> None:
    if not torch.compiler.is_compiling() and out.is_neg():
        raise ValueError(f"{operation}: out is a lazily negated view: it cannot be written to")
    if out.requires_grad or torch.is_grad_enabled() and _any_requires_grad(a, b, c):
        raise ValueError(
            f"{operation}: out takes no part in autograd: neither it nor an input may require a "
            "gradient"
        )


def _is_on(a: Tensor, device: Any) -> bool:
    try:
        wanted = torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(
            f'gemm: device {device}: must be "cpu", "cuda" or "cuda:N", or a torch.device'
        ) from None
    return a.device.type == wanted.type and wanted.index in (None, a.device.index)


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
