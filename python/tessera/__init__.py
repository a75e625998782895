"""Matrix multiplication that you can run, read, check and trust.

C = alpha * op(A) * op(B) + beta * C for NumPy, PyTorch, CuPy and JAX arrays of float32 or float64,
without copies where a leading dimension can say how an array lies in memory.

    import tessera
    c = tessera.gemm(a, b, trans_b=True)       # two matrices
    c = tessera.matmul(a, b)                   # batches, by NumPy's broadcasting rules
    assert tessera.verify(a, b, c)             # was it computed right?

``tessera.torch`` is a PyTorch operator with gradients; ``python -m tessera`` is the command line.
"""

from importlib.metadata import version as _version

from ._check import CheckReport, Finding, Place, Warning, check
from ._files import load, save
from ._gemm import gemm, matmul
from ._kernels import Kernel, kernels
from ._paths import include_dir, library_file, program
from ._tune import TunedKernel, TunedShape, tune
from ._verify import VerifyReport, verify

__version__ = _version("tessera-gemm")

__all__ = [
    "CheckReport",
    "Finding",
    "Kernel",
    "Place",
    "TunedKernel",
    "TunedShape",
    "VerifyReport",
    "Warning",
    "check",
    "gemm",
    "include_dir",
    "kernels",
    "library_file",
    "load",
    "matmul",
    "program",
    "save",
    "tune",
    "verify",
]
