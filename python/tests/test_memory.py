"""No copy where a leading dimension can say the layout, as NumPy's own allocations show."""

import tracemalloc

import numpy as np
import pytest
import tessera
from support import COPIED, DIRECT

N = 400


def peak_bytes(call):
    call()  # what is allocated once
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("layout", DIRECT)
def test_no_copy(layout):
    x, dense = DIRECT[layout](np.ones((N, N), np.float32)), np.ones((N, N), np.float32)
    out = np.empty((N, N), np.float32)
    assert peak_bytes(lambda: tessera.gemm(x, dense, out=out)) < 10_000
    assert peak_bytes(lambda: tessera.gemm(dense, x, out=out)) < 10_000


def test_no_copy_of_broadcast_batches():
    a, b = np.ones((8, N, 50), np.float32), np.ones((50, 40), np.float32)
    out = np.empty((8, N, 40), np.float32)
    assert peak_bytes(lambda: tessera.matmul(a, b, out)) < 10_000


@pytest.mark.parametrize("layout", COPIED)
def test_copies_are_seen(layout):
    """The measurement above sees a copy where there is one."""
    x, dense = COPIED[layout](np.ones((N, N), np.float32)), np.ones((N, N), np.float32)
    out = np.empty((N, N), np.float32)
    assert peak_bytes(lambda: tessera.gemm(x, dense, out=out)) >= x.nbytes


def test_nothing_is_kept():
    a = np.ones((N, N), np.float32)

    def many():
        for _ in range(50):
            tessera.gemm(a, a[:, ::-1])

    many()
    tracemalloc.start()
    many()
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert left < 50_000
