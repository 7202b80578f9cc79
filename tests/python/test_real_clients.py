"""Real failures of the usual HTTP clients and of redis, which hanaming knows by their classes' names alone."""

from __future__ import annotations

import asyncio
import sys

import pytest

import broken_servers as broken
from broken_servers import failure
from hanaming import Category, CompletionStatus, classify

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
redis = pytest.importorskip("redis")
requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")
NoBackoff = pytest.importorskip("redis.backoff").NoBackoff
Retry = pytest.importorskip("redis.retry").Retry

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES
TIMEOUT = 0.25


def by_requests(url):
    return requests.get(url, timeout=TIMEOUT).text


def by_urllib3(url):
    with urllib3.PoolManager() as pool:
        return pool.request("GET", url, timeout=TIMEOUT, retries=False).data


def by_urllib3_with_retries(url):
    with urllib3.PoolManager() as pool:
        return pool.request("GET", url, timeout=TIMEOUT, retries=1).data


def by_httpx(url):
    return httpx.get(url, timeout=TIMEOUT).text


def by_async_httpx(url):
    async def get():
        async with httpx.AsyncClient(timeout=TIMEOUT) as client:
            return (await client.get(url)).text

    return asyncio.run(get())


def aiohttp_with(timeout):
    def get(url):
        async def fetch():
            async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as reply:
                return await reply.text()

        return asyncio.run(fetch())

    return get


HTTP = {
    "requests": by_requests,
    "urllib3": by_urllib3,
    "urllib3-retries": by_urllib3_with_retries,
    "httpx": by_httpx,
    "httpx-async": by_async_httpx,
    "aiohttp-total": aiohttp_with(aiohttp.ClientTimeout(total=TIMEOUT)),
    "aiohttp-phases": aiohttp_with(aiohttp.ClientTimeout(sock_connect=TIMEOUT, sock_read=TIMEOUT)),
}


def outcome(call, *args):
    found = classify(failure(call, *args))
    return found.category, found.completion


@pytest.fixture(params=HTTP)
def get(request):
    return HTTP[request.param]


def test_nothing_was_sent(get):
    assert outcome(get, f"http://127.0.0.1:{broken.closed_port()}/") == (Category.NOT_CONNECTED, NO)
    assert outcome(get, "http://no-such-host.invalid/") == (Category.NOT_CONNECTED, NO)
    with broken.full() as port:
        assert outcome(get, f"http://127.0.0.1:{port}/") == (Category.NOT_CONNECTED, NO)


@pytest.mark.parametrize(
    ("server", "category"),
    [
        (broken.frozen, Category.NO_RESPONSE),
        (broken.resetting, Category.CONNECTION_LOST),
        (broken.hanging_up, Category.CONNECTION_LOST),
        (broken.half_answering, Category.CONNECTION_LOST),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_request_left(get, server, category):
    with broken.serving(server) as port:
        assert outcome(get, f"http://127.0.0.1:{port}/") == (category, MAYBE)


def test_nobody_trusts_it(get, tmp_path):
    with broken.tls(tmp_path) as port:
        assert outcome(get, f"https://localhost:{port}/") == (Category.SECURITY, NO)


def test_a_handshake_that_breaks_has_sent_nothing(get):
    # urllib3 calls a handshake that timed out a read that timed out; what it was raised for knows better.
    for server in (broken.frozen, broken.resetting, broken.hanging_up):
        with broken.serving(server) as port:
            assert outcome(get, f"https://localhost:{port}/")[1] is NO, server.__name__


def test_a_url_that_is_none(get):
    assert outcome(get, "gopher://localhost/") == (Category.CONFIGURATION, NO)


def test_an_answer_is_an_answer():
    async def fetch(url):
        async with aiohttp.ClientSession(raise_for_status=True) as session, session.get(url):
            pass

    with broken.serving(broken.unavailable) as port:
        url = f"http://127.0.0.1:{port}/"
        for call in (
            lambda: requests.get(url, timeout=5).raise_for_status(),
            lambda: httpx.get(url, timeout=5).raise_for_status(),
            lambda: asyncio.run(fetch(url)),
        ):
            assert outcome(call) == (Category.APPLICATION, YES)


def ask_redis(port, host="127.0.0.1"):
    limits = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    with redis.Redis(host=host, port=port, retry=Retry(NoBackoff(), 0), **limits) as client:
        return client.get("orders")


def test_redis():
    assert outcome(ask_redis, broken.closed_port()) == (Category.NOT_CONNECTED, NO)
    assert outcome(ask_redis, 6379, "no-such-host.invalid") == (Category.NOT_CONNECTED, NO)
    with broken.full() as port:
        assert outcome(ask_redis, port) == (Category.NOT_CONNECTED, NO)
    with broken.serving(broken.frozen) as port:
        assert outcome(ask_redis, port) == (Category.NO_RESPONSE, MAYBE)
    for server in (broken.resetting, broken.hanging_up):
        with broken.serving(server) as port:
            assert outcome(ask_redis, port) == (Category.CONNECTION_LOST, MAYBE)
    with broken.serving(broken.half_answering) as port:
        assert outcome(ask_redis, port) == (Category.CONFIGURATION, MAYBE)


def test_none_of_them_is_imported():
    import subprocess  # noqa: PLC0415

    code = (
        "import sys, hanaming; hanaming.classify(ConnectionResetError('x')); hanaming.classify('x'); "
        "print(sorted({'grpc', 'requests', 'httpx', 'aiohttp', 'urllib3', 'redis', 'omniORB'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
