"""The packaged program: `python -m tessera`, kernels, tune, check."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tessera
from support import assert_product, needs_clang, random

RACY = """\
#define T 16
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (K + T - 1) / T; ++t) {
    int ka = t * T + threadIdx.x, kb = t * T + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[row * K + ka] : 0;
    Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb * N + col] : 0;
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    SECOND_BARRIER
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tessera", *map(str, arguments)], capture_output=True, text=True
    )


def test_module_is_the_program(tmp_path):
    assert run("--version").stdout.startswith("tessera ")
    bad = run("mull")
    assert bad.returncode == 2 and "did you mean" in bad.stderr
    a, b = random(1, (20, 30)), random(2, (30, 10))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    done = run("mul", tmp_path / "a.npy", tmp_path / "b.npy", "-o", tmp_path / "c.npy")
    assert done.returncode == 0 and "PASS" in done.stdout
    assert_product(np.load(tmp_path / "c.npy"), a, b)
    assert run("mul", tmp_path / "none.npy", tmp_path / "b.npy", "-o", "c.npy").returncode == 3


def test_paths():
    assert (Path(tessera.include_dir()) / "tessera" / "tessera.h").is_file()
    assert Path(tessera.program()).is_file()
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", tessera.library_file()], capture_output=True, text=True
    )
    assert " tessera_sgemm\n" in exported.stdout


def test_typed():
    folder = Path(tessera.__file__).parent
    assert (folder / "py.typed").is_file()
    stub = (folder / "_core.pyi").read_text()
    assert "class VerifyReport" in stub and "def gemm(" in stub


def test_kernels():
    kernels = {k.id: k for k in tessera.kernels()}
    naive = kernels["cpu.naive.f32"]
    assert (naive.backend, naive.family, naive.dtype, naive.stem) == (
        "cpu", "naive", "float32", "c01_naive",
    )  # fmt: skip
    assert naive.summary and naive.limits
    assert kernels["cpu.blocked.bf16"].dtype == "bfloat16"
    assert kernels["cpu.blocked.f16"].dtype == "float16"


def test_tune(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_TUNE_CACHE", str(tmp_path / "tune.json"))
    (shape,) = tessera.tune((32, 24, 16), device="cpu", budget_s=10, seconds=0.01)
    assert (shape.m, shape.n, shape.k, shape.ops, shape.dtype) == (32, 24, 16, "NN", "float32")
    passed = [k for k in shape.kernels if k.disposition == "passed"]
    assert shape.winner in [k.id for k in passed] and all(k.median_s > 0 for k in passed)
    a, b = random(3, (32, 16)), random(4, (16, 24))
    assert_product(tessera.gemm(a, b, kernel=shape.winner), a, b)
    with pytest.raises(ValueError, match="nonsense"):
        tessera.tune((32, 24, 16), kernels=["nonsense"])
    fast = dict(device="cpu", budget_s=10, seconds=0.01)
    for dtype in (np.float64, np.dtype("f8"), "f64"):
        (shape,) = tessera.tune((8, 8, 8), dtype=dtype, kernels="cpu.naive", **fast)
        assert shape.dtype == "float64" and "cpu.naive.f64" in [k.id for k in shape.kernels]


def test_tune_refuses():
    for shapes in ((), ((1, 2),), (64, 64, 64), ((1, 2, -3),), ("abc",)):
        with pytest.raises(ValueError, match=r"each must be \(m, n, k\)"):
            tessera.tune(*shapes)
    with pytest.raises(ValueError, match="dtype is float16: it must be float32 or float64"):
        tessera.tune((8, 8, 8), dtype=np.float16)


@needs_clang
def test_check_finds_a_race():
    report = tessera.check(RACY.replace("SECOND_BARRIER", ""), gemm=(40, 40, 40))
    assert not report
    (finding,) = [f for f in report.findings if f.array == "As"]
    assert finding.rule == "shared-write-after-read"
    assert finding.place.line == 8 and finding.other_place.line == 11
    assert "__syncthreads" in finding.remedy
    assert "source.cu:8: shared-write-after-read" in str(report)


@needs_clang
def test_check_of_a_right_file(tmp_path):
    path = tmp_path / "tiled.cu"
    path.write_text(RACY.replace("SECOND_BARRIER", "__syncthreads();"))
    report = tessera.check(path, gemm=(33, 18, 40))
    assert report and report.findings == [] and report.json["launches"]
    assert report.text and "source" not in str(report.findings)


@needs_clang
def test_check_of_what_does_not_compile():
    with pytest.raises(RuntimeError, match="error: .*nonsense"):
        tessera.check("__global__ void f(float* p) {\n  nonsense(p);\n}\n", gemm=(4, 4, 4))
    with pytest.raises(ValueError, match="no_such.cu"):
        tessera.check("no_such.cu")


def test_check_refuses(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("")
    for gemm in ((5, 6), 5, "5,6,7"):
        with pytest.raises(ValueError, match=r"gemm is .*: it must be \(m, n, k\)"):
            tessera.check(path, gemm=gemm)
    for name in ("args", "flags"):
        with pytest.raises(TypeError, match=f"{name} is '-DX': it must be a sequence of str"):
            tessera.check(path, **{name: "-DX"})


@needs_clang
def test_check_of_a_name_that_begins_with_a_dash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-k.cu").write_text(RACY.replace("SECOND_BARRIER", "__syncthreads();"))
    assert tessera.check("-k.cu", gemm=(16, 16, 16))


def test_every_public_name_says_what_it_is():
    """Also the fields of what the binding returns have a type in the stub."""
    for name in tessera.__all__:
        assert getattr(tessera, name).__doc__, name
    stub = (Path(tessera.__file__).parent / "_core.pyi").read_text()
    for field in ("passed", "rounds", "worst_ratio", "row", "col", "expected", "got", "bound"):
        assert f"def {field}(self) -> " in stub


def test_import_is_light():
    """Neither PyTorch nor another array library is imported before it is used."""
    code = "import sys, tessera; print([m for m in ('torch', 'jax', 'cupy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"
