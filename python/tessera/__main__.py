"""``python -m tessera``: the command line, in place of this process."""

import os
import sys

from ._paths import program


def main() -> None:
    path = program()
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tessera: {path} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()
