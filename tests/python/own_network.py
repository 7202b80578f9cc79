"""Tests in a network of their own: a namespace with nothing in it but its loopback interface.

What is multicast there reaches nobody else, and nothing from elsewhere reaches it; what is mounted there is seen by nobody
else. A test's body runs in a process of its own within; it takes root, `unshare` and `ip`.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_LIMIT = 60.0
_PROGRAMS = {name: shutil.which(name) or name for name in ("unshare", "ip")}


def why_not() -> str | None:
    """What is missing here."""
    if os.geteuid() != 0:
        return "a network namespace needs root"
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (apt-get install util-linux iproute2)"
    tried = subprocess.run(
        [_PROGRAMS["unshare"], "--net", "--mount", "true"], capture_output=True, text=True, check=False
    )
    return f"a network namespace cannot be made here: {tried.stderr.strip()}" if tried.returncode else None


def needed() -> pytest.MarkDecorator:
    """Skips, visibly, where there can be no such network; in CI that is an error."""
    reason = why_not() if os.environ.get("CI") != "true" else None
    return pytest.mark.skipif(reason is not None, reason=str(reason))


def alone(body: Callable[..., None]) -> Callable[..., None]:
    """The test runs in a network of its own. Its arguments are such as JSON has."""

    @functools.wraps(body)
    def test(**arguments: Any) -> None:
        command = [
            _PROGRAMS["unshare"],
            *("--net", "--mount"),
            sys.executable,
            __file__,
            body.__module__,
            body.__name__,
            json.dumps(arguments),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_LIMIT, cwd=Path(__file__).parent
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return test


def ip(*words: str) -> None:
    """Runs `ip`."""
    subprocess.run([_PROGRAMS["ip"], *words], check=True)


def add_interface(name: str, *addresses: str) -> None:
    """Adds an interface, which leads to another one here."""
    ip("link", "add", name, "type", "veth", "peer", "name", f"{name}-end")
    for end in (name, f"{name}-end"):
        ip("link", "set", end, "up")
    for address in addresses:
        ip("address", "add", address, "dev", name, *(["nodad"] if ":" in address else []))


if __name__ == "__main__":
    ip("link", "set", "lo", "up")
    module, name, arguments = sys.argv[1:]
    getattr(importlib.import_module(module), name).__wrapped__(**json.loads(arguments))
