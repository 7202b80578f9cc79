"""Instances: several processes that offer one service."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from faces import FACES, Sync
from faces import face as open_face
from hanaming import HAContext, InvalidNameError, Name, NameAlreadyBoundError, NameNotFoundError, Node, NotContextError
from waiting import until


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with open_face(request.param) as opened:
        yield opened


def test_a_registration_is_an_entry_in_the_local_tree(node: Node) -> None:
    registration = node.register("orders", "http://10.0.0.5:8080", weight=2, metadata={"zone": "a"})
    assert registration.name == "orders/n1"
    assert node.local.lookup("orders/n1") == "http://10.0.0.5:8080"
    (instance,) = node.context().instances("orders")
    assert (instance.node, instance.value, instance.weight) == ("n1", "http://10.0.0.5:8080", 2.0)
    assert instance.metadata == {"zone": "a"}
    assert instance.source == "local"


def test_it_goes_with_its_block(node: Node) -> None:
    with node.register("deep/orders", {"port": 1}):
        assert node.local.lookup("deep/orders/n1") == {"port": 1}
    with pytest.raises(NameNotFoundError):
        node.local.lookup("deep/orders/n1")
    registration = node.register("deep/orders", 2)
    registration.close()
    registration.close()
    assert node.local.get("deep/orders/n1") is None


def test_it_goes_with_a_node_that_leaves(node: Node) -> None:
    with node.register("orders", 1):
        node.quiesce()
    with Node("n2") as other, other.register("orders", 1):
        other.close()


def test_closing_leaves_what_others_bound_since(node: Node) -> None:
    registration = node.register("orders", 1)
    node.local.unbind("orders/n1")
    node.local.bind("orders/n1", "another's", create_parents=True)
    registration.close()
    assert node.local.lookup("orders/n1") == "another's"


@pytest.mark.parametrize("service", ["", Name(), "a//b", "/"])
def test_a_service_has_a_name(node: Node, service: str | Name) -> None:
    with pytest.raises(InvalidNameError):
        node.register(service, 1)
    assert node.local.list_names() == []


def test_defaults(node: Node) -> None:
    node.register("orders", None)
    (instance,) = node.context().instances("orders")
    assert instance.weight == 1.0
    assert instance.metadata == {}
    assert instance.value is None


def test_instances_of_several_nodes(cluster: Callable[[int], list[Node]]) -> None:
    nodes = cluster(3)
    registrations = [node.register("orders", f"http://10.0.0.{i}", weight=i + 1) for i, node in enumerate(nodes)]
    with HAContext(nodes[1].url) as ctx:
        found = ctx.instances("orders")
        assert [(one.node, one.value, one.weight) for one in found] == [
            ("n1", "http://10.0.0.0", 1.0),
            ("n2", "http://10.0.0.1", 2.0),
            ("n3", "http://10.0.0.2", 3.0),
        ]
        registrations[0].close()
        assert [one.node for one in ctx.instances("orders")] == ["n2", "n3"]
        nodes[2].close()
        # Until then its silence would be an error, not an absence.
        until(lambda: all(len(node.view.members) == 2 for node in nodes[:2]), "n3 is gone from the views")
        assert [one.node for one in ctx.instances("orders")] == ["n2"]


def test_what_is_no_instance_is_passed_over(node: Node) -> None:
    node.register("orders", 1)
    node.local.bind("orders/manual", 2)
    node.local.create_subcontext("orders/more")
    assert [one.value for one in node.context().instances("orders")] == [1]


def test_instances_of_what_is_not_there(node: Node) -> None:
    node.local.bind("a", 1)
    with pytest.raises(NameNotFoundError):
        node.context().instances("orders")
    with pytest.raises(NotContextError):
        node.context().instances("a")


def test_twice_under_one_name(node: Node) -> None:
    node.register("orders", 1)
    with pytest.raises(NameAlreadyBoundError) as caught:
        node.register("orders", 2)
    assert caught.value.existing is not None
    assert caught.value.existing.name == "orders/n1"


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan])
def test_a_weight_is_positive_and_finite(node: Node, weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        node.register("orders", 1, weight=weight)
    assert node.local.list_names() == []


@pytest.mark.parametrize("metadata", [{"a": {1}}, {1: 2}, [1], "text"])
def test_metadata_is_a_dict_of_values(node: Node, metadata: Any) -> None:
    with pytest.raises(TypeError, match="metadata"):
        node.register("orders", 1, metadata=metadata)


def test_resolving_does_not_show_the_weight_as_a_value(node: Node) -> None:
    node.register("orders", {"a": 1}, weight=3)
    assert node.context().resolve("orders/n1").value == {"a": 1}


def test_a_process_that_is_no_node_registers_with_a_lease(node: Node, face: Sync) -> None:
    ctx = face.module.HAContext(node.url)
    registration = face.do(ctx.register, "svc/orders", 1, weight=2, metadata={"zone": "a"}, lease=3600, instance="w1")
    other = face.do(ctx.register, "svc/orders", 2)
    assert registration.name == "svc/orders/w1"
    assert other.name.startswith("svc/orders/")
    first, second = face.do(ctx.instances, "svc/orders")
    if first.node != "w1":
        first, second = second, first
    assert (first.node, first.value, first.weight, first.metadata, first.source) == (
        "w1",
        1,
        2.0,
        {"zone": "a"},
        "cluster",
    )
    assert (second.node, second.value, second.weight) == (other.name.split("/")[-1], 2, 1.0)
    with pytest.raises(NameAlreadyBoundError):
        face.do(ctx.register, "svc/orders", 3, instance="w1")
    with pytest.raises(ValueError, match="weight=0"):
        face.do(ctx.register, "svc/orders", 3, weight=0)
    with pytest.raises(TypeError):
        face.do(ctx.register, "svc/orders", 3, metadata=3)
    face.close(registration)
    face.close(registration)
    assert [instance.node for instance in face.do(ctx.instances, "svc/orders")] == [second.node]
    # What took its place is another's.
    with node.context() as others:
        others.rebind(other.name, "another's")
        face.close(other)
        face.close(ctx)
        assert others.lookup(other.name) == "another's"
        assert "svc/orders/w1" not in others


def test_it_goes_with_its_context(node: Node, face: Sync) -> None:
    ctx = face.module.HAContext(node.url)
    registration = face.do(ctx.register, "orders", 1, lease=3600)
    face.close(ctx)
    face.close(registration)
    with node.context() as others:
        assert others.instances("orders") == []
