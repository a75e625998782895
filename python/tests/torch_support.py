"""Random tensors, and the comparison of their products."""

import torch
from support import assert_product


def rand(*shape, device="cpu", dtype=torch.float32, seed=0, grad=False):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    x = torch.randn(shape, generator=generator, dtype=dtype).to(device)
    return x.requires_grad_(grad)


def numpy_of(x):
    return x.detach().cpu().numpy()


def check_product(got, a, b, *scalars):
    assert_product(numpy_of(got), numpy_of(a), numpy_of(b), *scalars)
