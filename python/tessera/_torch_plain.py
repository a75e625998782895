"""Which calls with tensors need nothing of PyTorch's dispatcher, and so need not wait for it.

The dispatcher and its Python kernels take several times as long as a small product. A call is plain
when nothing there would act on it: no gradient, no autocast, no tracing, no transform, no mode, no
lazy negation, no subclass. Dispatch keys say all of that; whatever is not known to be plain is not.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad

_keys = torch._C._dispatch_keys
_included = torch._C._dispatch_tls_local_include_set
_excluded = torch._C._dispatch_tls_local_exclude_set


def _dense_keys() -> set[int]:
    """Those of an ordinary dense tensor on each device."""
    key = torch._C.DispatchKey
    devices = (
        (key.CPU, key.AutogradCPU, key.AutocastCPU),
        (key.CUDA, key.AutogradCUDA, key.AutocastCUDA),
    )
    known = set()
    for device in devices:
        keys = torch._C.DispatchKeySet(key.ADInplaceOrView)
        for one in device:
            keys = keys | torch._C.DispatchKeySet(one)
        known.add(keys.raw_repr())
    return known


_DENSE = _dense_keys()
# As they are when no mode and no transform is on: this module is imported by the package's users.
_INCLUDED = _included().raw_repr()
_EXCLUDED = _excluded().raw_repr()


def is_plain(a: Tensor, b: Tensor) -> bool:
    """Whether a product of a and b may be computed without the dispatcher."""
    return (
        type(a) is Tensor
        and type(b) is Tensor
        and not (torch.is_grad_enabled() and (a.requires_grad or b.requires_grad))
        and (keys := _keys(a).raw_repr()) in _DENSE
        and _keys(b).raw_repr() == keys
        and _included().raw_repr() == _INCLUDED
        and _excluded().raw_repr() == _EXCLUDED
        and forward_ad._current_level < 0
    )
