"""Settings of older naming systems: read as they were meant, used where they can be, and never ignored in silence."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path

import pytest

import hanaming.aio.jndi
from hanaming import ConfigurationError, HAContext
from hanaming.jndi import Endpoint, Environment, InitialContext, ProviderUrl

CASES = Path(__file__).resolve().parents[1] / "discovery" / "data" / "provider_settings.jsonl"
URL = "java.naming.provider.url"


def cases():
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_cases(case):
    if case["kind"] == "url":
        read = ProviderUrl.parse(case["input"])
        url = read
    else:
        read = Environment.from_properties(case["input"])
        url = read.provider_url
    expected = case["expected"]
    if expected["action"] == "surface" or expected["detail"] == "dns_cache_advice":
        assert read.warnings
    for endpoint, wanted in zip(url.endpoints if url else [], expected.get("endpoints", []), strict=True):
        assert {key: getattr(endpoint, key) for key in wanted} == wanted


def test_an_endpoint_says_what_it_is():
    url = ProviderUrl.parse("corbaloc:iiop:1.2@[fd00::1],rir:,:h:9810/NameService")
    assert url.endpoints == [
        Endpoint("iiop", "fd00::1", 2809, "1.2", defaulted=True),
        Endpoint("rir", "", None),
        Endpoint("iiop", "h", 9810, "1.0"),
    ]
    assert url.addresses == ["[fd00::1]:2809", "h:9810"]
    assert url.path == "NameService"
    assert str(url.endpoints[0]) == "iiop://[fd00::1]:2809"
    assert pickle.loads(pickle.dumps(url)) == url


def test_nothing_usable_is_an_error():
    with pytest.raises(ConfigurationError, match="is unknown"):
        ProviderUrl.parse("tcp://h:61616")


def test_displays_show_no_secret():
    environment = Environment(
        {URL: "t3://scott:tiger@h:7001", "java.naming.security.credentials": "tiger", "x.password": "tiger"}
    )
    shown = [
        repr(environment),
        environment._repr_html_(),
        repr(environment.provider_url),
        environment.provider_url._repr_html_(),
        *environment.warnings,
    ]
    assert not [text for text in shown if "tiger" in text]
    assert "h:7001" in repr(environment)


def test_an_environment_s_values_are_what_java_would_print():
    environment = Environment({"jnp.timeout": 1500, "jnp.disableDiscovery": True, "x.y": None, "a.loader": object()})
    assert environment.connect_timeout == 1.5
    assert environment.properties == {"jnp.timeout": "1500", "jnp.disableDiscovery": "true", "a.loader": "<object>"}
    with pytest.raises(TypeError, match="key is a str"):
        Environment({1: "x"})


def test_options_are_those_of_a_context():
    environment = Environment(
        {
            URL: "t3://h1,h2:7001",
            "jnp.partitionName": "Orders",
            "weblogic.jndi.connectTimeout": 3000,
            "weblogic.jndi.responseReadTimeout": 4000,
            "weblogic.jndi.forceResolveDNSName": "true",
        }
    )
    assert environment.provider == ["h1:7001", "h2:7001"]
    assert environment.options() == {
        "cluster": "Orders",
        "attempt_timeout": 7.0,
        "timeout": 7.0,
        "dns_refresh": "always",
    }
    assert Environment({URL: "hn+srv://_hn._tcp.x.example"}).provider == ["hn+srv://_hn._tcp.x.example"]
    assert Environment().options() == {}
    assert Environment().provider is None


def test_a_url_that_can_t_be_used_never_means_somebody_else():
    for text in ("tcp://h:1", "corbaloc:rir:/NameService", ""):
        environment = Environment({URL: text})
        assert environment.warnings
        with (
            pytest.warns(UserWarning, match=r"java\.naming\.provider\.url"),
            pytest.raises(ConfigurationError, match=r"java\.naming\.provider\.url"),
        ):
            InitialContext(environment)


def test_a_context_is_an_ha_context_with_these_settings(node):
    environment = {
        "java.naming.factory.initial": "org.jnp.interfaces.NamingContextFactory",
        URL: f"jnp://{node.address}",
        "jnp.partitionName": "default",
        "jnp.discoveryGroup": "230.0.0.4",
        "weblogic.jndi.forceResolveDNSName": True,
    }
    with pytest.warns(UserWarning, match=r"^(jnp|weblogic)\.") as warned:
        made = InitialContext(environment, policy="first_available")
    assert all(warning.filename == __file__ for warning in warned)
    with made as ctx:
        assert isinstance(ctx, HAContext)
        assert type(ctx) is InitialContext
        ctx.bind("orders", 1)
        assert ctx.lookup("orders") == 1
        for key in ("jnp.discoveryGroup", "weblogic.jndi.forceResolveDNSName"):
            assert [warning for warning in ctx.environment.warnings if warning.startswith(key)]
            assert [warning for warning in warned if str(warning.message).startswith(key)]
        assert str(ctx.targets[0]) == node.address


def test_another_partition_is_another_cluster(node):
    with (
        InitialContext({URL: node.address, "jnp.partitionName": "Other"}, timeout=1.0) as ctx,
        pytest.raises(ConfigurationError, match="not to 'Other'"),
    ):
        ctx.lookup("orders")


def test_a_properties_file(node, tmp_path):
    path = tmp_path / "jndi.properties"
    path.write_text(f"# ours\n{URL} = t3\\://127.0.0.1\\:9,\\\n    {node.address}\n", encoding="utf-8")
    node.local.bind("orders", "é")
    with InitialContext.from_properties(path) as ctx:
        assert ctx.lookup("orders") == "é"
    with InitialContext.from_properties(str(path)) as ctx:
        assert ctx.lookup("orders") == "é"

    async def twin():
        async with hanaming.aio.jndi.InitialContext.from_properties(path) as ctx:
            assert isinstance(ctx, hanaming.aio.HAContext)
            assert ctx.environment.properties[URL].startswith("t3://")
            return await ctx.lookup("orders")

    assert asyncio.run(twin()) == "é"


def test_files_of_any_encoding_are_read(tmp_path):
    path = tmp_path / "old.properties"
    path.write_bytes("jnp.partitionName=Café".encode("latin-1"))
    assert Environment.from_properties(path).cluster == "Café"
    assert Environment.from_properties(str(path)).cluster == "Café"
    path.write_bytes("\ufeffjnp.partitionName=Café".encode())
    assert Environment.from_properties(path).cluster == "Café"
    with pytest.raises(ConfigurationError, match="No such file"):
        Environment.from_properties(tmp_path / "missing")


def test_environments_are_equal_when_their_properties_are():
    assert Environment({"a": "b"}) == Environment.from_properties("a=b")
    assert Environment({"a": "b"}) != Environment({"a": "c"})
