"""CuPy and JAX, where they are installed; and any object that speaks DLPack."""

import numpy as np
import pytest
import tessera
from support import COPIED, DIRECT, assert_product, random


class Exported:
    """DLPack alone, without the buffer protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    a, b = random(1, (6, 7)), random(2, (7, 5))
    for lay in (lambda x: x, np.asfortranarray, lambda x: DIRECT["padded"](x)):
        assert_product(tessera.gemm(Exported(lay(a)), Exported(lay(b))), a, b)
    out = np.zeros((6, 5), np.float32)
    tessera.gemm(a, b, out=Exported(out))
    assert_product(out, a, b)
    with pytest.raises(TypeError, match="a has dtype"):
        tessera.gemm(Exported(a.astype(int)), b)


def test_dlpack_releases_what_it_took():
    import sys

    a = random(3, (6, 7))
    tessera.gemm(Exported(a), a, trans_b=True)
    count = sys.getrefcount(a)
    for _ in range(100):
        tessera.gemm(Exported(a), a, trans_b=True)
    assert sys.getrefcount(a) == count


def test_jax():
    jax = pytest.importorskip("jax")
    a, b, c = random(1, (6, 7)), random(2, (7, 5)), random(3, (6, 5))
    got = tessera.gemm(jax.numpy.asarray(a), jax.numpy.asarray(b), alpha=2, beta=3,
                       c=jax.numpy.asarray(c))  # fmt: skip
    assert isinstance(got, jax.Array)
    assert_product(np.asarray(got), a, b, 2, 3, c)
    batch = tessera.matmul(jax.numpy.asarray(a)[None], jax.numpy.asarray(b))
    assert isinstance(batch, jax.Array) and batch.shape == (1, 6, 5)
    with pytest.raises(ValueError, match="read-only|memory of cuda"):  # where JAX's arrays are
        tessera.gemm(a, b, out=jax.numpy.zeros((6, 5)))


def test_cupy():
    cupy = pytest.importorskip("cupy")
    if not any(k.backend == "cuda" for k in tessera.kernels()):
        pytest.skip("no CUDA kernels in this build")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no GPU")
    a, b, c = random(1, (6, 7)), random(2, (7, 5)), random(3, (6, 5))
    for lay in (*DIRECT.values(), *(v for k, v in COPIED.items() if k != "odd address")):
        with cupy.cuda.Stream(non_blocking=True):
            got = tessera.gemm(_on_gpu(cupy, lay(a)), cupy.asarray(b), alpha=2, beta=3,
                               c=cupy.asarray(c))  # fmt: skip
            assert isinstance(got, cupy.ndarray)
            assert_product(got.get(), a, b, 2, 3, c)
    out = cupy.zeros((6, 5), cupy.float32)
    assert tessera.gemm(cupy.asarray(a), cupy.asarray(b), out=out) is out
    batch = tessera.matmul(cupy.asarray(a)[None], cupy.asarray(b))
    assert_product(batch.get(), a[None], b)
    with pytest.raises(ValueError, match="both must be in the same"):
        tessera.gemm(cupy.asarray(a), b)


def _on_gpu(cupy, view):
    """The same view of the same memory, on the GPU."""
    base = view.base if view.base is not None else view
    while base.base is not None:
        base = base.base
    whole = cupy.asarray(np.frombuffer(np.ascontiguousarray(base.ravel(order="K")), np.uint8))
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return cupy.ndarray(view.shape, view.dtype, whole.data + offset, view.strides)
