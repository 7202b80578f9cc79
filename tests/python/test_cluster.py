"""A cluster for tests: each verb's effect on the nodes, in process and as processes; nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from hanaming import Context, NameNotFoundError, NamingError
from hanaming.testing import Cluster
from left_behind import nothing_left_behind
from waiting import until

LONG = 60.0


@pytest.fixture
def cluster():
    with Cluster(3) as cluster:
        yield cluster


@pytest.fixture(params=["in process", "processes"])
def durable(request):
    """With data, in both ways."""
    with Cluster(3, data=True, processes=request.param == "processes") as cluster:
        yield cluster


def sees(cluster, index):
    return [member.name for member in cluster[index].status().members if member.state == "live"]


def test_the_nodes_see_each_other_and_are_reached_at_their_addresses(cluster):
    assert [node.name for node in cluster] == ["n0", "n1", "n2"]
    assert all(sees(cluster, index) == ["n0", "n1", "n2"] for index in range(3))
    assert cluster.provider == "hn://" + ",".join(node.address for node in cluster)
    cluster[1].local.bind("here", 1)
    with Context(cluster[1].url) as other:
        assert other.lookup("here") == 1
    client = cluster.client()
    assert client.resolve("here").node == "n1"
    assert sorted(str(target) for target in client.targets) == sorted(node.address for node in cluster)
    assert cluster[1].node.address == cluster[1].address
    assert repr(cluster) == "<Cluster of 3: n0 live, n1 live, n2 live>"


def test_every_verb_in_both_ways(durable):
    client = durable.client(timeout=LONG)
    client.bind("a", 1)
    durable[0].kill()
    durable.wait_converged()
    assert sees(durable, 1) == ["n1", "n2"]
    client.rebind("a", 2)
    durable[0].restart()
    durable.wait_converged()
    durable[1].pause()
    durable.wait_converged()
    assert client.lookup("a") == 2
    durable[1].resume()
    durable.wait_converged()
    durable.partition([0], [1, 2])
    durable.wait_converged([0])
    durable.wait_converged([1, 2])
    with Context(durable[0].url, timeout=LONG) as there:
        assert [member.name for member in there.status().members] == ["n0"]
    durable.heal()
    durable.wait_converged()
    durable[2].quiesce()
    durable.wait_converged()
    durable[2].restart()
    durable.wait_converged()
    assert sees(durable, 0) == ["n0", "n1", "n2"]


def test_data_outlives_all_nodes():
    with Cluster(2, data=True) as cluster:
        client = cluster.client(timeout=LONG)
        client.bind("a", {"kept": True})
        for node in cluster:
            node.kill()
        for node in cluster:
            node.restart()
        cluster.wait_converged()
        assert client.lookup("a") == {"kept": True}


def test_without_data_a_restarted_node_has_the_cluster_tree_and_lost_its_own(cluster):
    client = cluster.client(timeout=LONG)
    client.bind("all's", 1)
    cluster[0].local.bind("own", 1)
    address = cluster[0].address
    cluster[0].restart()
    assert cluster[0].address == address
    cluster.wait_converged()
    with pytest.raises(NameNotFoundError):
        cluster[0].local.lookup("own")
    with cluster[0].node.context() as there:
        assert there.resolve("all's").source == "cluster"


def test_one_way(cluster):
    cluster.one_way([0], [1])
    # Each needs the other's answers.
    until(
        lambda: sees(cluster, 0) == ["n0", "n2"] and sees(cluster, 1) == ["n1", "n2"], "n0 and n1 have lost each other"
    )
    with pytest.raises(TimeoutError, match="n1 does not hear n0"):
        cluster.wait_converged(within=0.1)
    assert cluster[2].state == "live"
    cluster.heal()
    cluster.wait_converged()


def test_what_is_sent_to_a_paused_node_arrives_later(cluster):
    address = (cluster[0].address.split(":")[0], int(cluster[0].address.split(":")[1]))
    cluster[0].pause()
    with socket.create_connection(address, timeout=LONG) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
        cluster[0].resume()
        client.settimeout(LONG)
        # No hello: it hangs up, by whichever word.
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""


def test_what_can_not_be_done_is_told_with_the_remedy(cluster):
    cluster[1].kill()
    for verb in ("kill", "pause", "quiesce", "status"):
        with pytest.raises(RuntimeError, match=r"n1 is killed: restart\(\) it first"):
            getattr(cluster[1], verb)()
    with pytest.raises(RuntimeError, match="n1 is killed, not paused"):
        cluster[1].resume()
    with pytest.raises(RuntimeError, match=r"n1 is killed: restart\(\) it first"):
        _ = cluster[1].node
    cluster[0].pause()
    with pytest.raises(RuntimeError, match=r"n0 is paused: resume\(\) it first"):
        cluster[0].pause()
    cluster[0].kill()
    cluster[0].restart()
    cluster[1].restart()
    for groups in ([[0]], [[0], [0, 1]], [[0, 0], [1]]):
        with pytest.raises(ValueError):
            cluster.partition(*groups)
    for nothing in (([0], [0]), ([], [1])):
        with pytest.raises(ValueError, match="different nodes"):
            cluster.one_way(*nothing)
    for count in (0, 33, True, "3", [], ["a", "a"]):
        with pytest.raises(ValueError, match="1 to 32"):
            Cluster(count)


def test_a_node_by_its_index_or_its_name(cluster):
    assert cluster["n1"] is cluster[1] is cluster[-2]
    assert cluster[1:] == [cluster["n1"], cluster["n2"]]
    with pytest.raises(KeyError, match="no node is named 'n9': there are n0, n1, n2"):
        cluster["n9"]
    there = r"there are 3 nodes, from 0 to 2$"
    with pytest.raises(IndexError, match=rf"^the index of a node is 5: {there}"):
        cluster[5]
    with pytest.raises(IndexError, match=rf"^groups\[1\]\[0\] is 9: {there}"):
        cluster.partition([0], [9])
    with pytest.raises(IndexError, match=rf"^receivers\[0\] is -4: {there}"):
        cluster.one_way([0], [-4])
    with pytest.raises(IndexError, match=rf"^nodes\[1\] is 7: {there}"):
        cluster.wait_converged([0, 7])


def test_verbs_from_several_threads_come_one_after_the_other(cluster):
    cluster[0].kill()
    with ThreadPoolExecutor(4) as pool:
        for restarted in [pool.submit(cluster[0].restart) for _ in range(4)]:
            restarted.result(LONG)
    cluster.wait_converged()
    assert sees(cluster, 1) == ["n0", "n1", "n2"]


def test_nodes_have_the_names_that_they_are_given():
    with Cluster(["a", "b"]) as cluster:
        cluster.partition([0], [1])
        assert [node.status().node for node in cluster] == ["a", "b"]
        assert "b does not hear a" in cluster.report()


def test_what_is_closed_stays_closed():
    with Cluster(2) as cluster:
        pass
    cluster.close()
    assert repr(cluster) == "<Cluster of 2: n0 closed, n1 closed>"
    with pytest.raises(RuntimeError, match="the cluster is closed"):
        cluster.partition([0], [1])
    for call in (cluster.client, cluster.aclient, cluster.wait_converged):
        with pytest.raises(RuntimeError, match="the cluster is closed: it has ended"):
            call()
    with pytest.raises(RuntimeError, match="n0 is closed: its cluster has ended"):
        cluster[0].restart()


def test_a_report_tells_how_it_stands(cluster):
    client = cluster.client(policy="first_available")
    client.get("a")
    cluster[0].kill()
    cluster[1].pause()
    cluster.partition([0, 1], [2])
    told = cluster.report()
    assert f"n0 at {cluster[0].address}: killed" in told
    assert f"n1 at {cluster[1].address}: paused" in told
    assert f"n2 at {cluster[2].address}: live; sees " in told
    assert "n2 does not hear n1" in told
    assert "client 0, its last call:" in told
    assert "no such name (answer, YES" in told


@pytest.fixture
def nothing_stays(tmp_path, monkeypatch):
    """What the block starts has ended after it: threads, sockets and folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # What a process has once, it has from now on.
    with Cluster(1) as first:
        first.client().get("a")
    return nothing_left_behind(tmp_path)


