"""Faults in a CUDA kernel, found on the CPU."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._program import run_json

_CLEAN, _FAULT = 0, 6


@dataclass(frozen=True)
class Place:
    """Where in the source; 0 is unknown."""

    file: str
    line: int
    column: int
    function: str


@dataclass(frozen=True)
class Finding:
    """A fault."""

    rule: str  # such as "shared-write-after-read"
    message: str
    remedy: str
    kernel: str
    place: Place
    other_place: Place | None  # the other access of a race
    array: str
    element: str
    count: int

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Warning:
    """Access that is right but slow."""

    rule: str
    message: str
    remedy: str
    array: str
    place: Place


@dataclass(frozen=True)
class CheckReport:
    """What a check found; true when there is no finding.

    ``json`` is everything that ``tessera check --json`` says (docs/checker-json.md), with
    ``json["exercise"]`` for an answer to the exercise.
    """

    findings: list[Finding]
    warnings: list[Warning]
    text: str  # the verdict
    json: dict[str, Any]

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.text])


def check(
    source: str | os.PathLike[str],
    *,
    gemm: tuple[int, int, int] | None = None,
    kernel: str | None = None,
    args: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> CheckReport:
    """Run a CUDA program, or a kernel as a matrix product, on the CPU and report its faults.

    source: a path, or the text of the source: a str that holds a line break.
    gemm:   (m, n, k) of the product that a lone kernel is run on.
    kernel: which kernel, "tiled" or "tiled<16>".
    args:   more options of ``tessera check``, such as ("--block", "16,16").
    flags:  for the compiler, such as ("-DTILE=16",).

    Needs clang, and no GPU. Raises ValueError for a source that cannot be read or options that
    make no sense, RuntimeError with the compiler's message for one that does not compile.
    """
    if isinstance(source, str) and "\n" in source:
        with tempfile.TemporaryDirectory(prefix="tessera-check-") as folder:
            path = Path(folder) / "source.cu"
            path.write_text(source, encoding="utf-8")
            return check(path, gemm=gemm, kernel=kernel, args=args, flags=flags)
    for name, value in (("args", args), ("flags", flags)):
        if isinstance(value, (str, bytes)):
            raise TypeError(f"check: {name} is {value!r}: it must be a sequence of str")
    path = os.fsdecode(source)
    # A name that begins with a dash would be taken for an option.
    command = ["check", "--json", f"./{path}" if path.startswith("-") else path]
    if gemm is not None:
        if isinstance(gemm, (str, int)) or len(gemm) != 3:
            raise ValueError(f"check: gemm is {gemm!r}: it must be (m, n, k)")
        command += ["--gemm", ",".join(map(str, gemm))]
    if kernel is not None:
        command += ["--kernel", kernel]
    command += args
    if flags:
        command += ["--", *flags]
    _, report = run_json(command, (_CLEAN, _FAULT))
    return CheckReport(
        findings=[_finding(entry) for entry in report["findings"]],
        warnings=[
            Warning(w["rule"], w["message"], w["remedy"], w["array"], Place(**w["place"]))
            for w in report["warnings"]
        ],
        text=report["verdict"]["text"],
        json=report,
    )


def _finding(entry: dict[str, Any]) -> Finding:
    other = entry.get("other_place")
    return Finding(
        rule=entry["rule"],
        message=entry["message"],
        remedy=entry["remedy"],
        kernel=entry["kernel"],
        place=Place(**entry["place"]),
        other_place=Place(**other) if other else None,
        array=entry["array"],
        element=entry["element"],
        count=entry["count"],
    )
