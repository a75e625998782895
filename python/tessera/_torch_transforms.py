"""What PyTorch does with the operators: gradients both ways, vmap, autocast.

Two things that torch.library's own registrations do not give are needed: forward-mode derivatives
(torch.func.jvp), and gradients under torch.func; so the autograd kernel is one of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from torch._functorch.autograd_function import (
    enable_single_level_autograd_function as _single_level,
)

from ._torch_ops import BMM, GEMM, library, plain_gemm
from ._torch_plain import is_plain

_transforms_are_active = torch._C._are_functorch_transforms_active


# torch.func has come to its innermost transform when a kernel of the dispatcher runs, as this is
# called by one; torch.autograd.Function would begin with the outermost again.
class _Product(torch.autograd.function._SingleLevelFunction):
    """alpha * op(a) op(b) + beta * c by one of the two operators, which is the first argument."""

    @staticmethod
    def forward(op, a, b, c, alpha, beta, trans_a, trans_b, kernel_name):
        arguments = (op, a, b, c, alpha, beta, trans_a, trans_b, kernel_name)
        if not _transforms_are_active():
            return _below(*arguments)
        # PyTorch turns derivatives off in here, but there may be transforms further out.
        with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
            return _below(*arguments)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.op, a, b, _, ctx.alpha, ctx.beta, ctx.trans_a, ctx.trans_b, _ = inputs
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        op, alpha, trans_a, trans_b = ctx.op, ctx.alpha, ctx.trans_a, ctx.trans_b
        _, needs_a, needs_b, needs_c, *_ = ctx.needs_input_grad
        grad_a = grad_b = grad_c = None
        if needs_a and trans_a:
            grad_a = op(b, grad, alpha=alpha, trans_a=trans_b, trans_b=True)
        elif needs_a:
            grad_a = op(grad, b, alpha=alpha, trans_b=not trans_b)
        if needs_b and trans_b:
            grad_b = op(grad, a, alpha=alpha, trans_a=True, trans_b=trans_a)
        elif needs_b:
            grad_b = op(a, grad, alpha=alpha, trans_a=not trans_a)
        if needs_c:
            # With beta == 0 c was not read, whatever the gradient is.
            grad_c = grad * ctx.beta if ctx.beta != 0 else torch.zeros_like(grad)
        return None, grad_a, grad_b, grad_c, *[None] * 5

    @staticmethod
    def jvp(ctx, _, tangent_a, tangent_b, tangent_c, *__):
        a, b = ctx.saved_tensors
        options = {"alpha": ctx.alpha, "trans_a": ctx.trans_a, "trans_b": ctx.trans_b}
        total = None
        if tangent_c is not None:  # with beta == 0 c was not read
            total = tangent_c * ctx.beta if ctx.beta != 0 else torch.zeros_like(tangent_c)
        for x, y in ((tangent_a, b), (a, tangent_b)):
            if x is not None and y is not None:
                total = ctx.op(x, y, total, beta=0 if total is None else 1, **options)
        return total


def _below(op: Any, a, b, c, alpha, beta, trans_a, trans_b, kernel_name) -> Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        return op(
            a, b, c, alpha=alpha, beta=beta, trans_a=trans_a, trans_b=trans_b,
            kernel_name=kernel_name,
        )  # fmt: skip


# What the dispatcher came with where is_plain was true: the keys of the tensors and of every mode
# that is on. They need not be asked for one by one again.
_plain_keys: set[int] = set()


def _is_plain(keys: int, a: Tensor, b: Tensor) -> bool:
    if keys in _plain_keys:
        return True
    if is_plain(a, b):
        _plain_keys.add(keys)
        return True
    return False


def _is_differentiated(a: Tensor, b: Tensor, c: Tensor | None) -> bool:
    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and (
        a.requires_grad or b.requires_grad or c is not None and c.requires_grad
    )


def _autograd_of(op: Any):
    def kernel(
        keys, a, b, c=None, *, alpha=1, beta=0, trans_a=False, trans_b=False, kernel_name="auto"
    ):
        arguments = (op, a, b, c, alpha, beta, trans_a, trans_b, kernel_name)
        if not _is_differentiated(a, b, c):
            # Nothing below would act on a plain call: the way there need not be gone.
            if op is GEMM and c is None and beta == 0 and _is_plain(keys.raw_repr(), a, b):
                return plain_gemm(a, b, alpha, trans_a, trans_b, kernel_name)
            return _below(*arguments)
        if not _transforms_are_active():
            return _Product.apply(*arguments)
        with _single_level():
            return _Product.apply(*arguments)

    return kernel


def _vmap(info, in_dims, a, b, c=None, **options):
    """Both operators of a batch are bmm: a dimension more. What has none there is broadcast."""

    def batch(x, dim):
        return x.movedim(dim, 0) if dim is not None else x.expand(info.batch_size, *x.shape)

    dims = (*in_dims, None)
    c = None if c is None else batch(c, dims[2])
    return BMM(batch(a, dims[0]), batch(b, dims[1]), c, **options), 0


def _autocast_of(op: Any, key: torch.DispatchKey):
    """float16 and bfloat16 are widened to float32; what is written to stays what it is."""
    keys = torch._C.DispatchKeySet(key)

    def widened(x):
        return x.float() if x is not None and x.dtype in (torch.float16, torch.bfloat16) else x

    def kernel(a, b, c=None, *out, **options):
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return op(widened(a), widened(b), widened(c), *out, **options)

    return kernel


for _op in (GEMM, BMM):
    _name = _op._schema.name.partition("::")[2]
    _out_op = getattr(torch.ops.tessera, f"{_name}_out").default
    library.impl(_name, _autograd_of(_op), "Autograd", with_keyset=True)
    torch.library.register_vmap(f"tessera::{_name}", _vmap, lib=library)
    for _key in ("AutocastCPU", "AutocastCUDA"):
        _dispatch_key = getattr(torch._C.DispatchKey, _key)
        library.impl(_name, _autocast_of(_op, _dispatch_key), _key)
        library.impl(f"{_name}_out", _autocast_of(_out_op, _dispatch_key), _key)
