"""Arguments that are no arrays: numbers, switches and names, with errors that say which."""

from __future__ import annotations

from typing import Any

# How the binding's own message begins when an argument is of a type that it does not take.
_UNFIT = "incompatible function arguments"


def is_unfit(error: TypeError) -> bool:
    """Whether the binding took none of the arguments, so that nothing was done."""
    return _UNFIT in str(error)


def number(operation: str, name: str, value: Any) -> float:
    if isinstance(value, (int, float)):
        return value
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"{operation}: {name} requires a gradient: it is a constant here, detach it"
        )
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{operation}: {name} is {_shown(value)}: it must be a real number")


def integer(operation: str, name: str, value: Any) -> int:
    try:
        return value.__index__()
    except AttributeError:
        pass
    raise TypeError(f"{operation}: {name} is {_shown(value)}: it must be a whole number")


def switch(operation: str, name: str, value: Any) -> bool:
    # A str would count as true: "N", which BLAS has for "not transposed", too.
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(f"{operation}: {name} is {_shown(value)}: it must be True or False")
    return bool(value)


def text(operation: str, name: str, value: Any, default: str | None = None) -> str:
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise TypeError(f"{operation}: {name} is {_shown(value)}: it must be a str")
    return value


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 and "\n" not in shown else f"of type {type(value).__name__}"
