"""What is told to the interpreter once, when the package is imported."""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence

from hanaming import _native

# A name behaves as a sequence of its components, also for `match` and for `isinstance`.
Sequence.register(_native.Name)

# In the child of a fork no thread of ours runs and every socket is also the parent's: contexts start afresh there.
os.register_at_fork(after_in_child=_native._after_fork)  # noqa: SLF001

# A daemon thread that is inside a call when the interpreter goes must not come back to it.
atexit.register(_native._at_exit)  # noqa: SLF001
