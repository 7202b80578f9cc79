"""`hanaming serve` that ends with the process that started it, however that one ends.

Nobody cleans up after a `kill -9`, so the kernel is asked to: it kills the node when its parent dies, a frozen one too.
Started as `python -m hanaming._node_program PARENT serve …`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Has this process killed when its parent, whose process id is given, has ended; at once where it has already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        raise SystemExit(1)


if __name__ == "__main__":
    end_with(int(sys.argv.pop(1)))
    from hanaming.cli import main

    raise SystemExit(main())
