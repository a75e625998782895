"""vmap, torch.func's derivatives, forward mode, autocast with options, and symbolic tracing."""

import itertools
import warnings

import pytest

torch = pytest.importorskip("torch")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402
from torch_support import check_product, rand  # noqa: E402

OP = torch.ops.tessera.gemm.default
F64 = {"dtype": torch.float64}


def same(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


@pytest.fixture(autouse=True)
def no_slow_fallback():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*performance drop.*")
        yield


@pytest.mark.parametrize("trans", list(itertools.product([False, True], repeat=2)), ids=str)
@pytest.mark.parametrize("dim_c", [None, 0, 2])
@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0), (1, 2), (2, 0), (-1, -2)], ids=str)
def test_vmap(device, dims, dim_c, trans):
    """Wherever the batch lies in each operand, and where an operand has none."""

    def operand(shape, dim, seed):
        one = rand(*shape, device=device, seed=seed, **F64)
        if dim is None:
            return one
        return rand(6, *shape, device=device, seed=seed, **F64).movedim(0, dim)

    a = operand((4, 3) if trans[0] else (3, 4), dims[0], 1)
    b = operand((5, 4) if trans[1] else (4, 5), dims[1], 2)
    c = operand((3, 5), dim_c, 3)
    options = dict(alpha=0.5, beta=2.0, trans_a=trans[0], trans_b=trans[1])

    def reference(a, b, c):
        return 0.5 * torch.mm(a.mT if trans[0] else a, b.mT if trans[1] else b) + 2 * c

    in_dims = (*dims, dim_c)
    got = torch.vmap(lambda *x: OP(*x, **options), in_dims)(a, b, c)
    same(got, torch.vmap(reference, in_dims)(a, b, c))


@pytest.mark.parametrize("call", [OP, tessera.gemm, tessera.matmul], ids=["op", "gemm", "matmul"])
def test_vmap_of_vmap(device, call):
    a, b = rand(3, 4, 5, device=device, **F64), rand(7, 5, 2, device=device, **F64)
    got = torch.vmap(torch.vmap(call, (None, 0)), (0, None))(a, b)
    same(got, a[:, None] @ b)
    same(torch.vmap(call, out_dims=2)(a, b[:3]), (a @ b[:3]).movedim(0, 2))
    batch = rand(2, 3, 4, 5, device=device, **F64)  # of what is a batch already
    same(torch.vmap(tessera.matmul, (0, None))(batch, b[:3]), batch @ b[:3])


CALLS = {"op": (OP, torch.mm), "gemm": (tessera.gemm, torch.mm),
         "matmul": (tessera.matmul, torch.matmul)}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_torch_func(device, name):
    ours, theirs = CALLS[name]
    func = torch.func
    a, b = rand(3, 4, device=device, **F64), rand(4, 2, device=device, **F64)

    def both(transform):
        same(transform(ours), transform(theirs))

    both(lambda f: func.grad(lambda x: f(x, b).square().sum())(a))
    both(lambda f: func.jacrev(lambda x: f(x, b).square())(a))
    both(lambda f: func.jacfwd(lambda x: f(x, b).square())(a))
    both(lambda f: func.hessian(lambda x: f(x, b).pow(3).sum())(a))
    both(lambda f: func.hessian(lambda y: f(a, y).pow(3).sum())(b))
    both(lambda f: func.jacrev(func.jacrev(lambda x: f(x, b).pow(3).sum()))(a))
    both(lambda f: func.jvp(f, (a, b), (a + 1, b - 1)))
    batch = rand(5, 3, 4, device=device, **F64)
    loss = lambda f: lambda w, x: f(x, w).square().sum()  # noqa: E731
    both(lambda f: func.vmap(func.grad(loss(f)), (None, 0))(b, batch))  # for each sample


