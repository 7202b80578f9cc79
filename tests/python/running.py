"""Runs a program in a process of its own, with this very interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(program: str, *arguments: str, timeout: float = 30.0) -> subprocess.CompletedProcess[str]:
    """Runs `program` to its end and returns what it printed; every warning in it is an error."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts `program`; its output is to be read by the caller."""
    command = [sys.executable, "-W", "error", "-u", "-c", textwrap.dedent(program), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
