"""CUDA only: streams, devices, graphs. M1 and M4 of the cases; skipped without a GPU."""

import pytest

torch = pytest.importorskip("torch")

import tessera  # noqa: E402
import tessera.torch  # noqa: E402
from support import assert_product  # noqa: E402

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or not any(k.backend == "cuda" for k in tessera.kernels()),
    reason="no GPU, or no CUDA kernels in this build",
)

# A shape for plain kernels, and those whose kernels want scratch memory: deep, and large.
SHAPES = [(64, 64, 64), (256, 256, 16384), (1024, 1024, 1024), (2048, 2048, 2048)]


def rand(*shape, device="cuda", seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device)


def check(got, a, b):
    assert tessera.verify(a, b, got)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_side_stream(shape):
    """M1: on the stream that is current, after what is enqueued there and nowhere else."""
    m, n, k = shape
    host_a, b = rand(m, k, device="cpu"), rand(k, n, seed=1)
    a = torch.full((m, k), torch.nan, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # about 0.1 s
        a.copy_(host_a, non_blocking=True)
        got = tessera.gemm(a, b)
        total = got.sum()
    stream.synchronize()
    assert torch.isfinite(total)
    check(got, host_a, b)


def test_default_stream_is_not_waited_for():
    a, b = rand(64, 64), rand(64, 64, seed=1)
    tessera.gemm(a, b)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    torch.cuda._sleep(2_000_000_000)  # on the default stream, about a second
    with torch.cuda.stream(stream):
        got = tessera.gemm(a, b)
        done = stream.record_event()
    done.synchronize()
    busy = not torch.cuda.default_stream().query()
    torch.cuda.synchronize()
    assert busy
    check(got, a, b)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_graph(shape):
    """M4: captured without a call before, replayed ten times, memory flat."""
    m, n, k = shape
    a, b = rand(m, k), rand(k, n, seed=1)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        got = tessera.gemm(a, b)
    used = []
    for seed in range(10):
        a.copy_(rand(m, k, seed=seed + 2))
        got.fill_(torch.nan)
        graph.replay()
        torch.cuda.synchronize()
        used.append((torch.cuda.memory_reserved(), torch.cuda.mem_get_info()[0]))
        check(got, a, b)
    assert len(set(used)) == 1, used


def test_ten_captures_leave_memory_flat():
    a, b = rand(256, 16384), rand(16384, 256, seed=1)
    free = []
    for _ in range(10):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = tessera.gemm(a, b)
        graph.replay()
        torch.cuda.synchronize()
        check(got, a, b)
        del got, graph
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        free.append(torch.cuda.mem_get_info()[0])
    assert len(set(free[1:])) == 1, free


def test_eager_memory_is_pytorchs():
    """Scratch memory comes from PyTorch's allocator: nothing else of the device is taken."""
    a, b = rand(256, 16384), rand(16384, 256, seed=1)
    tessera.gemm(a, b)
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved()
    for _ in range(20):
        tessera.gemm(a, b)
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() == before


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU only")
def test_other_device():
    """M1: a tensor on GPU 1 while GPU 0 is current."""
    a, b = rand(300, 200, device="cuda:1"), rand(200, 100, device="cuda:1", seed=1)
    got = tessera.gemm(a, b)
    assert got.device == torch.device("cuda:1") and torch.cuda.current_device() == 0
    check(got, a, b)
    with pytest.raises(ValueError, match="a is on cuda:1 and b on cuda:0"):
        tessera.gemm(a, b.to("cuda:0"))


def test_mixed_devices_are_refused():
    with pytest.raises(ValueError, match="a is on cuda:0 and b on cpu"):
        tessera.gemm(rand(3, 3), rand(3, 3, device="cpu"))


def test_shared_gemm_cuda():
    torch.manual_seed(42)
    a, b = torch.randn(1024, 1024).cuda(), torch.randn(1024, 1024).cuda()
    got = tessera.torch.shared_gemm_cuda(a, b)
    assert (got - a @ b).abs().max() < 1e-2
    with pytest.raises(TypeError, match="torch.float32"):
        tessera.torch.shared_gemm_cuda(a.double(), b.double())


def test_every_cuda_kernel():
    a, b = rand(260, 132), rand(132, 260, seed=1)
    ran = 0
    for kernel in tessera.kernels():
        if kernel.backend != "cuda":
            continue
        dtype = getattr(torch, kernel.dtype)
        x, y = a.to(dtype), b.to(dtype)
        try:
            got = tessera.gemm(x, y, kernel=kernel.id)
        except NotImplementedError:
            continue
        check(got, x, y)
        ran += 1
    assert ran >= 10


def test_numpy_on_the_gpu():
    a, b, c = (rand(*s, device="cpu", seed=i).numpy() for i, s in enumerate(
        [(33, 40), (40, 27), (33, 27)]))  # fmt: skip
    assert_product(tessera.gemm(a, b, device="cuda"), a, b)
    got = tessera.gemm(a[::2], b, alpha=2, beta=3, c=c[::2], device="cuda:0")
    assert_product(got, a[::2], b, 2, 3, c[::2])
