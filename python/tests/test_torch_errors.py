"""Bad input from PyTorch: the type of the error, its words, and that nothing was written."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402
from torch_support import rand  # noqa: E402


def bad_input(d):
    a, b, out = rand(3, 4, device=d), rand(4, 5, device=d), torch.zeros(3, 5, device=d)
    both = torch.zeros(8, 8, device=d)
    return {
        "rank": ((a[0], b), {}, ValueError, "a has shape (4,): a matrix"),
        "batch": ((a[None], b), {}, ValueError, "matmul takes batches"),
        "inner": ((a, a), {}, ValueError, "a is (3, 4) and b is (3, 4): the inner sizes 4 and 3"),
        "dtypes": ((a, b.double()), {}, TypeError, "torch.float32 and b is torch.float64"),
        "integers": ((a.long(), b.long()), {}, TypeError, "a is torch.int64"),
        "half": ((a.half(), b.half()), {}, TypeError, "a is torch.float16"),
        "numpy": ((a, np.ones((4, 5), np.float32)), {}, TypeError, "b is ndarray"),
        "meta": ((a, b.to("meta")), {}, ValueError, "b on meta"),
        "out shape": ((a, b), {"out": out.t()}, ValueError, "out is (5, 3): it must be (3, 5)"),
        "out dtype": ((a, b), {"out": out.double()}, TypeError, "out is torch.float64"),
        "out step": ((a, b), {"out": torch.zeros(3, 10, device=d)[:, ::2]}, ValueError, "strides"),
        "out expanded": (
            (a, b), {"out": torch.zeros(1, 5, device=d).expand(3, 5)}, ValueError, "strides",
        ),
        "out is a": ((both, both), {"out": both}, ValueError, "shares memory with A"),
        "out over b": (
            (both[:4, :4], both[2:6, 2:6]), {"out": both[4:, 4:]}, ValueError, "shares memory",
        ),
        "out over c": (
            (a, b), {"beta": 1, "c": both[:3, :5], "out": both[1:4, :5]}, ValueError, "with c",
        ),
        "out needs grad": (
            (a, b), {"out": torch.zeros(3, 5, device=d, requires_grad=True)}, ValueError,
            "out takes no part in autograd",
        ),
        "input needs grad": (
            (rand(3, 4, device=d, grad=True), b), {"out": out}, ValueError, "no part in autograd",
        ),
        "c shape": ((a, b), {"beta": 1, "c": a}, ValueError, "c is (3, 4): it must be (3, 5)"),
        "no c": ((a, b), {"beta": 1}, ValueError, "there is no c"),
        "kernel": ((a, b), {"kernel": "fast"}, ValueError, '"fast" does not exist'),
        "precision": ((a, b), {"precision": "tf32"}, NotImplementedError, "tf32"),
        "device": ((a, b), {"device": "meta"}, ValueError, "device meta, but a is on"),
        "no device": ((a, b), {"device": "tpu"}, ValueError, "device tpu: must be"),
        "alpha": ((a, b), {"alpha": "x"}, TypeError, "alpha is 'x': it must be a real number"),
        "no alpha": ((a, b), {"alpha": None}, TypeError, "alpha is None"),
        "complex beta": ((a, b), {"beta": 1j, "c": out}, TypeError, "beta is 1j"),
        "alpha needs grad": (
            (a, b), {"alpha": torch.ones((), requires_grad=True)}, TypeError, "a constant here",
        ),
        "alpha too large": ((a, b), {"alpha": 1e39}, ValueError, "alpha is 1e+39: beyond"),
        "trans": ((a, b), {"trans_b": "N"}, TypeError, "trans_b is 'N': it must be True or False"),
        "kernel type": ((a, b), {"kernel": 3}, TypeError, "kernel is 3: it must be a str"),
        "precision type": ((a, b), {"precision": None}, TypeError, "precision is None"),
        "negated out": ((a, b), {"out": torch._neg_view(out)}, ValueError, "lazily negated"),
    }  # fmt: skip


@pytest.mark.parametrize("case", bad_input("cpu"))
def test_refused(device, case):
    arguments, keywords, error, words = bad_input(device)[case]
    tensors = [x for x in (*arguments, *keywords.values())
               if isinstance(x, torch.Tensor) and x.device.type != "meta"]  # fmt: skip
    before = [x.detach().clone() for x in tensors]
    with pytest.raises(error) as caught:
        tessera.gemm(*arguments, **keywords)
    assert words in str(caught.value)
    for x, kept in zip(tensors, before):
        assert torch.equal(x, kept)


def test_matmul_refuses(device):
    with pytest.raises(ValueError, match="inner sizes 4 and 3"):
        tessera.matmul(rand(3, 4, device=device), rand(3, 4, device=device))
    with pytest.raises(ValueError, match="before the last two"):
        tessera.matmul(rand(2, 3, 4, device=device), rand(3, 4, 5, device=device))
    with pytest.raises(ValueError, match="a is a scalar"):
        tessera.matmul(torch.tensor(1.0, device=device), rand(3, device=device))


def test_what_has_no_strides_is_refused(device):
    a, b = rand(3, 4, device=device), rand(4, 5, device=device)
    for call in (tessera.gemm, tessera.matmul):
        with pytest.raises(TypeError, match="a is a sparse_coo tensor: it must be a dense one"):
            call(a.to_sparse(), b)
        with pytest.raises(TypeError, match="a is a nested tensor: it must be a dense one"):
            call(torch.nested.nested_tensor([a, a], layout=torch.jagged), b)
    with pytest.raises(TypeError, match="c is a sparse_coo tensor"):
        tessera.torch.addmm(rand(3, 5, device=device).to_sparse(), a, b)
    with pytest.raises(TypeError, match="c is ndarray"):
        tessera.torch.addmm(np.ones((3, 5), np.float32), a, b)
    with pytest.raises(TypeError, match="a is a sparse_coo tensor"):
        tessera.verify(a.to_sparse(), b, a @ b)


def test_verify_refuses(device):
    a, b = rand(3, 4, device=device), rand(4, 5, device=device)
    with pytest.raises(TypeError, match="a is torch.bfloat16"):
        tessera.verify(a.bfloat16(), b, a @ b)
    with pytest.raises(TypeError, match="a is on meta"):
        tessera.verify(a.to("meta"), b, a @ b)
    assert tessera.verify(torch._neg_view(a), b, -(a @ b))


def test_shared_gemm_cuda_wants_a_gpu():
    with pytest.raises(TypeError, match="A is ndarray"):
        tessera.torch.shared_gemm_cuda(np.ones((3, 3)), rand(3, 3))
    with pytest.raises(ValueError, match="A is on cpu"):
        tessera.torch.shared_gemm_cuda(rand(3, 3), rand(3, 3))
