"""How things look: a short `repr`, and an HTML form for notebooks that is safe and never uses the network."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from hanaming import Attempt, CompletionStatus, Context, HAContext, LinkRef, Name, NameNotFoundError, Node, Reference
from hanaming.records import CheckReport, OperationStatus
from hanaming.records.attempts import Attempts

NASTY = "<script>alert(1)</script>&\"'"


class Reader(HTMLParser):
    """Checks that what was opened is closed, and gathers texts and tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        for name, value in attrs:
            assert name == "style"
            # The page's own colours: nothing that a dark theme would make unreadable.
            assert value is not None
            assert not re.search(r"color|background|url|#", value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def shown(thing: Any) -> str:
    reader = Reader()
    reader.feed(thing._repr_html_())
    reader.close()
    assert not reader.open
    assert "script" not in reader.tags
    return reader.text


@pytest.fixture
def busy(node: Node) -> Node:
    node.local.bind("a", NASTY)
    return node


def test_contexts(busy: Node) -> None:
    assert repr(busy.local) == "<Context of n1 in process>"
    assert repr(busy.context()) == "<HAContext through n1 in process>"
    with Context(busy.url) as ctx:
        assert repr(ctx) == f"<Context of {busy.address}>"
    assert repr(ctx) == f"<Context of {busy.address}, closed>"
    with HAContext([busy.url, "127.0.0.1:1"]) as ha:
        assert repr(ha) == f"<HAContext over {busy.address} and 1 more>"
        ha.create_subcontext("sub")
        assert repr(ha["sub"]) == f"<HAContext 'sub' over {ha.targets[0]} and 1 more>" or len(ha.targets) == 1
        text = shown(ha)
        assert busy.address in text
        assert "n1" in text
    assert "n1" in shown(busy.local)
    assert "in process" in shown(busy.context())


def test_what_a_node_has_at_hand_is_a_tree(busy: Node) -> None:
    busy.local.bind("services/mail/smtp", {"url": "smtp://x"}, create_parents=True)
    busy.local.bind("services/'a/b'", None)
    busy.context().bind("limits", 100)
    text = shown(busy.local)
    assert "Local tree of n1: 5 names\n" in text
    assert f"a: {NASTY!r}\n" in text
    assert "services/\na/b: None\nmail/\nsmtp: {'url': 'smtp://x'}\n" in text
    assert "Cluster tree" not in text
    assert "Cluster tree: 1 name\nlimits: 100\nLocal tree of n1: 5 names" in shown(busy.context())
    assert "smtp: {'url': 'smtp://x'}" in shown(busy)
    beneath = shown(busy.local.lookup("services"))
    assert "Local tree of n1: 3 names\na/b: None\nmail/\nsmtp" in beneath
    for number in range(100):
        busy.local.bind(f"many-{number:02}", number)
    text = shown(busy.local)
    assert "105 names" in text
    assert "and 65 more names" in text
    busy.close()
    assert "names\n" not in shown(busy)


def test_listings_are_tables(busy: Node) -> None:
    busy.context().bind("a", 1)
    busy.local.bind("sub/b", 2, create_parents=True)
    with HAContext(busy.url) as ctx:
        text = shown(ctx.list_bindings())
        assert "2 names\nname\nvalue\nfrom\nalso in\na\n1\ncluster (n1)\nlocal:n1\nsub/\nlocal (n1)\n" in text
        text = shown(ctx.list_names())
        assert "sub/\ncontext\nlocal (n1)\n" in text
        assert ctx.list_names() == list(ctx.list_names())
    assert shown(busy.local.list_names("sub")).startswith("1 name\n")


def test_attempts_are_a_time_line() -> None:
    def attempt(elapsed: float) -> Attempt:
        return Attempt("127.0.0.1:1", "wait", "no answer", CompletionStatus.MAYBE, elapsed, None)

    html = Attempts([attempt(0.25), attempt(0.75)])._repr_html_()
    assert "2 attempts, 1.00 s" in html
    assert re.findall(r"margin-left:([\d.]+)%;width:([\d.]+)%", html) == [
        ("0.0", "25.0"),
        ("25.0", "75.0"),
    ]
    assert "margin-left" not in Attempts([attempt(0.0)])._repr_html_()


def test_metrics() -> None:
    with HAContext("127.0.0.1:1,127.0.0.1:2") as ctx:
        assert "targets that came\n2\n" in shown(ctx.metrics)


def test_a_display_never_uses_the_network() -> None:
    with HAContext("hn://192.0.2.1:9,unresolvable.invalid:1") as ctx:
        assert "192.0.2.1:9" in repr(ctx)
        assert "192.0.2.1:9" in shown(ctx)
        assert {target.state for target in ctx.targets} == {"untried"}
        assert ctx.explain() == []
        assert repr(ctx.explain()) == "<no attempts>"
        assert "0 attempts" in shown(ctx.explain())


def test_attempts_are_short_however_many_and_however_wordy() -> None:
    made = Attempt(
        "127.0.0.1:1", "connect", "connection refused", CompletionStatus.NO, 0.001, "the request did not run there"
    )
    assert repr(made) == "<Attempt at 127.0.0.1:1: connection refused, NO, 1 ms>"
    assert repr(Attempts([made])) == "<1 attempt, at 127.0.0.1:1: connection refused>"
    assert repr(Attempts([made] * 6)) == "<6 attempts, the last at 127.0.0.1:1: connection refused>"
    wordy = Attempt("127.0.0.1:1", "answer", "x" * 500, CompletionStatus.NO, 0.001, None)
    assert max(len(repr(wordy)), len(repr(Attempts([wordy] * 6)))) < 120


def test_node_and_view(busy: Node) -> None:
    assert repr(busy) == f"<Node n1 at {busy.address}, live>"
    assert busy.address in shown(busy)
    assert re.fullmatch(r"<View [0-9a-f]+: n1>", repr(busy.view))
    assert "live" in shown(busy.view)
    (member,) = busy.view.members
    assert repr(member) == f"<Member n1 at {busy.address}, live>"
    busy.close()
    assert repr(busy) == f"<Node n1 at {busy.address}, closed>"


def test_resolution_and_attempts(busy: Node) -> None:
    with HAContext(busy.url) as ctx:
        found = ctx.resolve("a")
        assert repr(found).startswith(f"<Resolution {NASTY!r} from local (n1), ")
        assert NASTY in shown(found).replace("\\", "")
        assert "found" in shown(ctx.explain())
        with pytest.raises(NameNotFoundError):
            ctx.lookup("b")
        assert "no such name" in shown(ctx.explain())


def test_rows(busy: Node) -> None:
    busy.local.bind("long", "x" * 1000)
    entry, long = busy.local.list_names()
    assert repr(entry) == "<NameEntry 'a': value str, local (n1)>"
    binding, long_binding = busy.local.list_bindings()
    assert repr(binding) == f"<Binding 'a': {NASTY!r}, local (n1)>"
    assert len(repr(long_binding)) < 120
    assert long.name == "long"
    registration = busy.register("orders", 1, weight=2.5)
    assert repr(registration) == "<Registration 'orders/n1' on n1, open>"
    assert repr(busy.context().instances("orders")[0]) == "<Instance 1 on n1, weight 2.5>"


def test_receipt_and_target(busy: Node) -> None:
    receipt = busy.local.rebind("a", 1)
    assert repr(receipt) == f"<Receipt {receipt.version}: held by n1; 1 of 1 live>"
    with HAContext(busy.url) as ctx:
        (target,) = ctx.targets
        assert str(target) == busy.address
        assert repr(target) == f"<Target {busy.address} untried, from provider>"
        assert (target.host, target.hostname, target.port) == (
            "127.0.0.1",
            "127.0.0.1",
            int(busy.address.split(":")[1]),
        )
        assert target.age >= 0
        ctx.lookup("a")
        assert ctx.targets[0].state == "good"
        assert ctx.view == busy.view


def test_what_became_of_a_change(busy: Node) -> None:
    receipt = busy.context().bind("x", 1)
    assert f"Receipt\nversion\n{receipt.version}\nheld by\nn1\nlive\n1 of 1 member\n" in shown(receipt)
    done = OperationStatus("done", NASTY, "4.n1", [])
    assert repr(done) == f"<OperationStatus done of {NASTY!r}, version 4.n1>"
    assert f"state\ndone\nname\n{NASTY}\nversion\n4.n1\n" in shown(done)
    unknown = OperationStatus("unknown", None, None, ["n2", "n3"])
    assert repr(unknown) == "<OperationStatus unknown; silent: n2, n3>"
    assert "state\nunknown\nsilent\nn2, n3\n" in shown(unknown)


def test_what_a_node_says_of_itself(busy: Node) -> None:
    with Context(busy.url) as ctx:
        status = ctx.status()
    assert repr(status) == f"<NodeStatus of n1 at {busy.address}, live>"
    text = shown(status)
    assert f"Node n1\naddress\n{busy.address}\ncluster\ndefault\nstate\nlive\nup for\n" in text
    assert "names in its local tree\n1\nnames in the cluster tree\n0\n" in text
    assert f"Members\nmember\naddress\nstate\nn1\n{busy.address}\nlive\n" in text
    assert "Settings\nsetting\nvalue\nfrom\n" in text
    assert "warning" not in text
    assert f"warning\n{NASTY}\n" in shown(replace(status, warnings=[NASTY]))


def test_a_context_of_another_process_says_how_its_names_are_had(busy: Node) -> None:
    with HAContext(busy.url) as ctx:
        assert "not asked for by a display; ctx.list_bindings() is a table of them" in shown(ctx)
    assert "not asked for" not in shown(ctx)
    assert "not asked for" not in shown(busy.context())


def test_check_report(cluster: Callable[[int], list[Node]]) -> None:
    first, second = cluster(2)
    assert repr(CheckReport([], [], [])) == "<CheckReport: nothing found>"
    assert "nothing found" in shown(CheckReport([], [], []))
    first.local.bind("a", NASTY)
    second.local.bind("a", 2)
    report = first.check()
    assert repr(report) == "<CheckReport mismatch: 'a'>"
    assert "n2: 2" in shown(report)


def test_values() -> None:
    reference = Reference("Orders", [("url", "http://x"), ("stub", b"\0")], "orders")
    assert repr(reference) == "Reference('Orders', [('url', 'http://x'), ('stub', b'\\x00')], factory='orders')"
    assert eval(repr(reference), {"Reference": Reference}) == reference  # noqa: S307
    assert repr(Reference("Orders")) == "Reference('Orders')"
    assert repr(LinkRef("a/b")) == "LinkRef('a/b')"
    assert str(Name("a/b")) == "a/b"


def test_targets_are_a_table() -> None:
    with HAContext("127.0.0.1:1,127.0.0.1:2") as ctx:
        assert "127.0.0.2" not in ctx.targets._repr_html_()  # type: ignore[attr-defined]
        assert "127.0.0.1:2" in ctx.targets._repr_html_()  # type: ignore[attr-defined]
        assert [str(target) for target in ctx.targets] == ["127.0.0.1:1", "127.0.0.1:2"]
