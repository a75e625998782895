"""Bad input: the type of the error, its words, and that nothing was written."""

import numpy as np
import pytest
import tessera
from support import random

F32, F64 = np.float32, np.float64
A, B, C = random(1, (3, 4)), random(2, (4, 5)), random(3, (3, 5))
BOTH = np.zeros((8, 8), F32)  # out and an input cut from one array


def read_only():
    out = np.zeros((3, 5), F32)
    out.flags.writeable = False
    return out


# arguments, keywords, exception, words of its message
CASES = {
    "rank 1": ((A[0], B), {}, ValueError, "a has shape (4,): a matrix, with 2 dimensions"),
    "rank 3": ((A, B[None]), {}, ValueError, "b has shape (1, 4, 5)"),
    "inner sizes": ((A, A), {}, ValueError, "a is (3, 4) and b is (3, 4): the inner sizes 4 and 3"),
    "inner sizes, transposed": (
        (A, B),
        {"trans_a": True},
        ValueError,
        "a is (3, 4), transposed and b is (4, 5): the inner sizes 3 and 4",
    ),
    "mixed dtypes": ((A, B.astype(F64)), {}, TypeError, "a is float32 and b is float64"),
    "integers": ((A.astype(int), B.astype(int)), {}, TypeError, "a has dtype int64"),
    "complex": ((A.astype(complex), B), {}, TypeError, "a has dtype complex128"),
    "half": ((A.astype(np.float16), B), {}, TypeError, "a has dtype float16"),
    "other byte order": ((A.astype(">f4"), B), {}, TypeError, "a has dtype >f4"),
    "objects": ((A.astype(object), B), {}, TypeError, "a has dtype object"),
    "a list": (([[1.0]], B), {}, TypeError, "a is of type list: an array is needed"),
    "None": ((None, B), {}, TypeError, "a is of type NoneType"),
    "read-only out": ((A, B), {"out": read_only()}, ValueError, "out is read-only"),
    "out of another shape": (
        (A, B),
        {"out": np.zeros((5, 3), F32)},
        ValueError,
        "out is (5, 3): it must be (3, 5)",
    ),
    "out of another dtype": ((A, B), {"out": np.zeros((3, 5), F64)}, TypeError, "out is float64"),
    "out of integers": ((A, B), {"out": np.zeros((3, 5), int)}, TypeError, "out has dtype int64"),
    "out with a step": (
        (A, B),
        {"out": np.zeros((3, 10), F32)[:, ::2]},
        ValueError,
        "out has shape (3, 5) and strides of (40, 8) bytes",
    ),
    "out with stride 0": (
        (A, B),
        {"out": np.lib.stride_tricks.as_strided(np.zeros(5, F32), (3, 5), (0, 4))},
        ValueError,
        "strides of (0, 4) bytes",
    ),
    "out is a": ((BOTH, BOTH), {"out": BOTH}, ValueError, "shares memory with A"),
    "out overlaps b": (
        (BOTH[:4, :4], BOTH[2:6, 2:6]),
        {"out": BOTH[4:, 4:]},
        ValueError,
        "shares memory with B",
    ),
    "out overlaps an input that is copied": (
        (BOTH[:4, ::2], BOTH[4:, :4]),
        {"out": BOTH[:4, :4]},
        ValueError,
        "out shares memory with a",
    ),
    "out overlaps c": (
        (A, B),
        {"beta": 1, "c": BOTH[:3, :5], "out": BOTH[1:4, :5]},
        ValueError,
        "out shares memory with c",
    ),
    "c of another shape": (
        (A, B),
        {"beta": 1, "c": A},
        ValueError,
        "c is (3, 4): it must be (3, 5)",
    ),
    "c of another dtype": ((A, B), {"beta": 1, "c": C.astype(F64)}, TypeError, "c must have"),
    "beta without c": ((A, B), {"beta": 0.5}, ValueError, "beta is 0.5, but neither c nor out"),
    "complex alpha": ((A, B), {"alpha": 1j}, TypeError, "alpha is 1j"),
    "unknown kernel": ((A, B), {"kernel": "fast"}, ValueError, '"fast" does not exist'),
    "kernel for other memory": (
        (A, B),
        {"kernel": "cpu.naive.f64"},
        NotImplementedError,
        "cannot take",
    ),
    "unknown precision": ((A, B), {"precision": "fp31"}, ValueError, '"fp31"'),
    "precision without kernel": ((A, B), {"precision": "tf32"}, NotImplementedError, "tf32"),
    "fp64 of float32": ((A, B), {"precision": "fp64"}, NotImplementedError, "fp64"),
    "masked": (
        (np.ma.masked_array(A, A > 0), B),
        {},
        TypeError,
        "a is a masked array: masks are not heeded",
    ),
    "masked out": ((A, B), {"out": np.ma.zeros((3, 5), F32)}, TypeError, "out is a masked array"),
    "alpha of text": ((A, B), {"alpha": "x"}, TypeError, "alpha is 'x': it must be a real number"),
    "no beta": ((A, B), {"beta": None}, TypeError, "beta is None"),
    "alpha of several": ((A, B), {"alpha": A}, TypeError, "alpha is of type ndarray"),
    "alpha too large": ((A, B), {"alpha": 1e39}, ValueError, "alpha is 1e+39: beyond the largest"),
    "beta too large": ((A, B), {"beta": -1e39, "c": C}, ValueError, "beta is -1e+39: beyond"),
    "trans of text": ((A, B), {"trans_a": "N"}, TypeError, "trans_a is 'N': it must be True or"),
    "kernel of no name": ((A, B), {"kernel": 3}, TypeError, "kernel is 3: it must be a str"),
    "no precision": ((A, B), {"precision": None}, TypeError, "precision is None"),
    "device of no name": ((A, B), {"device": 0.5}, TypeError, "device is 0.5: it must be a str"),
    "unknown device": ((A, B), {"device": "tpu"}, ValueError, 'device tpu: must be "cpu"'),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case):
    arguments, keywords, error, words = CASES[case]
    arrays = [x for x in (*arguments, *keywords.values()) if isinstance(x, np.ndarray)]
    before = [x.copy() for x in arrays]
    with pytest.raises(error) as caught:
        tessera.gemm(*arguments, **keywords)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    for x, kept in zip(arrays, before):
        assert np.array_equal(x, kept)


