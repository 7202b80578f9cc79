"""Options: what is dubious is refused at once, and what belongs to a later version is refused and not ignored."""

from __future__ import annotations

from typing import Any

import pytest

import hanaming
from hanaming import ConfigurationError, Context, HAContext, Node, OperationNotSupportedError, aio
from hanaming.jndi import Environment


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mdns_interface": "eth0"}, "the interface eth0 is for a node that announces itself; say mdns=True"),
        ({"mdns": True, "mdns_interface": ""}, "the interface for multicast is"),
        (
            {"mdns": True, "mdns_interface": "nic9"},
            "interface nic9 can't be used for multicast: there is no such interface",
        ),
        ({"seeds": ["hn+mdns://default"]}, "seeds: hn[+]mdns://default: a node meets others at addresses"),
    ],
    ids=repr,
)
def test_what_a_node_announces_itself_by(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Node("n1", **options)


def test_a_cluster_is_named_once() -> None:
    with pytest.raises(ConfigurationError, match=r'hn\+mdns://prod names another cluster than "test"'):
        HAContext("hn+mdns://prod", cluster="test")
    with pytest.raises(ConfigurationError, match="is a whole cluster, and a local context is one node's"):
        Context("hn+mdns://prod")


@pytest.mark.parametrize(
    "provider", ["hn+srv://", "hn+mdns://", "hn+mdns://a,b", "t3://h", "http://h", "hn://", "h:port", "h:70000", "h h"]
)
def test_a_provider_that_is_none(provider: str) -> None:
    with pytest.raises((ConfigurationError, OperationNotSupportedError)) as caught:
        HAContext(provider)
    assert provider.split(":", maxsplit=1)[0] in str(caught.value)


@pytest.mark.parametrize("make", [HAContext, aio.HAContext])
@pytest.mark.parametrize(
    ("provider", "write"),
    [("srv://a", "hn+srv://a"), ("dns://a:80", "hn://a:80"), ("srv://a:80", "hn+srv://_hn._tcp.example")],
)
def test_a_balancer_s_source_says_what_a_context_takes(make: Any, provider: str, write: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(provider)
    assert f"is for a Balancer; write {write}" in str(caught.value)
    (warning,) = Environment({"java.naming.provider.url": provider}).warnings
    assert f"is for a Balancer; write {write}" in warning


@pytest.mark.parametrize("make", [HAContext, aio.HAContext, hanaming.Balancer, aio.Balancer])
@pytest.mark.parametrize(
    ("options", "raised", "says"),
    [
        (
            {"dns_refresh": "sometimes"},
            ConfigurationError,
            'dns_refresh="sometimes" is unknown; there are ttl, on_empty',
        ),
        ({"dns_refresh": 0}, ConfigurationError, "dns_refresh is 0: give a positive number of seconds"),
        ({"dns_refresh": True}, TypeError, "dns_refresh must be .*, not bool"),
        ({"dns_servers": []}, ConfigurationError, "dns_servers="),
        ({"dns_servers": "127.0.0.1"}, TypeError, "dns_servers must be a list of addresses, .*, not str"),
        ({"dns_servers": ["ns.example"]}, ConfigurationError, '"ns.example" is no name server: write its address'),
    ],
    ids=repr,
)
def test_options_of_name_resolution(make: Any, options: dict[str, Any], raised: type[Exception], says: str) -> None:
    with pytest.raises(raised, match=says):
        make("127.0.0.1:1", **options)


@pytest.mark.parametrize("make", [HAContext, aio.HAContext, hanaming.Balancer, aio.Balancer])
def test_a_wrong_name_server_says_who_named_it(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANAMING_DNS_SERVERS", "127.0.0.1, ns.example")
    with pytest.raises(ConfigurationError, match=r'^HANAMING_DNS_SERVERS: "ns.example" is no name server'):
        make("127.0.0.1:1")
    with pytest.raises(ConfigurationError, match=r'^dns_servers: "other" is no name server'):
        make("127.0.0.1:1", dns_servers=["other"])


def test_name_servers_given_go_before_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANAMING_DNS_SERVERS", "ns.example")
    with HAContext("127.0.0.1:1", dns_servers=["127.0.0.1"], dns_refresh=2.5):
        pass


def test_a_local_context_is_one_node_s() -> None:
    with pytest.raises(ConfigurationError, match="one node"):
        Context("hn://127.0.0.1:1,127.0.0.1:2")


@pytest.mark.parametrize("policy", ["", "roundrobin", "ROUND_ROBIN"])
def test_an_unknown_policy(policy: Any) -> None:
    with pytest.raises(ConfigurationError, match="round_robin"):
        HAContext("127.0.0.1:1", policy=policy)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), 0.0])
