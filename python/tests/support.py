"""Random matrices in every layout, and the comparison within the proved bound."""

import math
import shutil

import numpy as np
import pytest

# tessera.check compiles with it.
needs_clang = pytest.mark.skipif(shutil.which("clang") is None, reason="no clang here")

UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


def random(seed, shape, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def assert_product(got, a, b, alpha=1.0, beta=0.0, c=None):
    """got == alpha * a @ b + beta * c within the bound of docs/semantics.md; a, b any batches."""
    u = UNIT[got.dtype]
    wide = np.longdouble
    a, b = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
    expected = wide(alpha) * np.matmul(a, b)
    size = abs(wide(alpha)) * np.matmul(abs(a), abs(b))
    if beta != 0:
        expected = expected + wide(beta) * np.asarray(c).astype(wide)
        size = size + abs(wide(beta)) * abs(np.asarray(c).astype(wide))
    growth = math.expm1((a.shape[-1] + 3) * math.log1p(u))  # (1 + u)^(k + 3) - 1
    bound = growth * size + np.finfo(got.dtype).tiny
    assert got.shape == expected.shape
    error = abs(got.astype(wide) - expected)
    ok = error <= bound
    wrong = np.count_nonzero(~ok)
    assert wrong == 0, f"{wrong} of {got.size} elements wrong, by up to {error.max()}"


def padded(x):
    out = np.full((x.shape[0], x.shape[1] + 3), np.nan, x.dtype)
    out[:, : x.shape[1]] = x
    return out[:, : x.shape[1]]


def every_other_row(x):
    out = np.full((2 * x.shape[0], x.shape[1]), np.nan, x.dtype)
    out[::2] = x
    return out[::2]


def every_other_column(x):
    out = np.full((x.shape[0], 2 * x.shape[1]), np.nan, x.dtype)
    out[:, ::2] = x
    return out[:, ::2]


def at_odd_address(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:]
    out = raw.view(x.dtype).reshape(x.shape)
    out[:] = x
    return out


# Layouts that a leading dimension can say...
DIRECT = {
    "dense": lambda x: x.copy(),
    "fortran": np.asfortranarray,
    "transposed": lambda x: x.T.copy().T,
    "padded": padded,
    "padded fortran": lambda x: padded(x.T.copy()).T,
    "every other row": every_other_row,
    "every other row, fortran": lambda x: every_other_row(x.T.copy()).T,
}
# ...and those that take a copy.
COPIED = {
    "every other column": every_other_column,
    "rows reversed": lambda x: x[::-1].copy()[::-1],
    "columns reversed": lambda x: x[:, ::-1].copy()[:, ::-1],
    "both steps": lambda x: x.repeat(2, 0).repeat(2, 1)[::2, ::2],
    "odd address": at_odd_address,
}
LAYOUTS = {**DIRECT, **COPIED}
