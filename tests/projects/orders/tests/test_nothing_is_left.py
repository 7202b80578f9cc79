"""A hundred tests with a fresh cluster each leave no thread, socket, process or file."""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from pathlib import Path

import pytest

from hanaming.testing import Cluster


def open_things():
    """Threads, sockets and children of this process, as the kernel lists them."""
    gc.collect()
    sockets = 0
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            sockets += str(Path(f"/proc/self/fd/{fd}").readlink()).startswith("socket")
    threads = os.listdir("/proc/self/task")
    children = [child for task in threads for child in _children(task)]
    return len(threads), sockets, children


def _children(task):
    with suppress(FileNotFoundError):
        return Path(f"/proc/self/task/{task}/children").read_text(encoding="utf-8").split()
    return []


@pytest.fixture(scope="module")
def warm():
    """What a process has once, it has from its first cluster on."""
    with Cluster(1) as cluster, cluster.client() as names:
        names.get("number")


@pytest.fixture
def counted(warm):
    """The same before the cluster of each test and after it."""
    before = open_things()
    yield
    assert open_things() == before


@pytest.mark.parametrize("number", range(100))
def test_a_fresh_cluster(counted, hanaming_client, number):
    hanaming_client.bind("number", number)
    assert hanaming_client.lookup("number") == number
