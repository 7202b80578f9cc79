"""What a test leaves in this process: threads, descriptors and folders that were not there before it.

Only what is *new* counts, and it may take a moment to go: a count before and after would be wrong wherever a thread or a
connection of the test before is just ending.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from waiting import until


@contextlib.contextmanager
def nothing_left_behind(folder: Path | None = None) -> Iterator[None]:
    """Fails where a thread, a descriptor or something in the folder that came within the block stays after it."""
    known, before = set(threading.enumerate()), _there(folder)

    def new() -> str:
        threads = [thread.name for thread in threading.enumerate() if thread not in known]
        return ", ".join([*threads, *(_there(folder) - before).elements()])

    yield
    gc.collect()
    with contextlib.suppress(AssertionError):
        until(lambda: not new(), "all has gone")
    assert not new(), f"left behind: {new()}"


def _there(folder: Path | None) -> Counter[str]:
    """The kernel's threads by name, since those of Rust are unknown to Python; descriptors by what they are open for."""
    threads = [_text(task / "comm") for task in Path("/proc/self/task").iterdir()]
    files = [_target(Path("/proc/self/fd", number)) for number in os.listdir("/proc/self/fd")]
    return Counter([*filter(None, threads), *filter(None, files), *(os.listdir(folder) if folder else [])])


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):  # the thread has ended meanwhile
        return f"thread {path.read_text(encoding='utf-8').strip()}"
    return ""


def _target(descriptor: Path) -> str:
    with contextlib.suppress(OSError):  # that of the listing itself
        return str(descriptor.readlink())
    return ""
