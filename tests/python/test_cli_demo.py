"""`hanaming demo`: no call fails, nothing is lost, and no process is left, however it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import pytest

from cli_support import HANAMING, LIMIT, environment, eventually, run
from hanaming import LinkRef
from hanaming.demo.catalogue import Catalogue, followed

FAULTS = ["all is well", "kill -9 n1", "n1 comes back", "freeze n2", "n2 wakes", "quiesce n3", "n3 comes back"]
WRITING = ["all is well", "kill -9 n2 and n3", "n2 and n3 come back", "kill -9 all, start again"]


def test_no_lookup_fails_while_nodes_are_broken(tmp_path):
    told = run("demo", "--seconds", "1", "--json", env={"TMPDIR": str(tmp_path)})
    assert told.status == 0, told.err
    figures = json.loads(told.out)
    assert [chapter["title"] for chapter in figures["chapters"]] == FAULTS
    for chapter in figures["chapters"]:
        assert chapter["lookups"] > 0
        assert chapter["failed"] == 0
    assert set(figures["total"]["nodes"]) == {"n1", "n2", "n3"}
    assert {"local", "peer"} <= set(figures["total"]["steps"])
    assert figures["unexpected"] == []
    writing = figures["cluster_tree"]
    assert [chapter["title"] for chapter in writing] == WRITING
    for chapter in writing[:-1]:
        assert chapter["acknowledged"] > 0
        assert chapter["failed"] == 0
    # Each node has as many names as the others, and none is fewer later.
    counts = [set(chapter["names"].values()) for chapter in writing]
    assert counts[1] - {"-"} != counts[1]
    assert all(len(count - {"-"}) == 1 for count in counts)
    assert counts[-1] == counts[-2]
    assert "killed all three (kill -9) and started them again from their disks; their trees are equal" in folded(
        told.err
    )
    assert not alive(told.err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_nothing(number, tmp_path):
    # What a process ignores its children ignore, and these tests may run under nohup.
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
    try:
        process = start_demo(tmp_path)
    finally:
        signal.signal(number, before)
    try:
        interrupted(process, number)
        assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("moment", ["clients look up", "froze n2"])
def test_killed_it_leaves_no_process(moment, tmp_path):
    process = start_demo(tmp_path)
    try:
        said = read_until(process, moment)
        assert len(alive(said)) == 3 if moment == "clients look up" else alive(said)
    finally:
        process.kill()
        process.communicate()
    eventually(lambda: not alive(said))


def start_demo(folder):
    given = environment(TMPDIR=str(folder))
    command = [*HANAMING, "demo", "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given)


def read_until(process, moment):
    said = ""
    while moment not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def interrupted(process, number):
    said = read_until(process, "clients look up")
    assert len(alive(said)) == 3
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    eventually(lambda: not alive(said))


def test_the_catalogue():
    catalogue = Catalogue.load()
    names = catalogue.everything
    assert 190 <= len(names) <= 210
    assert len(names) == len(catalogue.both) + len(catalogue.first) + len(catalogue.second)
    links = {name: value.target for name, value in names.items() if isinstance(value, LinkRef)}
    assert any(target.startswith("./") for target in links.values())
    # Each leads somewhere, and some from one node's tree into the other's.
    ends = {name: followed(names, name) for name in links}
    for end in ends.values():
        assert end in names or any(name.startswith(f"{end}/") for name in names)
    assert any(name in catalogue.first and end in catalogue.second for name, end in ends.items())
    assert any(name in catalogue.second and end in catalogue.first for name, end in ends.items())
    # What is looked up during the faults needs nothing that one node alone has.
    assert all(followed(names, name) in catalogue.both for name in catalogue.both)


def folded(text):
    """On one line, as it was before it was wrapped."""
    return re.sub(r"\s+", " ", text)


def alive(text):
    """Which of the processes that the demo named are still there."""
    left = []
    for pid in map(int, re.findall(r"\(process (\d+)\)", text)):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        left.append(pid)
    return left