@pytest.mark.parametrize("trans", list(itertools.product([False, True], repeat=2)), ids=str)
@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0])
def test_forward_mode(device, trans, beta):
    a = rand(*((4, 3) if trans[0] else (3, 4)), device=device, grad=True, **F64)
    b = rand(*((5, 4) if trans[1] else (4, 5)), device=device, grad=True, **F64)
    c = rand(3, 5, device=device, grad=True, **F64)
    options = dict(alpha=0.5, beta=beta, trans_a=trans[0], trans_b=trans[1])

    def product(a, b, c):
        return OP(a, b, c, **options)

    assert torch.autograd.gradcheck(
        product, (a, b, c), check_forward_ad=True, check_batched_grad=True,
        check_batched_forward_grad=True,
    )  # fmt: skip
    assert torch.autograd.gradgradcheck(product, (a, b, c), check_fwd_over_rev=True)


def test_forward_mode_of_matmul(device):
    for shapes in (((2, 3, 4), (2, 4, 2)), ((4,), (2, 4, 3)), ((3, 1, 2, 4), (2, 4, 1))):
        a, b = (rand(*s, device=device, grad=True, **F64) for s in shapes)
        assert torch.autograd.gradcheck(
            tessera.matmul, (a, b), check_forward_ad=True, check_batched_grad=True
        )


def test_forward_mode_without_a_gradient(device):
    """A dual tensor need not require a gradient for its tangent to count."""
    from torch.autograd import forward_ad

    a, t = rand(3, 4, device=device), rand(3, 4, device=device, seed=5)
    b = rand(4, 2, device=device)
    with forward_ad.dual_level(), torch.no_grad():
        for call in (OP, tessera.gemm, tessera.matmul):
            tangent = forward_ad.unpack_dual(call(forward_ad.make_dual(a, t), b)).tangent
            check_product(tangent, t, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_with_options(device, dtype):
    a, b = rand(5, 4, device=device).to(dtype), rand(5, 3, device=device)
    c = rand(4, 3, device=device).to(dtype)
    wide_a, wide_c = a.float().t(), c.float()
    with torch.autocast(device, dtype=dtype):
        got = tessera.gemm(a, b, alpha=0.5, beta=2, c=c, trans_a=True)
        sum_ = tessera.torch.addmm(c, a.t(), b)
        out = torch.empty(4, 3, device=device)
        tessera.gemm(a, b, trans_a=True, out=out)
    assert got.dtype == sum_.dtype == torch.float32
    check_product(got, wide_a, b, 0.5, 2, wide_c.cpu().numpy())
    check_product(sum_, wide_a, b, 1, 1, wide_c.cpu().numpy())
    check_product(out, wide_a, b)


def test_autocast_keeps_the_type_of_a_gradient(device):
    a, b = rand(4, 5, device=device).bfloat16().requires_grad_(), rand(5, 3, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        tessera.gemm(a, b, alpha=2).sum().backward()
    assert a.grad.dtype == torch.bfloat16
    torch.testing.assert_close(a.grad.float(), 2 * b.sum(1).expand(4, 5), rtol=2**-7, atol=2**-7)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(rand(5, 3))

    def forward(self, x, c):
        y = tessera.matmul(x, self.weight)
        return tessera.torch.addmm(c, tessera.gemm(x, self.weight), y.t())


def test_symbolic_trace():
    layer, x, c = Layer(), rand(4, 5), rand(4)
    traced = torch.fx.symbolic_trace(layer)
    called = {node.target for node in traced.graph.nodes if node.op == "call_function"}
    assert {tessera.torch.gemm, tessera.torch.matmul, tessera.torch.addmm} <= called
    assert torch.equal(traced(x, c), layer(x, c))


def test_export():
    layer, x, c = Layer(), rand(4, 5), rand(4)
    exported = torch.export.export(layer, (x, c))
    assert "tessera.gemm" in str(exported.graph)
    assert torch.equal(exported.module()(x, c), layer(x, c))
