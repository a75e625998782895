"""Was this product computed right?"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _core, _options
from ._core import VerifyReport


def verify(
    a: Any,
    b: Any,
    c: Any,
    *,
    alpha: float = 1,
    beta: float = 0,
    c0: Any = None,
    trans_a: bool = False,
    trans_b: bool = False,
    method: str = "freivalds",
    rounds: int = 20,
    seed: int = 0x7E55E2A,
) -> VerifyReport:
    """Check c == alpha * op(a) * op(b) + beta * c0, up to proved rounding bounds.

    a, b, c, c0: matrices of one dtype, float32 or float64, read in place whatever their strides;
                 PyTorch and CuPy arrays on a GPU are copied to the host first.
    method:      "freivalds" costs O(mn + mk + kn), never fails a right product, and passes one
                 that is off by more than ``detectable_error`` with probability at most 2**-rounds.
                 "full" recomputes every element in FP64.

    The report is true when the product is right; ``print`` it for a line of text. Raises TypeError
    and ValueError for dtypes and shapes that disagree.
    """
    if method not in ("freivalds", "full"):
        raise ValueError(f'verify: method is {method!r}: it must be "freivalds" or "full"')
    arrays = {"a": a, "b": b, "c": c, "c0": c0}
    a, b, c, c0 = (on_host("verify", name, x) for name, x in arrays.items())
    seed = _options.integer("verify", "seed", seed)
    if not 0 <= seed < 2**64:
        raise ValueError(f"verify: seed is {seed}: it must be from 0 to 2**64 - 1")
    rounds = _options.integer("verify", "rounds", rounds)
    if not 1 <= rounds <= 60:
        raise ValueError(f"verify: rounds is {rounds}: it must be from 1 to 60")
    return _core.verify(
        a, b, c,
        float(_options.number("verify", "alpha", alpha)),
        float(_options.number("verify", "beta", beta)),
        c0,
        _options.switch("verify", "trans_a", trans_a),
        _options.switch("verify", "trans_b", trans_b),
        method == "full", rounds, seed,
    )  # fmt: skip


def on_host(operation: str, name: str, array: Any) -> Any:
    """What an array holds, in host memory; raises TypeError for a tensor that NumPy cannot show."""
    library = "numpy" if array is None else _arrays.library_of(array)
    if library == "torch":
        return _numpy_of_tensor(operation, name, array)
    return array.get() if library == "cupy" else array


def _numpy_of_tensor(operation: str, name: str, tensor: Any) -> np.ndarray:
    import torch

    from .torch import check_dense

    check_dense(operation, name, tensor)
    if tensor.is_meta:
        raise TypeError(f"{operation}: {name} is on meta: it has no elements")
    if tensor.dtype not in (torch.float32, torch.float64):
        raise TypeError(
            f"{operation}: {name} is {tensor.dtype}: it must be torch.float32 or float64"
        )
    return tensor.detach().resolve_neg().cpu().numpy()
