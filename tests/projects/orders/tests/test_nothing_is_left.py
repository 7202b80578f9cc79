"""A hundred tests with a fresh cluster each leave no thread, socket, process or file."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from hanaming.testing import Cluster


def open_things():
    """Threads by name, sockets and children of this process, as the kernel lists them."""
    gc.collect()
    things = Counter()
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            file = str(Path(f"/proc/self/fd/{fd}").readlink())
            things[file] += file.startswith("socket")
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):
            things.update(f"process {child}" for child in (task / "children").read_text(encoding="utf-8").split())
            things[f"thread {(task / 'comm').read_text(encoding='utf-8').strip()}"] += 1
    return things


@pytest.fixture(scope="module")
def warm():
    """What a process has once, it has from its first cluster on."""
    with Cluster(1) as cluster, cluster.client() as names:
        names.get("number")


@pytest.fixture
def counted(warm):
    """Nothing new is there after each test; what goes may take a moment."""
    before = open_things()
    yield
    end = time.monotonic() + 10
    while (new := open_things() - before) and time.monotonic() < end:
        time.sleep(0.01)
    assert not new


@pytest.mark.parametrize("number", range(100))
def test_a_fresh_cluster(counted, hanaming_client, number):
    hanaming_client.bind("number", number)
    assert hanaming_client.lookup("number") == number
