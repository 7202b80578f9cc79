"""Real failures of an ORB: omniORBpy against servers that are dead, frozen, full, resetting and hanging up.

What it throws differs from older documents in one thing: a call that timed out is `TIMEOUT`, and its status says whether
that was while connecting.
"""

from __future__ import annotations

import ctypes
import sys
import traceback
from pathlib import Path

import pytest

import broken_servers as broken
from broken_servers import failure
from hanaming import Action, Category, CompletionStatus, classify

NO, MAYBE = CompletionStatus.NO, CompletionStatus.MAYBE


@pytest.fixture(scope="module")
def orb():
    # The wheel's libraries lie beside the interpreter, where the linker does not look.
    for name in ("omnithread", "omniORB4", "omniCodeSets4", "omniDynamic4"):
        for library in sorted((Path(sys.prefix) / "lib").glob(f"lib{name}.so*"))[:1]:
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    try:
        import omniORB  # noqa: PLC0415
    except ImportError as error:
        pytest.skip(f"no omniORBpy for this Python: a real ORB is not tried ({error})")
    made = omniORB.CORBA.ORB_init([], omniORB.CORBA.ORB_ID)
    yield made
    made.destroy()


def ask(orb, port, limit=broken.LONG):
    sys.modules["omniORB"].setClientCallTimeout(int(limit * 1000))
    return orb.string_to_object(f"corbaloc::127.0.0.1:{port}/orders")._non_existent()


def check(error, category, completion, action, minor):
    assert error.minor == minor
    found = classify(error)
    assert (found.category, found.completion, found.action) == (category, completion, action)
    # The traceback that a program prints says the same.
    printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert "_omni_sys_exc" in printed
    read = classify(printed)
    assert (read.category, read.completion, read.action) == (category, completion, action)


def test_a_dead_server(orb):
    error = failure(ask, orb, broken.closed_port())
    check(error, Category.NOT_CONNECTED, NO, Action.FAILOVER, 0x41540002)


def test_a_frozen_server(orb):
    with broken.serving(broken.frozen) as port:
        error = failure(ask, orb, port, broken.SHORT)
    check(error, Category.NO_RESPONSE, MAYBE, Action.SURFACE, 0x41540008)


@pytest.mark.parametrize("server", [broken.resetting, broken.hanging_up], ids=lambda server: server.__name__)
def test_a_connection_that_breaks(orb, server):
    with broken.serving(server) as port:
        error = failure(ask, orb, port)
    check(error, Category.CONNECTION_LOST, MAYBE, Action.SURFACE, 0x41540007)


def test_connecting_takes_too_long(orb):
    with broken.full() as port:
        error = failure(ask, orb, port, broken.SHORT)
    found = classify(error)
    assert (type(error).__name__, found.completion, found.action) == ("TIMEOUT", NO, Action.FAILOVER)


def test_a_url_that_is_none(orb):
    error = failure(orb.string_to_object, "corbaloc::127.0.0.1:no/orders")
    found = classify(error)
    assert (found.category, found.completion, found.action) == (Category.CONFIGURATION, NO, Action.SURFACE)
