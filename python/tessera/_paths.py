"""Where the parts of the package lie."""

from pathlib import Path

from . import _core

_HERE = Path(__file__).parent


def program() -> str:
    """The path of the command line, the same program as ``tessera`` of a CMake installation."""
    return str(_HERE / "bin" / "tessera")


def include_dir() -> str:
    """The folder of the C and C++ headers (``#include "tessera/tessera.h"``)."""
    return str(_HERE / "include")


def library_file() -> str:
    """A shared object that exports the C interface of ``tessera/tessera.h``, to link against."""
    return str(_core.__file__)