@pytest.mark.parametrize("option", ["timeout", "attempt_timeout"])
def test_a_time_that_is_none(option: str, seconds: float) -> None:
    with pytest.raises(ConfigurationError, match=option):
        HAContext("127.0.0.1:1", **{option: seconds})  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), 0.0])
def test_an_operation_s_time_that_is_none(node: Node, seconds: float) -> None:
    node.local.bind("a", 1)
    with HAContext(node.url) as far:
        for ctx in (node.local, node.context(), far):
            with pytest.raises(ConfigurationError, match="give a positive number of seconds"):
                ctx.lookup("a", timeout=seconds)


@pytest.mark.asyncio
async def test_an_operation_s_time_that_is_none_with_asyncio(node: Node) -> None:
    async with aio.HAContext(node.url) as ctx:
        with pytest.raises(ConfigurationError, match="timeout is 0: give a positive number of seconds"):
            await ctx.lookup("a", timeout=0)


def test_the_longest_time_is_taken(node: Node) -> None:
    node.local.bind("a", 1)
    with HAContext(node.url, timeout=float("inf")) as ctx:
        assert ctx.lookup("a", timeout=float("inf")) == 1
        assert ctx.lookup("a") == 1


def test_a_wrong_cluster(node: Node) -> None:
    with HAContext(node.url, cluster="another", timeout=1) as ctx, pytest.raises(hanaming.NamingError) as caught:
        ctx.lookup("a")
    assert "another" in str(caught.value)
    assert "default" in str(caught.value)
    with HAContext(node.url, cluster="default") as ctx:
        assert ctx.get("a") is None


@pytest.mark.parametrize("cls", [HAContext, hanaming.aio.HAContext])
def test_a_cluster_without_a_name(cls: Any) -> None:
    with pytest.raises(hanaming.ConfigurationError, match='cluster is ""'):
        cls("127.0.0.1:1", cluster="")


def test_the_provider_comes_from_the_environment(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANAMING_PROVIDER", node.url)
    node.local.bind("a", 1)
    with HAContext() as ctx:
        assert ctx.lookup("a") == 1


def test_a_list_of_providers(node: Node) -> None:
    node.local.bind("a", 1)
    with HAContext([node.url, node.address]) as ctx:
        assert ctx.lookup("a") == 1
        assert [str(target) for target in ctx.targets] == [node.address]


def test_nothing_is_dialled_before_the_first_operation() -> None:
    with HAContext("hn://127.0.0.1:1") as ctx:
        assert [str(target) for target in ctx.targets] == ["127.0.0.1:1"]
        assert ctx.view is None


@pytest.mark.parametrize(
    "options",
    [
        {"listen": "0.0.0.0:0"},
        {"listen": "x y:1"},
        {"advertise": "0.0.0.0:1"},
        {"seeds": ["127.0.0.1:0"]},
        {"cluster": ""},
    ],
    ids=repr,
)
def test_a_node_that_can_t_be_meant(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Node("n1", **options)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 200])
def test_a_node_s_name(name: str) -> None:
    with pytest.raises(ConfigurationError):
        Node(name)


def test_a_seed_may_be_a_provider_string(node: Node) -> None:
    with Node("n2", seeds=[node.url]) as second:
        assert {member.name for member in second.view.members} == {"n1", "n2"}


def test_an_address_that_is_taken(node: Node) -> None:
    with pytest.raises(hanaming.NamingError) as caught:
        Node("n2", listen=node.address)
    assert node.address in str(caught.value)
