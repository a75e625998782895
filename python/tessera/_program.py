"""Runs the packaged program and reads its JSON."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from ._paths import program

# Exit codes of docs/cli.md.
_USAGE, _BAD_INPUT, _CANNOT_RUN = 2, 3, 4


def run_json(arguments: list[str], accepted: tuple[int, ...]) -> tuple[int, Any]:
    """Exit code and JSON of ``tessera ARGUMENTS``; raises what the code stands for.

    Ctrl-C reaches the program too, since it shares the terminal; it cleans up and ends.
    """
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode in accepted:
        return done.returncode, json.loads(done.stdout)
    message = done.stderr.strip() or f"tessera: exit code {done.returncode}"
    if done.returncode in (_USAGE, _BAD_INPUT):
        raise ValueError(message)
    if done.returncode == _CANNOT_RUN:
        raise RuntimeError(message)
    if done.returncode in (130, -2):
        raise KeyboardInterrupt
    raise RuntimeError(message)
