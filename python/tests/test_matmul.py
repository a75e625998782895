"""matmul: numpy.matmul's shapes, through strided batches."""

import itertools

import numpy as np
import pytest
import tessera
from support import LAYOUTS, assert_product, random

SHAPES = [
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((2, 4), (4,)),
    ((2, 4), (4, 3)),
    ((5, 2, 4), (4, 3)),
    ((2, 4), (5, 4, 3)),
    ((5, 2, 4), (5, 4, 3)),
    ((5, 2, 4), (1, 4, 3)),
    ((6, 1, 2, 4), (5, 4, 3)),
    ((6, 5, 2, 4), (6, 5, 4, 3)),
    ((1, 5, 2, 4), (6, 1, 4, 3)),
    ((2, 3, 1, 2, 4), (3, 2, 4, 3)),
    ((4,), (5, 4, 3)),
    ((5, 2, 4), (4,)),
    ((0, 2, 4), (4, 3)),
    ((3, 0, 4), (3, 4, 5)),
    ((3, 2, 0), (3, 0, 5)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape_a, shape_b", SHAPES)
def test_shapes(shape_a, shape_b, dtype):
    a, b = random(1, shape_a, dtype), random(2, shape_b, dtype)
    expected = np.matmul(a, b)
    got = tessera.matmul(a, b)
    assert np.shape(got) == expected.shape and got.dtype == dtype
    row = a if a.ndim > 1 else a[None]
    column = b if b.ndim > 1 else b[:, None]
    shaped = np.reshape(got, np.matmul(row, column).shape)
    assert_product(np.asarray(shaped), row, column)
    out = np.full(expected.shape, np.nan, dtype)
    assert tessera.matmul(a, b, out) is out
    assert np.array_equal(out, got)


def test_vectors_give_a_scalar():
    assert type(tessera.matmul(np.ones(3, np.float32), np.ones(3, np.float32))) is np.float32


def test_batches_in_odd_layouts():
    base_a, base_b = random(3, (3, 4, 5, 6)), random(4, (3, 4, 6, 7))
    views = [
        lambda x: x,
        lambda x: x.transpose(1, 0, 2, 3).copy().transpose(1, 0, 2, 3),
        lambda x: x[::-1].copy()[::-1],  # a batch stride may be negative
        lambda x: x.transpose(0, 1, 3, 2).copy().transpose(0, 1, 3, 2),
        lambda x: x.transpose(2, 3, 0, 1).copy().transpose(2, 3, 0, 1),  # the batch is innermost
    ]
    for view_a, view_b in itertools.product(views, views):
        got = tessera.matmul(view_a(base_a), view_b(base_b))
        assert_product(got, base_a, base_b)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_broadcast_of_one_matrix(layout):
    a, b = random(5, (7, 3, 6)), random(6, (6, 4))
    assert_product(tessera.matmul(a, LAYOUTS[layout](b)), a, b)
    spread = np.broadcast_to(LAYOUTS[layout](b), (7, 6, 4))
    assert_product(tessera.matmul(a, spread), a, b)


def test_out_between_other_data():
    a, b = random(7, (4, 3, 5)), random(8, (4, 5, 2))
    whole = np.full((4, 6, 4), 9, np.float32)
    out = whole[:, 1:4, 1:3]
    tessera.matmul(a, b, out)
    assert_product(out, a, b)
    out[:] = 9
    assert np.all(whole == 9)


def test_vector_out_with_a_stride():
    a, b = random(9, (5, 4)), random(10, (4,))
    out = np.full((10,), 9, np.float32)
    tessera.matmul(a, b, out[::2])
    assert_product(out[::2, None], a, b[:, None])
    assert np.all(out[1::2] == 9)
