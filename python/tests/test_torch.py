"""The PyTorch operator: layouts, gradients, tracing, autocast, bad input. Class M of the cases."""

import pytest

torch = pytest.importorskip("torch")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402
from torch_support import check_product, numpy_of, rand  # noqa: E402

OP = torch.ops.tessera.gemm.default
OUT_OP = torch.ops.tessera.gemm_out.default
BMM = torch.ops.tessera.bmm.default
DTYPES = [torch.float32, torch.float64]


def wide(x):
    out = torch.full((x.shape[0], x.shape[1] + 3), torch.nan, dtype=x.dtype, device=x.device)
    out[:, 1:-2] = x
    return out[:, 1:-2]


DIRECT = {
    "dense": lambda x: x.clone(),
    "transposed": lambda x: x.t().contiguous().t(),
    "sliced columns": wide,
    "sliced rows": lambda x: torch.stack([x, x], 1).reshape(-1, x.shape[1])[::2],
    "offset": lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
}
COPIED = {
    "every other column": lambda x: torch.stack([x, x], 2).flatten(1)[:, ::2],
    "expanded": lambda x: x[:, :1].expand(x.shape),
}
LAYOUTS = {**DIRECT, **COPIED}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout_b", LAYOUTS)
@pytest.mark.parametrize("layout_a", LAYOUTS)
def test_layouts(device, layout_a, layout_b, dtype):
    a = LAYOUTS[layout_a](rand(13, 17, device=device, dtype=dtype))
    b = LAYOUTS[layout_b](rand(17, 11, device=device, dtype=dtype))
    got = tessera.gemm(a, b)
    assert got.device == a.device and got.dtype == dtype and got.is_contiguous()
    check_product(got, a, b)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(device, layout):
    """M3: a copy is made where ld cannot say the layout, and nowhere else."""
    a, b = LAYOUTS[layout](rand(13, 17, device=device)), rand(17, 11, device=device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        tessera.torch.gemm(a, b)
    called = {event.key for event in profile.key_averages()}
    assert ("aten::clone" in called) == (layout in COPIED)


def test_case_m3(device):
    x, y, z = (rand(20, 9, device=device, seed=s) for s in range(3))
    a, b, out = x[:, 1:], y[:10, 1:].t(), rand(40, 10, device=device)[::2]
    kept = out.clone()
    tessera.gemm(a, b, beta=1, out=out)
    check_product(out, a, b, 1, 1, numpy_of(kept))


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_scalars_and_transposes(device, trans_a, trans_b):
    a, b, c = rand(6, 7, device=device), rand(7, 5, device=device), rand(6, 5, device=device)
    got = tessera.gemm(
        a.t().contiguous() if trans_a else a, b.t().contiguous() if trans_b else b,
        alpha=0.5, beta=2, c=c, trans_a=trans_a, trans_b=trans_b,
    )  # fmt: skip
    check_product(got, a, b, 0.5, 2, numpy_of(c))


def test_beta_zero_never_reads_c(device):
    a, b = rand(4, 4, device=device), rand(4, 4, device=device)
    poison = torch.full((4, 4), torch.nan, device=device)
    check_product(tessera.gemm(a, b, c=poison), a, b)
    check_product(tessera.gemm(a, b, out=poison), a, b)


def test_out_and_c(device):
    a, b, c = rand(4, 6, device=device), rand(6, 5, device=device), rand(4, 5, device=device)
    kept = c.clone()
    out = torch.full((4, 5), torch.nan, device=device)
    version = out._version
    assert tessera.gemm(a, b, beta=3, c=c, out=out) is out
    assert out._version > version
    check_product(out, a, b, 1, 3, numpy_of(kept))
    assert tessera.gemm(a, b, beta=3, c=c, out=c) is c
    assert torch.equal(c, out)


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1)])
def test_empty(device, sizes):
    m, n, k = sizes
    a, b = rand(m, k, device=device), rand(k, n, device=device)
    check_product(tessera.gemm(a, b), a, b)


