"""What hanaming's Rust threads have to say, in `logging`.

Off until [`enable`](#hanaming.log.enable). Rust threads never call Python: they put their records into a bounded
queue, and one daemon thread of Python hands them to `logging`. Where the queue is full, records are dropped and
counted, and the count is logged.
"""

from __future__ import annotations

import logging
import os
import threading

from hanaming import _native

__all__ = ["disable", "enable"]

_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, 5)
_lock = threading.Lock()
_drain: tuple[int, threading.Thread] | None = None


def enable(level: int = logging.INFO, *, logger: str = "hanaming") -> None:
    """From now on, hand records of `level` and above to `logging`.

    Args:
        level: One of `logging`'s levels; the records' own loggers may be stricter.
        logger: Under which logger the records go; each adds its module, as in `hanaming.server.session`.
    """
    global _drain  # noqa: PLW0603
    with _lock:
        _native.log_level(sum(level <= known for known in _LEVELS))
        # A thread does not survive a fork.
        if _drain is None or _drain[0] != os.getpid():
            thread = threading.Thread(target=_run, args=(logger,), name="hanaming-log", daemon=True)
            _drain = (os.getpid(), thread)
            thread.start()


def disable() -> None:
    """No more records."""
    _native.log_level(0)


def _run(logger: str) -> None:
    while True:
        records, dropped = _native.log_records()
        for level, target, message in records:
            name = target.replace("::", ".").removeprefix("hanaming.")
            logging.getLogger(f"{logger}.{name}").log(_LEVELS[level], "%s", message)
        if dropped:
            logging.getLogger(logger).warning("%d log records were dropped: the queue was full", dropped)
