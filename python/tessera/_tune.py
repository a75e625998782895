"""Which kernel is fastest on a shape, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._program import run_json


_SHORT_NAMES = {"float32": "f32", "float64": "f64", "f32": "f32", "f64": "f64"}


@dataclass(frozen=True)
class TunedKernel:
    """How one kernel did on a shape."""

    id: str
    disposition: str  # "passed" when it was proved right
    median_s: float | None  # of one product; None unless passed


@dataclass(frozen=True)
class TunedShape:
    """The kernels that were timed on one shape."""

    m: int
    n: int
    k: int
    ops: str  # "NN", "NT", "TN", "TT"
    dtype: str
    winner: str | None  # what gemm's ``kernel`` takes; None when no kernel passed
    kernels: list[TunedKernel]


def tune(
    *shapes: tuple[int, int, int],
    dtype: str = "float32",
    ops: str = "NN",
    device: str | None = None,
    kernels: Sequence[str] = (),
    budget_s: float = 60,
    seconds: float = 0.2,
) -> list[TunedShape]:
    """Time every kernel that can take each shape (m, n, k), each proved right before and after.

    dtype:    "float32" or "float64", or NumPy's or PyTorch's.
    device:   "cpu", "cuda" or "cuda:N"; None is a GPU where there is one.
    kernels:  only these, by family, file or id.
    budget_s: for everything, shared out among the shapes; seconds: timed for each kernel at most.

    Times are kept on disk, and only new kernels run again (docs/tuning.md). Raises ValueError for
    arguments that make no sense, RuntimeError when nothing can run here.
    """
    if isinstance(kernels, str):
        kernels = (kernels,)
    if not shapes or not all(_is_shape(shape) for shape in shapes):
        given = ", ".join(map(repr, shapes))
        raise ValueError(
            f"tune: shapes are ({given}): each must be (m, n, k), whole numbers from 0"
        )
    name = getattr(dtype, "__name__", None) or str(dtype).removeprefix("torch.")
    if name not in _SHORT_NAMES:
        raise ValueError(f"tune: dtype is {name}: it must be float32 or float64")
    short = _SHORT_NAMES[name]
    command = ["tune", "--json", "--dtype", short, "--ops", ops]
    command += ["--budget", f"{budget_s}", "--seconds", f"{seconds}"]
    if device is not None:
        command += ["--device", device]
    for kernel in kernels:
        command += ["--kernel", kernel]
    command += [str(n) for shape in shapes for n in shape]
    _, report = run_json(command, (0,))
    return [_shape(entry) for entry in report["tuned"]]


def _is_shape(shape: Any) -> bool:
    try:
        sizes = [n.__index__() for n in shape]
    except (TypeError, AttributeError):
        return False
    return len(sizes) == 3 and min(sizes) >= 0


def _shape(entry: dict) -> TunedShape:
    kernels = [
        TunedKernel(k["kernel"], k["disposition"], k.get("median_s")) for k in entry["kernels"]
    ]
    sizes = (entry["m"], entry["n"], entry["k"])
    dtype = {"f32": "float32", "f64": "float64"}[entry["dtype"]]
    return TunedShape(*sizes, entry["ops"], dtype, entry["winner"], kernels)
