"""PyTorch's own sample inputs of matmul and addmm, from the tables that it ships, by Tessera."""

import pytest

torch = pytest.importorskip("torch")
# The tables' imports need expecttest, and numpy.
op_db = pytest.importorskip("torch.testing._internal.common_methods_invocations").op_db

import tessera  # noqa: E402
import tessera.torch  # noqa: E402


def exact(op, sample, grad):
    """The product and its gradients in FP64, each with the same sum of absolute values."""
    results = []
    for transform in (lambda x: x, abs):
        args = [
            transform(x.detach().double()).requires_grad_() if isinstance(x, torch.Tensor) else x
            for x in (sample.input, *sample.args)
        ]
        result = op(*args, **{name: transform(value) for name, value in sample.kwargs.items()})
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        results.append([result, *torch.autograd.grad(result, tensors, transform(grad.double()))])
    return zip(*results)


def compare(got, expected, exact_and_size, dtype):
    """Sums of at most a few dozen products: within as many roundings of the exact ones."""
    unit = torch.finfo(dtype).eps / 2
    for ours, theirs, (value, size) in zip(got, expected, exact_and_size):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        error = (ours.double() - value).abs()
        assert bool((error <= 64 * unit * size + torch.finfo(dtype).tiny).all()), error.max()


CALLS = {"matmul": tessera.torch.matmul, "addmm": tessera.torch.addmm}
DTYPES = [torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_samples(device, name, dtype):
    infos = [op for op in op_db if op.name == name]
    assert infos
    count = 0
    for info in infos:
        for sample in info.sample_inputs(device, dtype, requires_grad=True):
            tensors = [x for x in (sample.input, *sample.args) if isinstance(x, torch.Tensor)]
            expected = info.op(sample.input, *sample.args, **sample.kwargs)
            got = CALLS[name](sample.input, *sample.args, **sample.kwargs)
            grad = torch.randn_like(expected)
            compare([got, *torch.autograd.grad(got, tensors, grad)],
                    [expected, *torch.autograd.grad(expected, tensors, grad)],
                    exact(info.op, sample, grad), dtype)  # fmt: skip
            count += 1
    assert count >= 5
