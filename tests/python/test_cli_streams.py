"""Standard output and standard error that are closed or full: one line says so, and no traceback ever does."""

from __future__ import annotations

import shlex
import signal
import subprocess

import pytest

from cli_support import HANAMING, LIMIT, Served, environment, eventually, run, serving

NOWHERE = [">&-", ">/dev/full"]


@pytest.fixture(scope="module")
def node():
    with serving("--name", "solo") as served:
        assert run("bind", "a", "1", provider=served.url).status == 0
        yield served


def shell(command, redirection, provider):
    return subprocess.run(
        ["/bin/sh", "-c", f"exec {shlex.join(HANAMING)} {command} {redirection}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment(HANAMING_PROVIDER=provider),
        check=False,
    )


@pytest.mark.parametrize("redirection", NOWHERE)
@pytest.mark.parametrize(
    "command", ["ls", "ls -l", "ls --json", "lookup a", "tree", "status", "check --json", "--help"]
)
def test_an_answer_that_cannot_be_written_is_exit_status_74(node, command, redirection):
    lost = shell(command, redirection, node.url)
    assert lost.returncode == 74
    assert "hanaming: standard output can't be written: " in lost.stderr.splitlines()[-1]
    assert "Traceback" not in lost.stderr
    assert "Exception ignored" not in lost.stderr


@pytest.mark.parametrize("redirection", NOWHERE)
def test_what_has_no_answer_needs_no_output(node, redirection):
    assert shell("rebind a 1", redirection, node.url).returncode == 0
    assert shell("lookup missing", redirection, node.url).returncode == 1
    assert shell("lookup", redirection, node.url).returncode == 2


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_without_standard_error_the_answer_and_the_exit_status_stay(node, redirection):
    found = shell("lookup a -v", redirection, node.url)
    assert (found.returncode, found.stdout) == (0, "1\n")
    assert shell("rebind a 1", redirection, node.url).returncode == 0
    assert shell("lookup missing", redirection, node.url).returncode == 1
    assert shell("lookup", redirection, node.url).returncode == 2


def test_a_value_from_a_closed_standard_input_is_usage(node):
    wrong = shell("bind b -", "<&-", node.url)
    assert wrong.returncode == 2
    assert "closed" in wrong.stderr


@pytest.mark.parametrize("redirection", NOWHERE)
def test_a_node_serves_whether_or_not_its_line_can_be_read(redirection):
    command = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *HANAMING, "serve", "--listen", "127.0.0.1:0"]
    served = Served(command=command)
    try:
        eventually(lambda: "serving 127.0.0.1:" in served.err)
        warning = next(line for line in served.err.splitlines() if "serving 127.0.0.1:" in line)
        assert "WARNING" in warning
        address = warning.split("serving ")[1].split()[0]
        assert run("status", provider=f"hn://{address}").status == 0
        served.signal(signal.SIGTERM)
        assert served.wait() == 0
        assert "Traceback" not in served.err
    finally:
        served.end()


def test_a_node_serves_without_a_log():
    command = ["/bin/sh", "-c", 'exec "$@" 2>/dev/full', "sh", *HANAMING, "serve", "--listen", "127.0.0.1:0"]
    served = Served(command=command)
    try:
        assert run("status", provider=served.ready().url).status == 0
        served.signal(signal.SIGTERM)
        assert served.wait() == 0
    finally:
        served.end()
