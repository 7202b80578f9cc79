"""Real stack traces of Java's own naming, RMI, LDAP and HTTP classes, printed by a program and read as a log shows them.

Where they differ from what documents say, they are right: RMI's provider calls an unknown host a
`ConfigurationException`; the JDK's HTTP client shows a refused connection as a channel that is closed; and a handshake
that breaks within RMI is a `ConnectIOException` around an end of file, and still no call was sent.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest

import broken_servers as broken
from hanaming import Action, Category, CompletionStatus, classify, read_failures

PROGRAM = Path(__file__).with_name("data") / "Failures.java"
NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES

CONFIGURATION = (Category.CONFIGURATION, NO, Action.SURFACE)
NOT_CONNECTED = (Category.NOT_CONNECTED, NO, Action.FAILOVER)
NO_RESPONSE = (Category.NO_RESPONSE, MAYBE, Action.SURFACE)
LOST = (Category.CONNECTION_LOST, MAYBE, Action.SURFACE)

EXPECTED = {
    "no-provider": CONFIGURATION,
    "no-such-provider": CONFIGURATION,
    "rmi-closed": NOT_CONNECTED,
    "rmi-name": NOT_CONNECTED,
    "rmi-not-rmi": CONFIGURATION,
    "rmi-hanging-up": NOT_CONNECTED,
    "ldap-closed": NOT_CONNECTED,
    "ldap-name": NOT_CONNECTED,
    "ldap-full": NOT_CONNECTED,
    "ldap-frozen": NO_RESPONSE,
    "ldap-hanging-up": LOST,
    "ldap-resetting": LOST,
    "ldaps-plain": CONFIGURATION,
    "url-list": CONFIGURATION,
    "socket-closed": NOT_CONNECTED,
    "socket-full": NOT_CONNECTED,
    "socket-frozen": NO_RESPONSE,
    "socket-resetting": LOST,
    "socket-hanging-up": LOST,
    "http-closed": NOT_CONNECTED,
    "http-full": NOT_CONNECTED,
    "http-frozen": NO_RESPONSE,
    "http-resetting": LOST,
    "https-plain": CONFIGURATION,
    "rmi-not-bound": (Category.NAMING_ANSWER, YES, Action.SURFACE),
    "rmi-application": (Category.APPLICATION, YES, Action.SURFACE),
    "rmi-arguments": (Category.MARSHALLING, NO, Action.SURFACE),
    "rmi-stale": (Category.STALE_REFERENCE, NO, Action.FAILOVER),
}


@pytest.fixture(scope="module")
def printed():
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None:
        pytest.skip("no JDK is installed: Java's own stack traces are not tried")
    flags = ["-Djava.rmi.server.hostname=127.0.0.1", "-Duser.language=en"]
    servers = (broken.frozen, broken.resetting, broken.hanging_up, broken.half_answering)
    with contextlib.ExitStack() as stack:
        ports = [broken.closed_port(), *(stack.enter_context(broken.serving(server)) for server in servers)]
        ports.append(stack.enter_context(broken.full()))
        done = subprocess.run(
            [java, *flags, str(PROGRAM), *map(str, ports)], capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_printed_trace_is_understood(printed):
    traces = {}
    for part in printed.split("== ")[1:]:
        name, _, trace = part.partition("\n")
        traces[name] = trace
    assert traces.keys() == EXPECTED.keys()
    found = {name: classify(trace) for name, trace in traces.items()}
    told = {name: (verdict.category, verdict.completion, verdict.action) for name, verdict in found.items()}
    assert told == EXPECTED
    assert all(verdict.evidence for verdict in found.values())


def test_the_same_traces_in_one_log(printed, tmp_path):
    log = tmp_path / "server.log"
    lines = printed.replace("== ", "2026-11-30 10:00:00,000 ERROR [com.example.Orders] (main) failed: ").splitlines()
    log.write_text("\n".join(lines), encoding="utf-8")
    report = read_failures(log)
    starts = [number for number, line in enumerate(lines, 1) if " ERROR [" in line]
    assert report.total == len(EXPECTED)
    for event, start in zip(report.events, starts, strict=True):
        assert start <= event.line <= start + 1
    assert [(e.verdict.category, e.verdict.completion, e.verdict.action) for e in report.events] == [*EXPECTED.values()]
