"""The kernels of this build."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core


@dataclass(frozen=True)
class Kernel:
    """One kernel with one element type and one configuration."""

    id: str
    backend: str  # "cpu" or "cuda"
    family: str
    dtype: str  # of a and b: "float32", "float64", "float16" or "bfloat16"
    stem: str  # source file without suffix
    summary: str  # the idea
    why: str  # what it does about what held the rung before
    arch: str  # what it needs
    limits: str  # what it cannot take
    tile: tuple[int, int, int]  # elements of C's rows, C's columns and k in one unit of work
    alignment_bytes: int


def kernels() -> list[Kernel]:
    """All kernels of this build; their ids are what gemm's ``kernel`` takes."""
    return [Kernel(**entry) for entry in _core.kernels()]
