"""`hanaming serve`: what it prints, how it leaves, what it refuses."""

from __future__ import annotations

import json
import signal
import socket

import pytest

from cli_support import Served, closed_port, cluster, eventually, run, serving


def test_it_says_when_it_serves_and_logs_elsewhere():
    with serving("--name", "n1") as node:
        assert node.line == f"hanaming node n1 ready on {node.address}\n"
        assert run("status", provider=node.url).status == 0
        eventually(lambda: "name = 'n1' (flag)" in node.err)
        node.signal(signal.SIGTERM)
        assert node.wait() == 0
        assert node.process.stdout.read() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_quiesces_and_exits_with_0(number):
    with serving() as node:
        node.signal(number)
        assert node.wait() == 0
        assert "Traceback" not in node.err
        assert run("status", "--timeout", "1", provider=node.url).status == 3


def test_a_client_can_ask_it_to_leave():
    with cluster(2) as (n1, n2):
        asked = run("quiesce", "--provider", n2.url, "--json")
        assert (asked.status, json.loads(asked.out)) == (0, {"quiescing": "n2"})
        assert n2.wait() == 0
        eventually(lambda: members(n1) == {"n1": "live"})


def test_nodes_meet_by_their_seeds():
    with cluster(3) as nodes:
        for node in nodes:
            eventually(lambda node=node: members(node) == {"n1": "live", "n2": "live", "n3": "live"})


def test_a_node_comes_back_at_its_address():
    with serving("--name", "n1") as node:
        address = node.address
        node.signal(signal.SIGKILL)
        node.wait()
    with_address = Served("--name", "n1", "--listen", address)
    try:
        assert with_address.ready().address == address
    finally:
        with_address.end()


def test_listening_beyond_loopback_is_refused_with_the_remedy():
    refused = run("serve", "--listen", "0.0.0.0:0")
    assert refused.status == 2
    assert refused.out == ""
    assert "insecure" in refused.err
    assert "Traceback" not in refused.err


def test_insecure_listens_and_says_so():
    node = Served("--listen", "0.0.0.0:0", "--advertise", "127.0.0.1:0", "--insecure")
    try:
        assert node.ready().line.startswith("hanaming node ")
        eventually(lambda: "WARNING" in node.err and "insecure" in node.err)
    finally:
        node.end()


def test_a_port_in_use_is_an_error_that_names_it():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("serve", "--listen", f"127.0.0.1:{port}")
    assert refused.status in (2, 3)
    assert str(port) in refused.err
    assert "Traceback" not in refused.err


def test_a_wrong_address_is_usage():
    for args in (["--listen", "127.0.0.1:port"], ["--seed", "h:1:2"]):
        wrong = run("serve", *args)
        assert wrong.status == 2
        assert "Traceback" not in wrong.err


@pytest.mark.parametrize("flag", ["--name", "--listen", "--advertise", "--cluster", "--data-dir", "--seed"])
def test_an_empty_flag_is_refused_and_no_default(flag):
    refused = run("serve", "--listen", "127.0.0.1:0", flag, "")
    assert (refused.status, refused.out) == (2, "")
    not_text = run("serve", "--listen", "127.0.0.1:0", flag, b"\xff")
    assert not_text.status == 2
    assert r"is not UTF-8: '\xff'" in not_text.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_while_the_node_looks_for_its_seeds(number):
    node = Served("--listen", "127.0.0.1:0", "--seed", closed_port().removeprefix("hn://"))
    try:
        eventually(lambda: "cluster = " in node.err)  # the last line before it starts
        node.signal(number)
        assert node.wait() == 0
        assert node.process.stdout.read() == ""
        assert "Traceback" not in node.err
    finally:
        node.end()


def test_settings_come_from_the_file_and_the_environment(tmp_path):
    config = tmp_path / "node.toml"
    config.write_text('name = "from-file"\ncluster = "blue"\n', encoding="utf-8")
    with serving("--config", str(config), env={"HANAMING_CLUSTER": "red"}) as node:
        assert "node from-file ready" in node.line
        assert json.loads(run("status", "--json", provider=node.url).out)["cluster"] == "blue"
    config.write_text('nmae = "x"\n', encoding="utf-8")
    wrong = run("serve", "--config", str(config))
    assert wrong.status == 2
    assert "did you mean 'name'" in wrong.err


def test_a_node_without_a_name_gets_one():
    with serving() as one, serving() as other:
        names = {node.line.split()[2] for node in (one, other)}
        assert len(names) == 2


def members(node):
    shown = run("status", "--json", provider=node.url)
    if shown.status not in (0, 3):  # 3: some member is silent
        return None
    return {member["name"]: member["state"] for member in json.loads(shown.out)["members"]}
