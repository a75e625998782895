"""matmul with ``out``: the product is written there, in eager mode and compiled."""

import pytest

torch = pytest.importorskip("torch")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402
from torch_support import rand  # noqa: E402


def test_matmul_writes_into_out(device):
    """The product goes where it belongs: neither a second array nor a copy of it is made."""
    x = rand(6, 4, device=device)
    for shape_a, shape_b, out in [
        ((5, 4), (4, 3), torch.empty(5, 3)),
        ((5, 4), (4, 3), torch.empty(3, 5).t()),
        ((5, 4), (4, 3), torch.empty(10, 7)[::2, 2:5]),
        ((2, 5, 4), (4, 3), torch.empty(2, 5, 3)),
        ((2, 5, 4), (4, 3), torch.empty(5, 2, 3).transpose(0, 1)),
        ((2, 1, 5, 4), (3, 4, 3), torch.empty(3, 2, 5, 3).transpose(0, 1)),
        ((4,), (4,), torch.empty(())),
        ((2, 5, 4), (4,), torch.empty(2, 5)),
        ((4,), (2, 4, 3), torch.empty(2, 3)),
        ((0, 4), (4, 3), torch.empty(0, 3)),
    ]:
        a, b, out = rand(*shape_a, device=device), rand(*shape_b, device=device), out.to(device)
        version = out._version
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            assert tessera.torch.matmul(a, b, out=out) is out
        called = {event.key for event in profile.key_averages()}
        assert not called & {"aten::copy_", "aten::clone", "aten::new_empty", "aten::empty"}
        assert out._version > version
        torch.testing.assert_close(out, torch.matmul(a, b), rtol=1e-5, atol=1e-5)
    kept = x.clone()
    with pytest.raises(ValueError, match="shares memory"):
        tessera.matmul(x, x[:4], out=x)
    with pytest.raises(ValueError, match="strides"):
        tessera.matmul(x, x.t(), out=torch.empty(6, 12, device=device)[:, ::2])
    assert torch.equal(x, kept)


def test_compile_matmul_with_out(device):
    def into(a, b, out):
        return tessera.matmul(a, b, out=out) + 1

    torch._dynamo.reset()
    compiled = torch.compile(into, fullgraph=True, backend="aot_eager")
    for shape_a, shape_b in (((4, 5), (5, 3)), ((2, 4, 5), (2, 5, 3)), ((5,), (5, 3))):
        a, b = rand(*shape_a, device=device), rand(*shape_b, device=device)
        expected = torch.matmul(a, b)
        out = torch.empty_like(expected)
        got = compiled(a, b, out)
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
        assert torch.equal(got, out + 1)
