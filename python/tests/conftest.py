"""Which devices there are; tests of PyTorch take one each."""

import pytest

try:
    import torch
except ImportError:
    torch = None

DEVICES = ["cpu"]
if torch is not None:
    import tessera

    if torch.cuda.is_available() and any(k.backend == "cuda" for k in tessera.kernels()):
        DEVICES.append("cuda")


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", DEVICES)


def pytest_report_header():
    return f"torch: {torch.__version__ if torch else 'none'}; devices: {', '.join(DEVICES)}"
