"""`hanaming export` and `hanaming import`."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from cli_support import (
    HANAMING,
    LIMIT,
    closed_port,
    environment,
    eventually,
    run,
    serving,
    without_replies,
)
from hanaming import Context, HAContext, LinkRef, Reference
from hanaming.testing import Cluster

TREE = {
    "config/empty": {},
    "config/limits": {"open": 5, "ratio": 0.5, "none": None, "yes": True},
    "config/number": float("inf"),
    "config/odd": {"$link": "a dict, no link"},
    "data/raw": b"\x00\xff",
    "jdbc/orders": Reference("DataSource", [("url", "db:5432"), ("key", b"\x01")], "pool"),
    "legacy": LinkRef("jdbc/orders"),
    'names/with \\/ and "quotes" and ü': "ok",
}


@pytest.fixture(scope="module")
def nodes():
    with Cluster(["n1", "n2"]) as started:
        yield started


@pytest.fixture
def node():
    with serving("--name", "n1") as started:
        yield started


def filled(provider):
    with HAContext(provider) as ctx:
        for name, value in TREE.items():
            ctx.bind(name, value, create_parents=True)
        ctx.create_subcontext("empty/context", create_parents=True)


def test_a_tree_goes_round(nodes, tmp_path, node):
    provider = nodes.provider
    filled(provider)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    done = run("export", str(first), provider=provider)
    assert (done.status, done.out) == (0, "")
    assert done.err == "exported 8 bindings in 6 contexts\n"
    done = run("import", str(first), provider=node.url)
    assert (done.status, done.out) == (0, "")
    assert done.err == "of 14 names: 14 bound\n"
    assert run("export", str(second), provider=node.url).status == 0
    assert first.read_bytes() == second.read_bytes()
    with HAContext(node.url) as ctx:
        assert {name: ctx.lookup_link(name) for name in TREE} == TREE
        assert ctx.list_names("empty/context") == []
    document = json.loads(first.read_text(encoding="utf-8"))
    assert list(document) == sorted(document, key=lambda name: name.split("/"))
    assert len(first.read_text(encoding="utf-8").splitlines()) == len(document) + 2
    assert [entry.name for entry in os.scandir(tmp_path) if entry.name.startswith(".")] == []


def test_through_a_pipe_into_a_local_tree(node):
    with Context(node.url) as local:
        local.bind("a/b", 1, create_parents=True)
    out = run("export", "--local", "-q", provider=node.url)
    assert (out.status, out.err) == (0, "")
    assert json.loads(out.out) == {"a": {"$context": "a"}, "a/b": 1}
    assert run("export", provider=node.url).out == "{}\n"
    with serving("--name", "n2") as other:
        assert run("import", "--local", "-", stdin=out.out, provider=other.url).status == 0
        with Context(other.url) as local:
            assert local["a/b"] == 1
        assert run("lookup", "a/b", provider=node.url).out == "1\n"


def test_an_import_can_be_repeated_and_replaces_only_what_it_is_told_to(node, tmp_path):
    file = tmp_path / "tree.json"
    file.write_text('{"a/same": 1,\n "a/other": true, "a/new": 3,\n "a/gone/x": 4,\n "a/ctx": 5}\n', encoding="utf-8")
    with HAContext(node.url) as ctx:
        # To Python `1` equals `True`.
        for name, value in {"same": 1, "other": 1, "gone": "no context", "kept": 0}.items():
            ctx.bind(f"a/{name}", value, create_parents=True)
        ctx.create_subcontext("a/ctx")
        done = run("import", str(file), provider=node.url)
        assert done.status == 1
        assert done.err.splitlines() == [
            f"hanaming: {file}:2:2: 'a/other' is refused: bound to 1",
            f"hanaming: {file}:3:2: 'a/gone' is refused: bound to \"no context\", which is no context",
            f"hanaming: {file}:3:2: 'a/gone/x' is refused: 'a/gone' is no context",
            f"hanaming: {file}:4:2: 'a/ctx' is refused: a context is there",
            "of 7 names: 1 bound, 2 unchanged, 4 refused",
        ]
        assert ctx["a/other"] == 1
        report = json.loads(run("import", str(file), "--replace", "--json", provider=node.url).out)
        assert [row["name"] for row in report.pop("refused")] == ["a/gone", "a/gone/x", "a/ctx"]
        assert report == {"bound": 0, "replaced": 1, "unchanged": 3, "remaining": 0}
        assert ctx["a/other"] is True
        assert {name: ctx.lookup(f"a/{name}") for name in ("gone", "kept")} == {"gone": "no context", "kept": 0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1:1: not JSON: '{' is missing; a tree is one JSON object, from names to values"),
        ("[]", ":1:1: not JSON: '{' is missing; a tree is one JSON object, from names to values"),
        ('{"a": 1,\n  "b": }', ":2:8: not JSON: Expecting value"),
        ('{"a": 1\n  "b": 2}', ":2:3: not JSON: ',' is missing; the next name, or the end of the object, is to follow"),
        ('{"a": 1, 5: 2}', ":1:10: a name is a string"),
        ('{"a": 1} x', ":1:10: not JSON: something follows the object"),
        ('{"a": 1,\n "a": 2}', ":2:2: 'a' stands here and at FILE:1:2"),
        ('{"a": 1,\n "a/b": 2}', ":2:2: 'a/b' is beneath 'a', which is no context at FILE:1:2"),
        ('{\n"a": {"$link": 5}}', ":2:6: $link is not followed by what it needs; see `hanaming bind --help`"),
        ('{\n"a": {"$context": "b"}}', ':2:6: a context\'s mark names the context: {"$context": "a"}'),
        ('{\n"a": {"x": 1, "x": 2}}', ':2:6: the key "x" stands twice in one object'),
        ('{\n"a": NaN}', ':2:6: NaN is no JSON; write {"$float": "nan"}'),
        ('{\n"": 1}', ":2:1: the empty name is the tree itself"),
        ('{"a": ' + "[" * 100_000, ":1:7: the value is nested too deeply"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_place_and_nothing_is_bound(node, tmp_path, text, said):
    file = tmp_path / "tree.json"
    file.write_text(text, encoding="utf-8")
    done = run("import", str(file), provider=node.url)
    assert done.status == 2
    assert done.err.rstrip().endswith(f"{file}{said}".replace("FILE", str(file)))
    assert run("ls", provider=node.url).out == ""


def test_what_is_no_name_or_no_text(node, tmp_path):
    file = tmp_path / "tree.json"
    file.write_bytes(b'{"a": 1,\n "b": "\xff"}')
    done = run("import", str(file), provider=node.url)
    assert (done.status, done.err.rstrip()[-len(f"{file}:2: not UTF-8") :]) == (2, f"{file}:2: not UTF-8")
    missing = run("import", str(tmp_path / "absent.json"), provider=node.url)
    assert (missing.status, "absent.json can't be read: No such file" in missing.err) == (2, True)
    into = run("export", str(tmp_path / "absent" / "tree.json"), provider=node.url)
    assert (into.status, "can't be written: No such file" in into.err) == (74, True)


def test_nobody_there(tmp_path):
    file = tmp_path / "tree.json"
    file.write_text('{"a": 1}', encoding="utf-8")
    done = run("import", str(file), "--timeout", "0.3", provider=closed_port())
    assert done.status == 3
    assert done.err.endswith("1 name of 1 remain; the same command goes on with them\n")


def test_an_export_that_fails_leaves_the_file_as_it_was(tmp_path):
    file = tmp_path / "tree.json"
    file.write_text("before", encoding="utf-8")
    assert run("export", str(file), "--timeout", "0.3", provider=closed_port()).status == 3
    assert [entry.name for entry in os.scandir(tmp_path)] == ["tree.json"]
    assert file.read_text(encoding="utf-8") == "before"


def test_an_import_that_cannot_know_its_outcome_says_so_and_goes_on_when_repeated(tmp_path):
    file = tmp_path / "tree.json"
    file.write_text(json.dumps({f"n{number:03}": number for number in range(100)}), encoding="utf-8")
    address = closed_port().removeprefix("hn://")
    with without_replies(address) as provider:
        advertised = provider.removeprefix("hn://")
        with serving("--name", "n1", "--listen", address, "--advertise", advertised, listen=None):
            # Whoever asks on this way, which is all that clients are told, hears nothing back of what has run.
            single = run("bind", "single", "1", "--timeout", "1", provider=provider)
            assert (single.status, single.out) == (4, "")
            done = run("import", str(file), "--timeout", "1", provider=provider)
            assert done.status == 4
            assert done.err.endswith(" of 100 remain; the same command goes on with them\n")
            with HAContext(f"hn://{address}", follow_views=False) as ctx:
                assert ctx["single"] == 1
                names = set(ctx) - {"single"}
                assert names
                assert all(ctx[name] == int(name[1:]) for name in names)


def test_an_interrupted_import_goes_on(node, tmp_path):
    file = tmp_path / "tree.json"
    names = {f"c{number % 7}/n{number}": "x" * 50 for number in range(8_000)}
    file.write_text(json.dumps(names), encoding="utf-8")
    command = [*HANAMING, "import", "-q", str(file), "--provider", node.url]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) as importing:
        with HAContext(node.url) as ctx:
            eventually(lambda: "c0" in ctx and len(ctx.list_names("c0")) > 50, LIMIT)
        importing.send_signal(signal.SIGINT)
        assert importing.wait(LIMIT) == 130
    again = run("import", str(file), "--json", provider=node.url)
    report = json.loads(again.out)
    assert report["bound"] > 0
    assert report["unchanged"] > 50
    assert report["bound"] + report["unchanged"] == len(names) + 7
    exported = json.loads(run("export", provider=node.url).out)
    assert {name: value for name, value in exported.items() if "/" in name} == names


def test_progress_is_shown_on_a_terminal(node, tmp_path):
    pty = pytest.importorskip("pty")
    file = tmp_path / "tree.json"
    file.write_text(json.dumps({f"n{number}": number for number in range(3000)}), encoding="utf-8")
    above, below = pty.openpty()
    try:
        done = subprocess.run(
            [*HANAMING, "import", str(file), "--provider", node.url],
            stderr=below,
            env=environment(),
            timeout=LIMIT,
            check=False,
        )
        os.close(below)
        shown = b""
        while piece := _read(above):
            shown += piece
    finally:
        os.close(above)
    assert done.returncode == 0
    assert b"imported: " in shown
    assert b" of 3,000\r\x1b[K" in shown
    assert b"of 3000 names: 3,000 bound" in shown


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # nobody is left at the other end
        return b""


def test_status_tells_conflicts():
    seed = closed_port().removeprefix("hn://")
    with serving("--name", "n2", "--seed", seed) as other:
        assert run("bind", "both", '"n2"', provider=other.url).status == 0
        # Stopped, it can't meet the one that it has been looking for, which binds the same name.
        other.stop()
        with serving("--name", "n1", listen=seed) as one:
            try:
                assert run("bind", "both", '"n1"', provider=one.url).status == 0
            finally:
                other.signal(signal.SIGCONT)
            eventually(lambda: json.loads(run("status", "--json", provider=one.url).out)["conflicts"] == 1, LIMIT)
            table = run("status", provider=one.url)
            assert (table.status, "1 name of the cluster tree in conflict" in table.err) == (0, True)
            listed = json.loads(run("check", "--json", provider=other.url).out)["conflicts"]
            assert [conflict["name"] for conflict in listed] == ["both"]
            assert {version["value"] for version in listed[0]["versions"]} == {"n1", "n2"}


def test_status_tells_lag():
    with Cluster(["n1", "n2"], processes=True) as nodes:
        (one, other), provider = nodes, nodes.provider
        assert run("bind", "a", "1", provider=provider).status == 0
        document = json.loads(run("status", "--json", provider=provider).out)
        assert document["conflicts"] == 0
        first, second = document["members"]
        assert (first["lag"], second["lag"]) == (0, 0)
        assert first["writes"] == 1
        assert (first["seen"], first["digest"]) == (second["seen"], second["digest"])
        # One is frozen and the other writes alone: then it is behind, until it has copied what it missed.
        other.pause()
        assert run("rebind", "a", "2", "--timeout", "20", provider=one.url).status == 0
        other.resume()

        def caught_up():
            members = json.loads(run("status", "--json", provider=provider).out)["members"]
            return len(members) == 2 and {member.get("lag") for member in members} == {0}

        eventually(caught_up, LIMIT)
        assert "lag" in run("status", provider=provider).out.splitlines()[0]
