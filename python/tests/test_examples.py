"""examples/load_inline.py and the notebook, run as they are."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import needs_clang

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOK = EXAMPLES / "exercise.ipynb"

ANSWERS = {
    "blank_1": """
    s_a[ty][tx] = row < M && t * kTile + tx < K ? A[row * K + t * kTile + tx] : 0.0f;
    s_b[ty][tx] = t * kTile + ty < K && col < N ? B[(t * kTile + ty) * N + col] : 0.0f;
""",
    "blank_2": "    __syncthreads();",
    "blank_3": "    for (int k = 0; k < kTile; ++k) sum += s_a[ty][k] * s_b[k][tx];",
    "blank_4": "    __syncthreads();",
}


def run_notebook(capsys, answers):
    """Runs the cells in order; a cell that sets a blank gets its answer."""
    names = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
        names.update({name: text for name, text in answers.items() if name in names})
    return names, capsys.readouterr().out


@needs_clang
def test_notebook_as_it_is(capsys):
    names, output = run_notebook(capsys, {})
    assert [b["state"] for b in names["judgement"]["blanks"]] == ["empty"] * 4
    assert "not solved yet" in output and "left out" in output


@needs_clang
def test_notebook_without_the_second_barrier(capsys):
    names, output = run_notebook(capsys, {k: v for k, v in ANSWERS.items() if k != "blank_4"})
    states = [b["state"] for b in names["judgement"]["blanks"]]
    assert states == ["right", "right", "right", "empty"]
    assert "shared-write-after-read" in output


@needs_clang
def test_notebook_solved(capsys):
    names, output = run_notebook(capsys, ANSWERS)
    assert names["judgement"]["solved"] and not names["report"].findings
    assert "WRONG" not in output


def test_notebook_speaks_both_languages():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "markdown" and len(cell["source"]) > 1:
            assert any("\u4e00" <= ch <= "\u9fff" for ch in "".join(cell["source"]))
            assert any(ch.isascii() and ch.isalpha() for ch in "".join(cell["source"]))


def load_inline(*arguments, **environment):
    return subprocess.run(
        [sys.executable, EXAMPLES / "load_inline.py", *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


def test_load_inline_without_a_gpu():
    done = load_inline(CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    assert "no GPU" in done.stdout or "PyTorch is not installed" in done.stdout


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here")
def test_load_inline_with_a_broken_build(tmp_path):
    """The compiler's own message, and exit code 1. (A compiler that fails at once: a real one
    takes minutes for PyTorch's headers; tests/python_gpu_test.sh has that.)"""
    pytest.importorskip("torch")
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\necho 'fatal error: broken on purpose' >&2\nexit 1\n")
    compiler.chmod(0o755)
    done = load_inline(
        "--build-only", CXX=str(compiler), MAX_JOBS="1", TORCH_EXTENSIONS_DIR=str(tmp_path)
    )
    assert done.returncode == 1
    assert "could not be built" in done.stderr and "fatal error: broken on purpose" in done.stderr
