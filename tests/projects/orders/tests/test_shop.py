"""The shop stays open whatever happens to the nodes."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from orders import Shop, is_safe_to_repeat

from hanaming import CompletionStatus, HAContext, NamingError
from hanaming.testing import assert_applied_once, assert_balanced, wait_converged


@pytest.fixture
def shop(hanaming_client):
    shop = Shop(hanaming_client)
    assert shop.offer("tea", 3)
    return shop


def test_a_killed_node_is_not_noticed(shop, hanaming_cluster):
    hanaming_cluster[0].kill()
    for _ in range(50):
        assert shop.price("tea") == 3


def test_nodes_are_restarted_one_by_one_while_customers_come(shop, hanaming_cluster):
    stop, failures, calls = threading.Event(), [], Counter()

    def customers():
        while not stop.is_set():
            try:
                calls[shop.price("tea")] += 1
            except NamingError as error:
                failures.append(error)

    thread = threading.Thread(target=customers)
    thread.start()
    for node in hanaming_cluster:
        node.quiesce()
        node.restart()
        wait_converged(hanaming_cluster)
    stop.set()
    thread.join(30)
    assert failures == []
    assert calls[3] > 0


def test_the_load_is_even(shop, hanaming_cluster, hanaming_client):
    calls = [hanaming_client.resolve("prices/tea").node for _ in range(90)]
    assert_balanced(calls, among=[node.name for node in hanaming_cluster], ratio=1.2)


def test_an_article_is_offered_once_by_however_many(shop, hanaming_cluster):
    offered = []

    def offer(me):
        if shop.offer("coffee", me):
            offered.append("coffee")

    threads = [threading.Thread(target=offer, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    hanaming_cluster[1].kill()
    for thread in threads:
        thread.join(30)
    assert_applied_once(offered, accepted=["coffee"])


def test_nobody_knows_what_became_of_what_a_paused_node_was_sent(hanaming_cluster):
    with HAContext(hanaming_cluster[0].url, follow_views=False, timeout=1.0) as names:
        names.get("prices")
        hanaming_cluster[0].pause()
        with pytest.raises(NamingError) as raised:
            Shop(names).offer("milk", 1)
    assert raised.value.completion is CompletionStatus.MAYBE
    assert not is_safe_to_repeat(raised.value)


@pytest.mark.hanaming(nodes=5)
def test_a_majority_goes_on_and_both_sides_are_one_again(shop, hanaming_cluster):
    hanaming_cluster.partition([0, 1], [2, 3, 4])
    wait_converged(hanaming_cluster, [0, 1])
    wait_converged(hanaming_cluster, [2, 3, 4])
    assert shop.offer("bread", 2)
    hanaming_cluster.heal()
    wait_converged(hanaming_cluster)
    assert shop.price("bread") == 2


@pytest.mark.hanaming(nodes=2, data=True, processes=True)
def test_prices_outlive_all_processes(shop, hanaming_cluster):
    for node in hanaming_cluster:
        node.kill()
    for node in hanaming_cluster:
        node.restart()
    assert shop.price("tea") == 3


@pytest.mark.hanaming(nodes=1)
def test_a_moved_service_is_followed(hanaming_cluster, hanaming_dns):
    (node,) = hanaming_cluster
    _, _, port = node.address.rpartition(":")
    hanaming_dns.set("names.test", ["127.0.0.1"])
    with HAContext(f"hn://names.test:{port}", dns_servers=[hanaming_dns.address], follow_views=False) as names:
        assert Shop(names).offer("tea", 3)
        hanaming_dns.fail("servfail")
        assert Shop(names).price("tea") == 3
    assert hanaming_dns.queries


def test_an_answer_that_is_lost_on_the_way(hanaming_cluster, fault_proxy):
    proxy = fault_proxy(hanaming_cluster[0])
    with HAContext(f"hn://{proxy.address}", follow_views=False, timeout=10.0) as names:
        names.get("prices")
        proxy.drop_response(times=1)
        # It is sent again with the same id, and the cluster knows it.
        assert Shop(names).offer("jam", 4)
    with hanaming_cluster.client() as names:
        assert Shop(names).price("jam") == 4
