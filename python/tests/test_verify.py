"""verify: right products pass, wrong ones do not, whatever their strides."""

import copy
import pickle

import numpy as np
import pytest
import tessera
from support import LAYOUTS, random


@pytest.mark.parametrize("method", ["freivalds", "full"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_and_wrong(dtype, method):
    a, b = random(1, (60, 50), dtype), random(2, (50, 40), dtype)
    c = tessera.gemm(a, b)
    report = tessera.verify(a, b, c, method=method)
    assert report and report.passed and report.row == -1 and report.method == method
    c[17, 23] += 1
    report = tessera.verify(a, b, c, method=method)
    assert not report
    assert (report.row, report.col) == (17, 23)
    assert report.got == c[17, 23] and abs(report.expected - report.got + 1) < 1e-3
    assert "17" in str(report)
    c[17, 23] = np.nan
    assert not tessera.verify(a, b, c, method=method)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strides(layout):
    a, b, c0 = random(3, (30, 20)), random(4, (20, 25)), random(5, (30, 25))
    c = tessera.gemm(a, b, alpha=2, beta=-1, c=c0)
    lay = LAYOUTS[layout]
    assert tessera.verify(lay(a), lay(b), lay(c), alpha=2, beta=-1, c0=lay(c0))
    assert not tessera.verify(lay(a), lay(b), lay(c), alpha=2, beta=1, c0=lay(c0))


def test_report_is_copied_and_pickled():
    a, b = random(8, (20, 30)), random(9, (30, 25))
    c = tessera.gemm(a, b)
    c[2, 3] += 1
    for report in (tessera.verify(a, b, c), tessera.verify(a, b, c, method="full")):
        for again in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
            assert str(again) == str(report) and not again
            assert (again.row, again.col, again.got) == (2, 3, report.got)


def test_transposes():
    a, b = random(6, (20, 30)), random(7, (25, 20))
    assert tessera.verify(a, b, tessera.gemm(a, b, trans_a=True, trans_b=True), trans_a=True,
                          trans_b=True)
