"""What proves that a connection was still being made: a lost reply that is read as "did not run" is delivered twice."""

from __future__ import annotations

import asyncio
import gc
import linecache
import socket
import sys

import pytest

import broken_servers as broken
import hanaming
from broken_servers import failure
from hanaming import CompletionStatus, classify
from hanaming.classification import calls

NO, MAYBE = CompletionStatus.NO, CompletionStatus.MAYBE
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
BY_POSITION = sys.version_info >= (3, 11)

# What a client does with `a`, an address, and `s`, a socket with a time limit.
CONNECTS = {
    "alone": "s.connect(a)",
    "library": "socket.create_connection(a, timeout=0.3)",
    "attribute": "held.s.connect(a)",
    "two-lines": "s.connect(\n    a\n)",
}
# The position of the failing call tells these apart from what follows; a line alone doesn't.
CONNECTS_BY_POSITION = {
    "and-more": 's.connect(a); s.send(b"PAY"); s.recv(1)',
    "conditional": "s.connect(a) or s.recv(1)",
    "nested": "print(s.connect(a))",
}
PAYS = {
    "with": 'with socket.create_connection(a, 0.3) as s: s.sendall(b"PAY"); s.recv(1)',
    "one-line": 's.connect(a); s.send(b"PAY"); s.recv(1)',
    "chained": "socket.create_connection(a, 0.3).recv(1)",
    "chained-over-lines": "x = (\n    socket.create_connection(a, 0.3)\n    .recv(1)\n)",
    "comment": 's.connect(a); s.send(b"PAY")\ns.recv(1)  # s.connect(a)',
    "named": "def connect_and_pay():\n    s.connect(a)\n    s.recv(1)\nconnect_and_pay()",
    "own-connect": "def connect():\n    s.connect(a)\n    s.recv(1)\nconnect()",
    "own-create_connection": "def create_connection():\n    s.connect(a)\n    s.recv(1)\ncreate_connection()",
    "argument": "def pay():\n    t = socket.create_connection(a, 0.3); t.recv(1)\ns.connect(pay())",
    "raised": "def login():\n    raise TimeoutError('s.connect(a)')\nlogin()",
}


def run(code, port, name):
    """Runs source that tracebacks can show."""
    code = f"import socket\nclass held: s = s\ndef go(s, a):\n{_indented(code)}\ngo(s, a)\n"
    file = f"<{name}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    with socket.socket() as s:
        s.settimeout(broken.SHORT)
        # The frame that fails is one of this source.
        exec(compile(code, file, "exec"), {"s": s, "a": ("127.0.0.1", port)})  # noqa: S102 - code of this test


def innermost(error):
    entry = error.__traceback__
    while entry.tb_next is not None:
        entry = entry.tb_next
    return entry


@pytest.fixture(autouse=True)
def _collected():
    """What a call leaves open when it fails is closed with what it raised."""
    yield
    gc.collect()


def _indented(code):
    return "\n".join(f"    {line}" for line in code.splitlines())


@pytest.mark.parametrize("name", CONNECTS)
def test_nothing_was_sent(name):
    with broken.full() as port:
        assert classify(failure(run, CONNECTS[name], port, name)).completion is NO


@pytest.mark.parametrize("name", CONNECTS_BY_POSITION)
def test_nothing_was_sent_as_the_position_shows(name):
    with broken.full() as port:
        assert classify(failure(run, CONNECTS_BY_POSITION[name], port, name)).completion is (
            NO if BY_POSITION else MAYBE
        )


@pytest.mark.parametrize("name", PAYS)
def test_the_request_left(name):
    with broken.serving(broken.frozen) as port:
        assert classify(failure(run, PAYS[name], port, name)).completion is MAYBE


@pytest.mark.parametrize("name", PAYS)
def test_lines_alone_prove_no_more(name):
    # As before Python 3.11, on each version.
    with broken.serving(broken.frozen) as port:
        entry = innermost(failure(run, PAYS[name], port, name))
    call = calls._alone_on_line(tuple(linecache.getlines(entry.tb_frame.f_code.co_filename)), entry.tb_lineno)
    assert call is None or "connect" not in calls._shown(call.func)


@pytest.mark.parametrize(
    ("source", "line", "sole"),
    [
        ("s.connect(a)", 1, True),
        ("x = await_ = s.connect(a)", 1, True),
        ("async def f():\n    await loop.sock_connect(s, a)", 2, True),
        ("s.connect(a).recv(1)", 1, False),
        ("(s.connect(a)\n .recv(1))", 1, False),
        ("s.connect(a); s.recv(1)", 1, False),
        ("s.recv(1)  # s.connect(a)", 1, True),
        ("with s.connect(a): pass", 1, False),
        ("s.connect(b())", 1, False),
        ("s.connect(", 1, False),
    ],
)
def test_the_only_call_of_a_line(source, line, sole):
    assert (calls._alone_on_line(tuple(source.splitlines(keepends=True)), line) is not None) is sole


def test_leaving_a_block_is_not_entering_it():
    # An exit of a C library has no frame of its own, and the position of the call that entered.
    code = "class Held:\n    __enter__ = str\n    __exit__ = s.send\nheld.connect = Held\nwith held.connect(): pass"
    entry = innermost(failure(run, code, 1, "leaving"))
    assert entry.tb_frame.f_code.co_name == "go"
    assert calls.failing_call(entry) is None


def test_a_retry_that_could_not_connect_says_nothing_of_the_first_try():
    class ConnectTimeout(Exception):  # noqa: N818 - as in httpx
        pass

    def pay():
        try:
            raise ConnectionResetError  # noqa: TRY301 - as a call would
        except ConnectionResetError:
            raise ConnectTimeout  # noqa: B904 - what is handled is the context

    assert classify(failure(pay)).completion is MAYBE


@pytest.mark.parametrize("name", PAYS)
def test_a_balancer_delivers_at_most_once(name):
    delivered = []

    def take(connection):
        delivered.append(connection.recv(100))  # and never answers

    def pay(target):
        run(PAYS[name], target.port, name)

    with broken.serving(take) as one, broken.serving(take) as two:
        balancer = hanaming.Balancer([f"127.0.0.1:{one}", f"127.0.0.1:{two}"])
        error = failure(balancer.call, pay)
    assert classify(error).completion is MAYBE
    assert len([request for request in delivered if request]) <= 1


def test_asyncio_in_functions_of_one_s_own():
    async def connect_and_pay(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"PAY")
        await reader.readexactly(1)

    async def open_connection(port):
        await asyncio.wait_for(connect_and_pay(port), broken.SHORT)

    with broken.serving(broken.frozen) as port:
        assert classify(failure(asyncio.run, open_connection(port))).completion is MAYBE
    with broken.full() as port:
        assert classify(failure(asyncio.run, open_connection(port))).completion is NO