def test_out_is_untouched_when_the_kernel_refuses_after_c():
    out = np.full((3, 5), 7, F32)
    with pytest.raises(ValueError):
        tessera.gemm(A, B, beta=1, c=C, out=out, kernel="fast")
    assert np.all(out == 7)


def test_no_gpu_is_said():
    if not any(k.backend == "cuda" for k in tessera.kernels()):
        with pytest.raises(RuntimeError, match="device cuda:0 cannot be used"):
            tessera.gemm(A, B, device="cuda")


MATMUL_CASES = {
    "scalar": ((np.float32(1), B), "a is a scalar"),
    "inner sizes": ((A, A), "inner sizes 4 and 3"),
    "batches": (
        (np.zeros((2, 3, 4), F32), np.zeros((3, 4, 5), F32)),
        "a is (2, 3, 4) and b is (3, 4, 5): the dimensions before the last two",
    ),
    "out": ((A, B, np.zeros((4, 5), F32)), "out is (4, 5): it must be (3, 5)"),
}


@pytest.mark.parametrize("case", MATMUL_CASES)
def test_matmul_refuses(case):
    arguments, words = MATMUL_CASES[case]
    with pytest.raises(ValueError) as caught:
        tessera.matmul(*arguments)
    assert words in str(caught.value)


def test_verify_refuses():
    with pytest.raises(TypeError, match="b must have the dtype of a"):
        tessera.verify(A, B.astype(F64), C)
    with pytest.raises(ValueError, match="c0, which it scaled, is needed"):
        tessera.verify(A, B, C, beta=1)
    with pytest.raises(ValueError, match="method is 'fast'"):
        tessera.verify(A, B, C, method="fast")
    for rounds in (0, 100):
        with pytest.raises(ValueError, match=f"rounds is {rounds}: it must be from 1 to 60"):
            tessera.verify(A, B, C, rounds=rounds)
    with pytest.raises(TypeError, match="rounds is 2.5: it must be a whole number"):
        tessera.verify(A, B, C, rounds=2.5)
    with pytest.raises(ValueError, match="seed is -1"):
        tessera.verify(A, B, C, seed=-1)
    with pytest.raises(TypeError, match="alpha is 'x'"):
        tessera.verify(A, B, C, alpha="x")
    with pytest.raises(TypeError, match="c is a masked array"):
        tessera.verify(A, B, np.ma.masked_array(C))
    with pytest.raises(ValueError, match=r"a has shape \(4,\)"):
        tessera.verify(A[0], B, C)
