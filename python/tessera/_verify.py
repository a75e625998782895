"""Was this product computed right?"""

from __future__ import annotations

from typing import Any

from . import _arrays, _core
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
    a, b, c, c0 = (_on_host(x) for x in (a, b, c, c0))
    return _core.verify(
        a, b, c, float(alpha), float(beta), c0, bool(trans_a), bool(trans_b), method == "full",
        rounds, seed,
    )  # fmt: skip


def _on_host(array: Any) -> Any:
    if array is None:
        return None
    library = _arrays.library_of(array)
    if library == "torch":
        return array.detach().cpu().numpy()
    return array.get() if library == "cupy" else array
