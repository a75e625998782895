"""gemm of NumPy arrays: layouts, scalars, outputs, special values."""

import array

import numpy as np
import pytest
import tessera
from support import COPIED, DIRECT, LAYOUTS, assert_product, random

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout_b", LAYOUTS)
@pytest.mark.parametrize("layout_a", LAYOUTS)
def test_layouts(layout_a, layout_b, dtype):
    a, b = random(1, (13, 17), dtype), random(2, (17, 11), dtype)
    laid_a, laid_b = LAYOUTS[layout_a](a), LAYOUTS[layout_b](b)
    assert np.array_equal(laid_a, a) and np.array_equal(laid_b, b)
    assert_product(tessera.gemm(laid_a, laid_b), a, b)


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_transposes(trans_a, trans_b, dtype):
    a, b = random(3, (9, 5), dtype), random(4, (5, 8), dtype)
    got = tessera.gemm(
        a.T.copy() if trans_a else a, b.T.copy() if trans_b else b, trans_a=trans_a, trans_b=trans_b
    )
    assert_product(got, a, b)


@pytest.mark.parametrize("layout", DIRECT)
def test_out_in_every_layout(layout):
    a, b = random(5, (6, 7)), random(6, (7, 5))
    out = DIRECT[layout](np.full((6, 5), np.nan, np.float32))
    assert tessera.gemm(a, b, out=out) is out
    assert_product(out, a, b)
    out[:] = np.nan
    assert out.base is None or np.all(np.isnan(out.base)), "written between the rows of out"


def test_alpha_beta_and_c():
    a, b, c = random(7, (12, 4)), random(8, (4, 10)), random(9, (12, 10))
    kept = c.copy()
    got = tessera.gemm(a, b, alpha=0.5, beta=-2, c=c)
    assert_product(got, a, b, 0.5, -2, kept)
    assert np.array_equal(c, kept)
    assert tessera.gemm(a, b, alpha=0.5, beta=-2, c=c, out=c) is c
    assert np.array_equal(c, got)
    out = kept.copy()  # without c, out is what beta scales
    tessera.gemm(a, b, alpha=0.5, beta=-2, out=out)
    assert np.array_equal(out, got)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_c_in_every_layout(layout):
    a, b, c = random(10, (5, 6)), random(11, (6, 4)), random(12, (5, 4))
    assert_product(tessera.gemm(a, b, beta=1, c=LAYOUTS[layout](c)), a, b, 1, 1, c)


def test_beta_zero_never_reads_c():
    a, b = random(13, (3, 3)), random(14, (3, 3))
    poisoned = np.full((3, 3), np.nan, np.float32)
    assert_product(tessera.gemm(a, b, beta=0.0, c=poisoned), a, b)
    assert_product(tessera.gemm(a, b, beta=-0.0, out=poisoned), a, b)


def test_alpha_zero_never_reads_inputs():
    nan = np.full((3, 3), np.nan, np.float32)
    c = random(15, (3, 3))
    assert np.array_equal(tessera.gemm(nan, nan, alpha=0, beta=2, c=c), 2 * c)


def test_nan_and_infinity_propagate():
    a, b = np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32)
    b[0, 0] = np.inf
    assert np.isnan(tessera.gemm(a, b)[0, 0])


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1)])
def test_small_and_empty(m, n, k):
    a, b = random(16, (m, k)), random(17, (k, n))
    assert_product(tessera.gemm(a, b), a, b)


CPU_KERNELS = [k for k in tessera.kernels() if k.backend == "cpu"]


# Arrays of 16 bits are widened before a kernel sees them.
@pytest.mark.parametrize("kernel", [k for k in CPU_KERNELS if "16" not in k.dtype], ids=str)
def test_every_cpu_kernel(kernel):
    a, b = random(18, (65, 33), kernel.dtype), random(19, (33, 70), kernel.dtype)
    assert_product(tessera.gemm(a, b, kernel=kernel.id), a, b)


def test_sizes_of_one_with_any_stride():
    wide = random(20, (5, 7))
    row, column = wide[2:3, ::2], wide[:, 3:4]
    assert_product(tessera.gemm(row, random(21, (4, 3))), row, random(21, (4, 3)))
    assert_product(tessera.gemm(column, row), column, row)
    odd = np.lib.stride_tricks.as_strided(wide, (1, 7), (13, 4))  # a stride that is no multiple
    assert_product(tessera.gemm(odd, wide.T), odd, wide.T)


def test_stride_zero_and_overlapping_inputs():
    column = random(22, (6, 1))
    spread = np.broadcast_to(column, (6, 5))
    a = random(23, (4, 6))
    assert_product(tessera.gemm(a, spread), a, spread)
    windows = np.lib.stride_tricks.sliding_window_view(random(24, (20,)), 6)  # strides (4, 4)
    assert_product(tessera.gemm(windows, spread), windows, spread)


def test_read_only_inputs():
    a, b = random(25, (3, 4)), random(26, (4, 5))
    a.flags.writeable = b.flags.writeable = False
    assert_product(tessera.gemm(a, b), a, b)


def test_buffers_that_are_no_numpy_arrays():
    a, b = random(27, (3, 4)), random(28, (4, 5))
    assert_product(tessera.gemm(memoryview(a), b), a, b)
    raw = memoryview(array.array("f", b.ravel().tolist())).cast("B").cast("f", (4, 5))
    assert_product(tessera.gemm(a, raw), a, b)
    out = memoryview(np.zeros((3, 5), np.float32))
    assert tessera.gemm(a, b, out=out) is out
    assert_product(np.asarray(out), a, b)


def test_numpy_subclass_and_scalars():
    a, b = random(29, (3, 4)).view(np.matrix), random(30, (4, 5))
    got = tessera.gemm(a, b, alpha=np.float32(2), trans_a=np.False_)
    assert type(got) is np.ndarray
    assert_product(got, np.asarray(a), b, 2)


def test_precision_names():
    a, b = random(31, (3, 4)), random(32, (4, 5))
    assert np.array_equal(tessera.gemm(a, b, precision="fp32"), tessera.gemm(a, b))
    wide = tessera.gemm(a.astype(float), b.astype(float), precision="fp64")
    assert_product(wide, a.astype(float), b.astype(float))
    # J1 of the case list: FP32 is no TF32.
    one = np.array([[1024.5]], np.float32)
    assert tessera.gemm(one, np.ones((1, 1), np.float32))[0, 0] == 1024.5


def test_larger_than_one_slice():
    """A product that is run in slices is the product, on every axis that is cut."""
    for m, n, k in [(1500, 40, 700), (40, 1500, 700)]:
        a, b = random(33, (m, k)), random(34, (k, n))
        got = tessera.gemm(a, b, kernel="cpu.naive")
        assert bool(tessera.verify(a, b, got))
        assert_product(got[:5, -5:], a[:5], b[:, -5:])


@pytest.mark.parametrize("layout", COPIED)
def test_repeats_are_bit_equal(layout):
    a, b = random(35, (40, 50)), random(36, (50, 30))
    first = tessera.gemm(a, COPIED[layout](b))
    assert np.array_equal(first, tessera.gemm(a, b))