def test_a_hundred_clusters_leave_nothing_behind(nothing_stays):
    with nothing_stays:
        for number in range(100):
            with Cluster(3, data=number % 10 == 0) as cluster:
                cluster.client(timeout=LONG).bind("a", number)
                if number % 5 == 0:
                    cluster[number % 3].kill()


@pytest.mark.parametrize("closes", [True, False])
def test_an_asyncio_client_leaves_nothing_behind_closed_or_not(nothing_stays, closes):
    with nothing_stays:
        for _ in range(3):
            with Cluster(2) as cluster:

                async def main(client):
                    await client.bind("a", 1)
                    if closes:
                        await client.aclose()

                asyncio.run(main(cluster.aclient(timeout=LONG)))
                assert "client 0, its last call:" in cluster.report()


@pytest.mark.parametrize("processes", [False, True])
def test_nothing_is_left_behind_where_the_body_raises(nothing_stays, processes):
    processes_of = []

    def body():
        with Cluster(2, data=True, processes=processes) as cluster:
            processes_of.extend(cluster)
            cluster[0].pause()
            cluster.partition([0], [1])
            raise ZeroDivisionError

    with nothing_stays, pytest.raises(ZeroDivisionError):
        body()
    with pytest.raises(RuntimeError, match="n0 is closed: its cluster has ended"):
        processes_of[0].restart()
    if processes:
        assert not any(node._running.process.is_running for node in processes_of)


def test_a_cluster_that_does_not_start_leaves_nothing_behind(nothing_stays, monkeypatch):
    monkeypatch.setattr("hanaming.testing._running.Node", _failing)
    with nothing_stays, pytest.raises(NamingError, match="on purpose"):
        Cluster(3, data=True)


def _failing(*args, **kwargs):
    raise NamingError("on purpose")