MATMUL_SHAPES = [
    ((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((5, 2, 4), (4, 3)), ((2, 4), (5, 4, 3)),
    ((5, 2, 4), (1, 4, 3)), ((6, 1, 2, 4), (5, 4, 3)), ((0, 2, 4), (4, 3)), ((5, 2, 4), (4,)),
    ((3, 2, 0), (3, 0, 5)), ((4,), (5, 4, 3)), ((2, 0, 4), (4, 3)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", MATMUL_SHAPES, ids=str)
def test_matmul(device, shapes):
    a, b = (rand(*s, device=device, dtype=torch.float64) for s in shapes)
    expected = torch.matmul(a, b)
    got = tessera.matmul(a, b)
    assert got.shape == expected.shape
    torch.testing.assert_close(got, expected, rtol=1e-13, atol=1e-13)
    out = torch.empty_like(expected)
    assert tessera.matmul(a, b, out=out) is out and torch.equal(out, got)


def test_batches_are_not_copied(device):
    a, b = rand(6, 1, 8, 9, device=device), rand(5, 9, 4, device=device).transpose(0, 1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        got = tessera.torch.matmul(a, b.transpose(0, 1))
    assert "aten::clone" not in {event.key for event in profile.key_averages()}
    torch.testing.assert_close(got, a @ b.transpose(0, 1), rtol=1e-5, atol=1e-5)


def recorded(call):
    """The operators that PyTorch's dispatcher sees of a call."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            seen.append(op)
            return op(*args, **(kwargs or {}))

    seen = []
    with Record():
        call()
    return seen


def test_what_goes_around_the_dispatcher(device):
    """Plain calls alone: whatever PyTorch would act on is what reaches the operator."""
    from tessera._torch_plain import is_plain
    from torch.autograd import forward_ad

    x, needs_grad = rand(3, 3, device=device), rand(3, 3, device=device, grad=True)
    assert is_plain(x, x.t()) and is_plain(x, x[:, 1:])
    assert not is_plain(x, needs_grad) and not is_plain(needs_grad, x)
    with torch.no_grad():
        assert is_plain(x, needs_grad.detach())
    for call in (tessera.gemm, OP):
        call(x, x)
        assert OP in recorded(lambda: call(x, x))  # a mode sees it
    assert not is_plain(x, torch.nn.Parameter(x))
    assert not is_plain(x, x.to("meta")) and not is_plain(x, x.to_sparse())
    assert not is_plain(x, torch.randn(3, 3, dtype=torch.complex64, device=device).conj().imag)
    with torch.autocast(device):
        assert not is_plain(x, x)
    with forward_ad.dual_level():
        assert not is_plain(forward_ad.make_dual(x, x), x)
    inside = []
    torch.func.vmap(lambda t: (inside.append(is_plain(t, x)), t)[1])(rand(2, 3, 3, device=device))
    torch.func.grad(lambda t: (inside.append(is_plain(t, x)), t.sum())[1])(x)
    assert inside == [False, False]


# --- autograd, tracing ---------------------------------------------------------------------------


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_gradcheck(device, trans_a, trans_b):
    """M2: on transposes and sliced views, first and second derivatives."""
    options = dict(device=device, dtype=torch.float64, grad=True)
    a = rand(7, 4, **options) if trans_a else rand(4, 7, **options)
    b = rand(3, 6, **options) if trans_b else rand(6, 3, **options)
    c = rand(4, 3, **options)

    def product(a, b, c):
        a = a[1:] if trans_a else a[:, 1:]
        return tessera.gemm(a, b, alpha=0.5, beta=2, c=c, trans_a=trans_a, trans_b=trans_b)

    assert torch.autograd.gradcheck(product, (a, b, c))
    assert torch.autograd.gradgradcheck(product, (a, b, c))


@pytest.mark.parametrize("shapes", [((4,), (4, 3)), ((5, 2, 4), (4, 3)), ((2, 4), (3, 4, 3)),
                                    ((3, 2, 4), (1, 4, 2))], ids=str)  # fmt: skip
def test_matmul_gradcheck(device, shapes):
    a, b = (rand(*s, device=device, dtype=torch.float64, grad=True) for s in shapes)
    assert torch.autograd.gradcheck(tessera.matmul, (a, b))
    assert torch.autograd.gradgradcheck(tessera.matmul, (a, b))


def test_gradients_are_products_by_tessera(device):
    a, b = rand(5, 6, device=device, grad=True), rand(6, 4, device=device, grad=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        tessera.gemm(a, b).square().sum().backward()
    called = {event.key for event in profile.key_averages()}
    assert "tessera::gemm" in called
    assert not called & {"aten::mm", "aten::matmul", "aten::addmm", "aten::bmm"}
    grad = 2 * (a @ b).detach()
    check_product(a.grad, grad, b.t())
    check_product(b.grad, a.t(), grad)


def test_gradient_with_beta_zero(device):
    a, b, c = (rand(3, 3, device=device, dtype=torch.float64, grad=True, seed=s) for s in range(3))
    tessera.gemm(a, b, beta=0, c=c).sum().backward()
    assert torch.equal(c.grad, torch.zeros_like(c))


OPCHECKS = {
    "plain": lambda d: (OP, (rand(4, 5, device=d), rand(5, 3, device=d)), {}),
    "transposed and sliced": lambda d: (
        OP, (rand(5, 4, device=d).t(), rand(5, 7, device=d)[:, 1:4]), {},
    ),
    "expanded": lambda d: (OP, (rand(4, 5, device=d), rand(5, 1, device=d).expand(5, 3)), {}),
    "options": lambda d: (
        OP,
        (rand(5, 4, device=d), rand(3, 5, device=d), rand(4, 3, device=d)),
        dict(alpha=2.0, beta=0.5, trans_a=True, trans_b=True),
    ),
    "gradients": lambda d: (
        OP,
        (rand(4, 5, device=d, grad=True), rand(5, 3, device=d, grad=True),
         rand(4, 3, device=d, grad=True)),
        dict(beta=1.0),
    ),
    "out": lambda d: (
        OUT_OP, (rand(4, 5, device=d), rand(5, 3, device=d), None, rand(4, 3, device=d)), {},
    ),
    "out and c": lambda d: (
        OUT_OP,
        (rand(4, 5, device=d), rand(5, 3, device=d), rand(4, 3, device=d), rand(4, 3, device=d)),
        dict(beta=2.0),
    ),
    "batch": lambda d: (
        BMM, (rand(2, 4, 5, device=d, grad=True), rand(2, 5, 3, device=d, grad=True)), {},
    ),
    "batch, options": lambda d: (
        BMM,
        (rand(2, 5, 4, device=d, grad=True), rand(2, 3, 5, device=d, grad=True),
         rand(2, 4, 3, device=d, grad=True)),
        dict(alpha=2.0, beta=0.5, trans_a=True, trans_b=True),
    ),
    "batch, out": lambda d: (
        torch.ops.tessera.bmm_out.default,
        (rand(2, 4, 5, device=d), rand(2, 5, 3, device=d), None, rand(2, 4, 3, device=d)), {},
    ),
    "broadcast batch": lambda d: (
        BMM, (rand(2, 4, 5, device=d), rand(5, 3, device=d).expand(2, 5, 3)), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OPCHECKS)
def test_opcheck(device, case):
    op, arguments, keywords = OPCHECKS[case](device)
    results = torch.library.opcheck(op, arguments, keywords)
    assert set(results.values()) == {"SUCCESS"}, results


def test_fake_refuses_what_the_operator_refuses():
    from torch._subclasses.fake_tensor import FakeTensorMode

    a, b = rand(4, 5), rand(5, 3)
    for op, arguments, options, words in (
        (OP, (a, a), {}, "inner sizes"),
        (OP, (a, b), {"beta": 1.0}, "there is no c"),
        (OP, (a, b, b), {"beta": 1.0}, "c is"),
        (OUT_OP, (a, b, None, rand(4, 4)), {}, "out is"),
        (BMM, (a, b), {}, "batches are needed"),
    ):
        with pytest.raises(ValueError, match=words):
            op(*arguments, **options)
        with FakeTensorMode() as mode, pytest.raises(ValueError, match=words):
            op(*(x if x is None else mode.from_tensor(x) for x in arguments), **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fake_strides(device, layout):
    """M2: what tracing believes of the result is what the result is."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    a, b = LAYOUTS[layout](rand(6, 7, device=device)), rand(7, 5, device=device)
    real = OP(a, b)
    with FakeTensorMode() as mode:
        fake = OP(mode.from_tensor(a), mode.from_tensor(b))
    assert (fake.shape, fake.stride(), fake.dtype, fake.device) == (
        real.shape, real.stride(), real.dtype, real.device,
    )  # fmt: skip


def model(x, w, c):
    y = tessera.gemm(x.t(), w[:, 1:], alpha=2.0, beta=1.0, c=c)
    return tessera.matmul(y[:, ::2], y.t()[::2]).relu()


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(device, backend):
    """M2: without graph breaks, on transposed and sliced views, and backwards."""
    inputs = [
        rand(7, 6, device=device, grad=True), rand(7, 6, device=device, grad=True),
        rand(6, 5, device=device, grad=True),
    ]  # fmt: skip
    expected = model(*inputs)
    expected_grads = torch.autograd.grad(expected.sum(), inputs)
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    got = compiled(*inputs)
    assert got.stride() == expected.stride()
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(torch.autograd.grad(got.sum(), inputs), expected_grads)


def test_compile_with_out(device):
    def into(a, b, out):
        return tessera.gemm(a, b, out=out) + 1

    a, b, out = rand(4, 5, device=device), rand(5, 3, device=device), rand(4, 3, device=device)
    torch._dynamo.reset()
    got = torch.compile(into, fullgraph=True, backend="aot_eager")(a, b, out)
    check_product(out, a, b)
    assert torch.equal(got, out + 1)


def test_compile_with_dynamic_shapes(device):
    torch._dynamo.reset()
    compiled = torch.compile(tessera.torch.gemm, fullgraph=True, backend="aot_eager", dynamic=True)
    for m in (3, 8, 13):
        a, b = rand(m, 5, device=device), rand(5, m + 1, device=device)
        check_product(compiled(a, b), a, b)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(device, dtype):
    a, b = rand(4, 5, device=device).to(dtype), rand(5, 3, device=device)
    with torch.autocast(device, dtype=dtype):
        got = tessera.gemm(a, b)
        batch = tessera.matmul(a.expand(2, 4, 5), b.expand(2, 5, 3))
    assert got.dtype == torch.float32 == batch.dtype
    check_product(got, a.float(), b)
    assert torch.equal(batch[1], got)
    with pytest.raises(TypeError, match="float16|bfloat16"):
        tessera.gemm(a, b)


def test_negative_bit_and_views(device):
    z = torch.randn(4, 4, dtype=torch.complex64, device=device)
    a = z.conj().imag  # a float tensor whose values are negated lazily
    assert a.is_neg()
    check_product(tessera.gemm(a, rand(4, 3, device=device)), a.resolve_neg(), rand(4, 3))


def test_verify_of_tensors(device):
    a, b = rand(20, 30, device=device), rand(30, 10, device=device)
    c = tessera.gemm(a, b)
    assert tessera.verify(a, b, c)
    c[3, 4] += 1
    assert not tessera.verify(a, b, c)
