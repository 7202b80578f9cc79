"""Data folders: what a process that was killed had acknowledged is there when it is started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

import hanaming.aio
from cli_support import LIMIT, Served, eventually, run, serving
from hanaming import ConfigurationError, HAContext, NamingError, Node, ServiceUnavailableError


def status(node):
    return json.loads(run("status", "--json", provider=node.url).out)


@pytest.mark.parametrize("of", [str, Path])
def test_a_node_has_its_names_again(tmp_path, of):
    folder = of(tmp_path / "data")
    for value in (None, 1, 2):
        with Node("n1", data_dir=folder) as node, node.context() as ctx:
            assert ctx.get("a/b") == value
            ctx.rebind("a/b", (value or 0) + 1, create_parents=True)


def test_an_asynchronous_node_has_its_names_again(tmp_path):
    async def main():
        for value in (None, 1):
            async with hanaming.aio.Node("n1", data_dir=tmp_path / "data") as node:
                ctx = node.context()
                assert await ctx.get("a") == value
                await ctx.rebind("a", 1)

    asyncio.run(main())


def test_a_folder_has_one_node_and_one_name(tmp_path):
    with Node("n1", data_dir=tmp_path), pytest.raises(ConfigurationError, match="is in use by the node of process"):
        Node("n1", data_dir=tmp_path)
    with pytest.raises(ConfigurationError, match="that of node n1 of the cluster 'default', not of node n2"):
        Node("n2", data_dir=tmp_path)
    with pytest.raises(TypeError):
        Node("n1", data_dir=3)


def test_two_processes_on_one_folder(tmp_path):
    with serving("--name", "n1", "--data-dir", str(tmp_path)) as node:
        refused = run("serve", "--name", "n1", "--listen", "127.0.0.1:0", "--data-dir", str(tmp_path))
        assert refused.status == 2
        assert f"in use by the node of process {node.process.pid}" in refused.err
        assert status(node)["settings"]["data_dir"] == {"value": str(tmp_path), "source": "flag"}


def test_the_folder_comes_from_the_file_or_the_environment(tmp_path):
    config = tmp_path / "node.toml"
    config.write_text(f'name = "n1"\ndata_dir = "{tmp_path / "from-file"}"\n', encoding="utf-8")
    other = {"HANAMING_DATA_DIR": str(tmp_path / "from-environment")}
    with serving("--config", str(config), env=other):
        assert (tmp_path / "from-file" / "tree.redb").exists()
    with serving("--name", "n1", env=other):
        assert (tmp_path / "from-environment" / "tree.redb").exists()


class Writer(threading.Thread):
    """Writes until it is stopped, and knows what was acknowledged."""

    def __init__(self, providers, name):
        super().__init__()
        self.providers, self.base = providers, name
        self.acknowledged = {}
        self.stopped = threading.Event()

    def run(self):
        with HAContext(self.providers, timeout=2.0) as ctx:
            number = 0
            while not self.stopped.is_set():
                name = f"{self.base}-{number}"
                with contextlib.suppress(NamingError):
                    ctx.rebind(name, number)
                    self.acknowledged[name] = number
                number += 1


def writing(providers, count=4):
    writers = [Writer(providers, f"w{number}") for number in range(count)]
    for writer in writers:
        writer.start()
    return writers


def acknowledged(writers):
    for writer in writers:
        writer.stopped.set()
    known = {}
    for writer in writers:
        writer.join(LIMIT)
        known.update(writer.acknowledged)
    return known


def missing(provider, names):
    with HAContext(provider, timeout=10.0) as ctx:
        found = ctx.lookup_many(list(names))
    return {name for name, value in names.items() if found.get(name) != value}


def test_what_a_killed_node_acknowledged_is_there(tmp_path):
    known = {}
    for _ in range(3):
        with serving("--name", "n1", "--data-dir", str(tmp_path)) as node:
            assert missing(node.url, known) == set()
            writers = writing([node.url])
            eventually(lambda writers=writers: sum(len(writer.acknowledged) for writer in writers) > 100)
            node.signal(signal.SIGKILL)
            node.wait()
            # Names are written anew in each round: the values of earlier ones are replaced by equal ones.
            known.update(acknowledged(writers))
    with serving("--name", "n1", "--data-dir", str(tmp_path)) as node:
        assert missing(node.url, known) == set()


def dump(node):
    return run("ls", "-r", provider=node.url).out


def test_three_nodes_killed_one_after_the_other_and_started_together(tmp_path):
    addresses = []
    with contextlib.ExitStack() as stack:
        nodes = []
        for number in range(3):
            seeds = [part for address in addresses for part in ("--seed", address)]
            arguments = ["--name", f"n{number}", "--data-dir", str(tmp_path / str(number)), *seeds]
            nodes.append(stack.enter_context(serving(*arguments)))
            addresses.append(nodes[-1].address)
        writers = writing([node.url for node in nodes])
        for node in nodes:
            before = sum(len(writer.acknowledged) for writer in writers)
            eventually(lambda before=before: sum(len(writer.acknowledged) for writer in writers) > before + 50)
            node.signal(signal.SIGKILL)
            node.wait()
        known = acknowledged(writers)
    # On the addresses that they had, with no seed but what is in their folders.
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(
                starting("--name", f"n{number}", "--data-dir", str(tmp_path / str(number)), listen=address)
            )
            for number, address in enumerate(addresses)
        ]
        for node in started:
            node.ready()
        eventually(lambda: all(len(status(node)["members"]) == 3 for node in started))
        for node in started:
            assert missing(node.url, known) == set()
        assert len({dump(node) for node in started}) == 1


def test_nodes_killed_and_started_again_and_again_with_and_without_data(tmp_path):
    dice = random.Random(7)  # noqa: S311
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(serving("--name", "n0", "--data-dir", str(tmp_path / "0")))
        nodes = [first]
        for number in (1, 2):
            arguments = ["--name", f"n{number}", "--data-dir", str(tmp_path / str(number)), "--seed", first.address]
            nodes.append(stack.enter_context(serving(*arguments)))
        addresses = [node.address for node in nodes]
        writers = writing([node.url for node in nodes], count=2)
        for _ in range(5):
            before = sum(len(writer.acknowledged) for writer in writers)
            eventually(lambda before=before: sum(len(writer.acknowledged) for writer in writers) > before + 30)
            victims = dice.sample(range(3), dice.randint(1, 2))
            for victim in victims:
                nodes[victim].signal(signal.SIGKILL)
            for victim in victims:
                nodes[victim].wait()
                folder = tmp_path / str(victim)
                if dice.random() < 0.5:
                    shutil.rmtree(folder)
                seeds = [part for other in range(3) if other != victim for part in ("--seed", addresses[other])]
                arguments = ["--name", f"n{victim}", "--data-dir", str(folder), *seeds]
                nodes[victim] = stack.enter_context(starting(*arguments, listen=addresses[victim]))
            for victim in victims:
                nodes[victim].ready()
            eventually(lambda: all(len(status(node)["members"]) == 3 for node in nodes))
        known = acknowledged(writers)
        assert len(known) > 150
        eventually(lambda: len({dump(node) for node in nodes}) == 1)
        for node in nodes:
            assert missing(node.url, known) == set()


def test_nodes_that_left_one_after_the_other_come_back_with_everything(tmp_path):
    def arguments(number):
        return ["--name", f"n{number}", "--data-dir", str(tmp_path / str(number))]

    with serving(*arguments(0)) as first, serving(*arguments(1), "--seed", first.address) as second:
        addresses = [first.address, second.address]
        assert run("bind", "a", "1", provider=first.url).status == 0
        first.signal(signal.SIGTERM)
        assert first.wait() == 0
        assert run("bind", "b", "2", provider=second.url).status == 0
        second.signal(signal.SIGTERM)
        assert second.wait() == 0
    with starting(*arguments(1), listen=addresses[1]) as second, starting(*arguments(0), listen=addresses[0]) as first:
        for node in (first.ready(), second.ready()):
            assert missing(node.url, {"a": 1, "b": 2}) == set()
            eventually(lambda node=node: len(status(node)["members"]) == 2)


@contextlib.contextmanager
def starting(*args, listen):
    served = Served("--listen", listen, *args)
    try:
        yield served
    finally:
        served.end()


def limit_files(node, size):
    """No file of the node can grow beyond that: what a full disk looks like to it."""
    hard = resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (size, hard))


def fill(ctx):
    """Binds names until the disk is full."""
    for number in range(2000):
        try:
            ctx.bind(f"fill/{number}", "v" * 60_000, create_parents=True)
        except NamingError as error:
            return error
    raise AssertionError("never full")


def filled(ctx):
    return {entry.name: ctx.lookup(entry.name) for entry in ctx.list_names("fill")}


def test_a_full_disk_is_read_only_and_recovers(tmp_path):
    with serving("--name", "n1", "--data-dir", str(tmp_path)) as node, HAContext(node.url, timeout=5.0) as ctx:
        ctx.bind("before", 1)
        limit_files(node, (tmp_path / "tree.redb").stat().st_size)
        first = fill(ctx)
        assert first.completion.name in ("MAYBE", "NO")
        with pytest.raises(ServiceUnavailableError, match="is full") as refused:
            ctx.bind("refused", 1, timeout=1.0)
        assert refused.value.completion.name == "NO"
        assert ctx.lookup("before") == 1
        assert any("is full" in warning for warning in status(node)["warnings"])
        limit_files(node, resource.RLIM_INFINITY)
        eventually(lambda: not status(node)["warnings"])
        ctx.rebind("after", 1)
        assert ctx.lookup("after") == 1
        names = filled(ctx)
        node.signal(signal.SIGKILL)
        node.wait()
    with serving("--name", "n1", "--data-dir", str(tmp_path)) as node, HAContext(node.url, timeout=5.0) as ctx:
        assert filled(ctx) == names
        assert (ctx.lookup("before"), ctx.lookup("after"), ctx.get("refused")) == (1, 1, None)


def test_a_full_disk_does_not_hold_the_others_up(tmp_path):
    with (
        serving("--name", "n1", "--data-dir", str(tmp_path / "1")) as full,
        serving("--name", "n2", "--data-dir", str(tmp_path / "2"), "--seed", full.address) as well,
        HAContext([full.url, well.url], timeout=5.0) as ctx,
    ):
        ctx.bind("before", 1)
        limit_files(full, (tmp_path / "1" / "tree.redb").stat().st_size)
        for number in range(200):
            ctx.bind(f"fill-{number}", "v" * 60_000)
            if any("is full" in warning for warning in status(full)["warnings"]):
                break
        else:
            raise AssertionError("never full")
        eventually(lambda: any("node n1 takes no changes" in warning for warning in status(well)["warnings"]))
        started = time.monotonic()
        for number in range(20):
            receipt = ctx.bind(f"during-{number}", 1)
            assert receipt.acked_by == ["n2"]
        assert time.monotonic() - started < 5.0
        assert len(status(full)["members"]) == 2
        limit_files(full, resource.RLIM_INFINITY)
        eventually(lambda: not status(full)["warnings"] and not status(well)["warnings"])
        eventually(lambda: run("ls", provider=full.url).out == run("ls", provider=well.url).out)
        eventually(lambda: ctx.rebind("after", 1).acked_by == ["n1", "n2"])


def test_a_disk_that_fails_is_read_only_and_recovers(tmp_path):
    tree, away = tmp_path / "data" / "tree.redb", tmp_path / "away"
    with serving("--name", "n1", "--data-dir", str(tree.parent)) as node, HAContext(node.url, timeout=5.0) as ctx:
        ctx.bind("before", 1)
        tree.rename(away)
        with pytest.raises(ServiceUnavailableError) as failed:
            ctx.bind("failed", 1, timeout=1.0)
        assert failed.value.completion.name == "MAYBE"
        with pytest.raises(ServiceUnavailableError, match="can't be written") as refused:
            ctx.bind("refused", 1, timeout=1.0)
        assert refused.value.completion.name == "NO"
        assert ctx.lookup("before") == 1
        away.rename(tree)
        eventually(lambda: not status(node)["warnings"])
        ctx.bind("after", 1)
        node.signal(signal.SIGKILL)
        node.wait()
    with serving("--name", "n1", "--data-dir", str(tree.parent)) as node, HAContext(node.url) as ctx:
        assert [ctx.get(name) for name in ("before", "failed", "refused", "after")] == [1, 1, None, 1]


def test_damaged_data_is_refused_with_the_remedy(tmp_path):
    with (
        serving("--name", "n1", "--data-dir", str(tmp_path / "1")) as first,
        serving("--name", "n2", "--data-dir", str(tmp_path / "2"), "--seed", first.address) as second,
    ):
        assert run("bind", "a", "1", provider=second.url).status == 0
        second.signal(signal.SIGTERM)
        assert second.wait() == 0
        tree = tmp_path / "2" / "tree.redb"
        os.truncate(tree, tree.stat().st_size // 2)
        arguments = ["--name", "n2", "--data-dir", str(tmp_path / "2"), "--seed", first.address]
        refused = run("serve", "--listen", "127.0.0.1:0", *arguments)
        assert refused.status == 2
        assert "--resync-from-peers" in refused.err
        assert "Traceback" not in refused.err
        with serving(*arguments, "--resync-from-peers") as again:
            assert run("lookup", "a", provider=again.url).out == "1\n"
        assert (tmp_path / "2" / "tree.redb.damaged-1").exists()
