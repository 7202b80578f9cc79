"""The client commands against three nodes."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from types import SimpleNamespace

import pytest

from cli_support import cluster, deaf_server, eventually, run, serving
from hanaming import Node
from hanaming.cli import operations


@pytest.fixture(scope="module")
def nodes():
    with cluster(3) as started:
        provider = "hn://" + ",".join(node.address for node in started)
        eventually(
            lambda: len(json.loads(run("status", "--json", provider=provider).out or '{"members":[]}')["members"]) == 3
        )
        for node in started[:2]:
            name = node.line.split()[2]
            assert run("bind", "--local", "-p", "both/same", '"same"', provider=node.url).status == 0
            assert run("bind", "--local", "-p", f"only/{name}", f'"{name}"', provider=node.url).status == 0
        yield started


@pytest.fixture
def provider(nodes):
    return "hn://" + ",".join(node.address for node in nodes)


def test_a_name_is_found_through_any_node(nodes):
    for node in nodes:
        for name in ("n1", "n2"):
            assert run("lookup", f"only/{name}", provider=node.url).out == f'"{name}"\n'


def test_resolve_names_the_node_that_has_it(nodes):
    document = json.loads(run("resolve", "only/n1", "--json", provider=nodes[2].url).out)
    assert (document["source"], document["node"]) == ("peer", "n1")
    assert document["asked"][0] in ("n1", "n2", "n3")
    everywhere = json.loads(run("resolve", "both/same", "--all", "--json", provider=nodes[0].url).out)
    assert {answer["node"] for answer in everywhere} == {"n1", "n2"}


def test_listing_merges_the_trees(provider, nodes):
    assert run("ls", "only", provider=provider).out == "only/n1\nonly/n2\n"
    assert run("ls", "--local", "only", provider=nodes[1].url).out == "only/n2\n"
    rows = json.loads(run("ls", "both", "--json", provider=provider).out)
    assert len(rows) == 1
    assert len(rows[0]["sources"]) == 2


def test_check_finds_names_with_two_meanings(provider, nodes):
    assert run("check", "both", provider=provider).status == 0
    for node in nodes[:2]:
        name = node.line.split()[2]
        assert run("bind", "--local", "-p", "differs/x", f'"{name}"', provider=node.url).status == 0
    found = run("check", "differs", provider=provider)
    assert found.status == 1
    document = json.loads(run("check", "differs", "--json", provider=provider).out)
    assert [one["name"] for one in document["mismatches"]] == ["differs/x"]
    assert {answer["value"] for answer in document["mismatches"][0]["answers"]} == {"n1", "n2"}


def test_a_write_into_the_cluster_tree_is_seen_through_every_node(nodes, provider):
    assert run("bind", "cluster-wide", "1", provider=provider).status == 0
    for node in nodes:
        assert run("lookup", "cluster-wide", provider=node.url).out == "1\n"
    taken = run("bind", "cluster-wide", "2", provider=provider)
    assert taken.status == 1
    assert "already bound in the cluster tree" in taken.err
    assert run("unbind", "cluster-wide", provider=provider).status == 0
    assert run("lookup", "cluster-wide", provider=provider).status == 1


def test_status_names_a_member_that_does_not_answer(nodes):
    asked, frozen = nodes[0], nodes[2]

    def while_frozen(*args):
        """What is shown while n3 is silent; a busy machine may take so long to ask that it's dead to the others."""
        for _ in range(10):
            frozen.stop()
            try:
                shown = run("status", *args, "--timeout", "0.5", provider=asked.url)
            finally:
                frozen.signal(signal.SIGCONT)
            if "n3" in shown.out:
                return shown
            eventually(lambda: "n3" in run("status", provider=asked.url).out, 60)
        raise AssertionError("it was never seen silent")

    shown, table = while_frozen("--json"), while_frozen()
    answered = {member["name"]: member["answered"] for member in json.loads(shown.out)["members"]}
    assert answered == {"n1": True, "n2": True, "n3": False}
    said = f"no answer within 0.5 s from n3 at {frozen.address}"
    error = json.loads(shown.err)["error"]
    assert (shown.status, error["status"], error["message"], error["silent"]) == (3, 3, said, ["n3"])
    assert "silent" in table.out
    assert (table.status, table.err.splitlines()[-1]) == (3, f"hanaming: {said}")


def test_status_tells_what_the_node_asked_runs_with_and_where_it_is_from(tmp_path):
    config = tmp_path / "node.toml"
    config.write_text('cluster = "blue"\nname = "file"\n', encoding="utf-8")
    environment = {"HANAMING_NAME": "env", "HANAMING_LISTEN": "127.0.0.1:0"}
    with serving("--config", str(config), "--name", "flag", listen=None, env=environment) as node:
        told = json.loads(run("status", "--json", provider=node.url).out)["settings"]
        assert told == {
            "name": {"value": "flag", "source": "flag"},
            "listen": {"value": "127.0.0.1:0", "source": "HANAMING_LISTEN"},
            "cluster": {"value": "blue", "source": str(config)},
        }
        table = run("status", provider=node.url).out
        for setting in told.values():
            assert any(setting["value"] in line and setting["source"] in line for line in table.splitlines()), table
    with Node("embedded") as embedded:
        told = json.loads(run("status", "--json", provider=embedded.url).out)["settings"]
        assert {name: one["source"] for name, one in told.items()} == {
            "name": "argument",
            "listen": "default",
            "cluster": "default",
        }


def test_status_asks_all_members_at_once():
    with contextlib.ExitStack() as stack:
        deaf = [stack.enter_context(deaf_server()) for _ in range(20)]
        asked = [operations._Asked(SimpleNamespace(name="x", address=url.removeprefix("hn://"))) for url in deaf]
        began = time.monotonic()
        assert operations._ask_all(asked, 0.5) == asked
        # One after the other, or in groups, they would take longer.
        assert time.monotonic() - began < 2 * 0.5
