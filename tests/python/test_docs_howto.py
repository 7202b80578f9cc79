"""The how-to pages' examples, called as their readers would: what a command prints, and each client library's loop."""

from __future__ import annotations

import re
import shlex
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import stand_ins
from cli_support import HANAMING
from hanaming import Balancer
from test_docs import ROOT, execute

HOWTO = ROOT / "docs" / "howto"
FILE = re.compile(r'^```text title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n\$ (hanaming (?:classify|explain) [^\n]*)\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def printed():
    """Each command of a page whose output stands below it."""
    for page in sorted(HOWTO.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for match in CONSOLE.finditer(text):
            if not match[2].startswith("$ "):
                yield pytest.param(dict(FILE.findall(text)), match[1], match[2], id=match[1])


@pytest.mark.parametrize(("files", "command", "output"), [*printed()])
def test_what_a_command_prints(files, command, output, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    program, *arguments = shlex.split(command)
    assert program == "hanaming"
    done = execute([*HANAMING, *arguments], cwd=tmp_path)
    assert [line.rstrip() for line in done.stdout.splitlines()] == [line.rstrip() for line in output.splitlines()]


def test_the_pages_show_what_commands_print():
    assert len(list(printed())) >= 3


@pytest.fixture(scope="module")
def example():
    """The functions of the page's block that imports a library."""

    def read(library):
        pytest.importorskip(library)
        page = (HOWTO / "balance.md").read_text(encoding="utf-8")
        (code,) = re.findall(rf"^```python\n((?:(?!```).)*?^import {library}$.*?)^```$", page, re.MULTILINE | re.DOTALL)
        names = {}
        exec(compile(code, f"balance.md: {library}", "exec"), names)  # noqa: S102 - the document's own code
        return names

    return read


@pytest.fixture
def dead():
    """An address that refuses for as long as the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def answers(dead, live, call):
    """What a call gives that finds a dead server first, several times over."""
    with Balancer([dead, live], policy="first_available", timeout=20.0) as balancer:
        found = {str(call(balancer)) for _ in range(4)}
    with Balancer([dead], timeout=1.0) as nobody, pytest.raises(Exception) as caught:
        call(nobody)
    assert len(caught.value.attempts) >= 1
    return found


def test_redis(example, dead):
    cached = example("redis")["cached"]
    with stand_ins.serving(stand_ins.redis) as live:
        assert answers(dead, live, lambda caches: cached(caches, "tea")) == {"b'value'"}


def test_psycopg(example, dead):
    rows = example("psycopg")["rows"]
    with stand_ins.serving(stand_ins.postgres) as live:
        assert answers(dead, live, lambda databases: rows(databases, "SELECT a FROM b")) == {"[('value',)]"}


def test_grpc(example, dead):
    stock = example("grpc")["stock"]
    from concurrent import futures  # noqa: PLC0415

    import grpc  # noqa: PLC0415 - it may be missing

    class Stock(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(lambda request, _: request + b": 7")

    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Stock(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        assert answers(dead, f"127.0.0.1:{port}", lambda shops: stock(shops, b"tea")) == {"b'tea: 7'"}
    finally:
        server.stop(None).wait(10)


def test_httpx(example, dead):
    functions = example("httpx")
    import httpx  # noqa: PLC0415 - it may be missing

    placed = []

    class Orders(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(b"42 orders")

        def do_POST(self):
            placed.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(b"")

        def answer(self, body):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Orders)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        live = f"127.0.0.1:{server.server_port}"
        with httpx.Client() as client:
            assert answers(dead, live, lambda orders: functions["orders_of"](orders, client)) == {"42 orders"}
            with Balancer([dead, live], policy="first_available") as orders:
                functions["place"](orders, client, "tea")
        assert placed == [b"tea"]
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
