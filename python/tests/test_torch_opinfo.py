"""PyTorch's own sample inputs of matmul and addmm, from the tables that it ships, by Tessera."""

import pytest

torch = pytest.importorskip("torch")
# The tables' imports need expecttest, and numpy.
op_db = pytest.importorskip("torch.testing._internal.common_methods_invocations").op_db

import tessera  # noqa: E402
import tessera.torch  # noqa: E402

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
            torch.testing.assert_close(got, expected)
            grad = torch.randn_like(expected)
            torch.testing.assert_close(
                torch.autograd.grad(got, tensors, grad),
                torch.autograd.grad(expected, tensors, grad),
            )
            count += 1
    assert count >= 5
