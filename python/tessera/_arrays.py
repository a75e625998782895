"""What differs between array libraries: telling them apart, and dense copies."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_ROOTS = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}


def library_of(*arrays: Any) -> str:
    """ "torch", "cupy" or "jax" when one of the arrays is of that library, else "numpy"."""
    for array in arrays:
        for kind in type(array).__mro__:
            library = _ROOTS.get(kind.__module__.partition(".")[0])
            if library is not None:
                return library
    return "numpy"


def packed(array: Any) -> Any:
    """A dense row-major copy; called where no leading dimension can say the layout of ``array``."""
    if library_of(array) == "cupy":
        return sys.modules["cupy"].array(array, order="C", copy=True)
    # A copy in any case: an array may be contiguous and yet begin at an odd address.
    return np.array(array, order="C", copy=True)
