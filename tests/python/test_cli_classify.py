"""`hanaming classify` and `hanaming explain`, as a support engineer runs them."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess

import pytest

from cli_support import HANAMING, LIMIT, environment, run
from hanaming.cli.redact import Redactor
from redacted_lines import KNOWN_ELSEWHERE, READABLE, REDACTED

LOG = """\
2026-11-30 10:00:00,000 INFO  [com.example.Orders] all is well
2026-11-30 10:00:01,000 ERROR [com.example.Orders] javax.naming.CommunicationException: app1.example.com:1099 [Root exception is java.net.ConnectException: Connection refused]
\tat com.example.Orders.find(Orders.java:12)
2026-11-30 10:00:02,000 INFO  [com.example.Orders] all is well
2026-11-30 10:00:03,000 ERROR [com.example.Orders] javax.naming.CommunicationException: app1.example.com:1099 [Root exception is java.net.ConnectException: Connection refused]
\tat com.example.Orders.find(Orders.java:12)
2026-11-30 12:00:00,000 ERROR [com.example.Orders] user=scott password=tiger org.omg.CORBA.COMM_FAILURE: vmcid: SUN minor code: 217 completed: Maybe
2026-11-30 12:00:00,000 INFO  [com.example.Orders] all is well
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(LOG, encoding="utf-8")
    return path


def test_each_kind_with_its_verdict_and_advice(log):
    done = run("classify", str(log))
    assert done.status == 0
    first, second, *_ = done.out.split("\n\n")
    assert first.startswith(f"2 x not_connected (connect_refused), ran: NO, do: failover, at {log}:2 to 5\n")
    assert "send it to another server" in first
    assert "Orders.java" not in first  # frames are for programmers; --json has them
    assert second.startswith("1 x no_response (")
    assert "do: surface (failover if it may run twice)" in second
    assert done.err == "3 failures of 2 kinds in 8 lines\n"
    assert run("classify", "-q", str(log)).err == ""


def test_verbose_says_why(log):
    out = run("classify", "-v", str(log)).out
    assert "why: ConnectException" in out
    assert "by:  line 2: " in out


def test_summary(log):
    lines = run("classify", "--summary", str(log)).out.splitlines()
    assert [line.split() for line in lines] == [
        ["failures", "kinds", "category", "ran?", "do"],
        ["2", "1", "not_connected", "NO", "failover"],
        ["1", "1", "no_response", "MAYBE", "surface"],
    ]


def test_summary_in_json(log):
    document = json.loads(run("classify", "--summary", "--json", str(log)).out)
    assert document == {
        "failures": 3,
        "lines": 8,
        "sources": [str(log)],
        "warnings": [],
        "summary": [
            {"failures": 2, "kinds": 1, "category": "not_connected", "completion": "NO", "action": "failover"},
            {"failures": 1, "kinds": 1, "category": "no_response", "completion": "MAYBE", "action": "surface"},
        ],
    }


def test_one_file_of_a_folder_that_cannot_be_read(log):
    loop, unread = log.parent / "loop.log", log.parent / "memory.log"
    loop.symlink_to(loop)
    unread.symlink_to("/proc/self/mem")  # opens, and can't be read where it starts
    done = run("classify", str(log.parent))
    assert done.status == 0
    assert "3 failures of 2 kinds in 8 lines" in done.err
    for path in (loop, unread):
        assert f"warning: {path}: " in done.err
    document = json.loads(run("classify", "--json", str(log.parent)).out)
    assert (document["failures"], len(document["warnings"])) == (3, 2)
    log.unlink()
    unread.unlink()
    alone = run("classify", str(log.parent))
    assert alone.status == 2
    assert "no file in this folder can be read" in alone.err


def test_json(log):
    document = json.loads(run("classify", "--json", str(log)).out)
    assert document["failures"] == 3
    assert document["sources"] == [str(log)]
    group = document["groups"][0]
    assert (group["count"], group["completion"], group["action"]) == (2, "NO", "failover")
    assert group["first"] == {"source": str(log), "line": 2, "time": "2026-11-30 10:00:01,000"}
    assert group["last"]["line"] == 5
    assert group["classes"][-1] == "java.net.ConnectException"


def test_since(log):
    out = run("classify", "--since", "2026-11-30T11:00", str(log)).out
    assert "no_response" in out
    assert "not_connected" not in out
    wrong = run("classify", "--since", "yesterday", str(log))
    assert wrong.status == 2
    assert "write 2h" in wrong.err


def test_redact(log):
    for options in ([], ["--json"], ["-v"]):
        out = run("classify", "--redact", *options, str(log)).out
        assert "example.com" not in out
        assert "scott" not in out
        assert "tiger" not in out
        assert "javax.naming.CommunicationException" in out


def test_streams_folders_and_compressed_files(log):
    (log.parent / "old.log.gz").write_bytes(gzip.compress(LOG.encode()))
    assert "3 failures of 2 kinds in 8 lines" in run("classify", "-", stdin=LOG).err
    assert "6 failures of 2 kinds in 16 lines of 2 files" in run("classify", str(log.parent)).err
    assert "9 failures" in run("classify", str(log.parent), "-", stdin=LOG).err
    assert "no failure" in run("classify", "-", stdin="fine\n").err
    with (log.parent / "old.log.gz").open("rb") as packed:
        piped = subprocess.run(
            [*HANAMING, "classify", "-"], stdin=packed, capture_output=True, check=True, timeout=LIMIT
        )
    assert b"3 failures of 2 kinds in 8 lines" in piped.stderr
    with subprocess.Popen(["cat", str(log.parent / "old.log.gz")], stdout=subprocess.PIPE) as cat:  # noqa: S607 - any cat will do
        piped = subprocess.run(
            [*HANAMING, "classify", "-"], stdin=cat.stdout, capture_output=True, check=True, timeout=LIMIT
        )
    assert b"3 failures of 2 kinds in 8 lines" in piped.stderr
    missing = run("classify", str(log.parent / "missing"))
    assert missing.status == 2
    assert missing.err.startswith("hanaming: ")


def test_what_a_log_says_does_not_steer_the_terminal(tmp_path):
    path = tmp_path / "odd.log"
    path.write_bytes(b"java.net.ConnectException: \x1b[31mred\x1b[0m \xff Connection refused\n")
    for options in ([], ["--json"], ["-v"]):
        assert "\x1b" not in run("classify", *options, str(path)).out


def test_a_large_file_shows_progress_on_a_terminal(tmp_path):
    path = tmp_path / "large.log"
    with path.open("wb") as file:
        file.write(LOG.encode())
        file.truncate(48 << 20)
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*HANAMING, "classify", str(path)], stdout=subprocess.PIPE, stderr=terminal, env=environment(), text=True
    )
    os.close(terminal)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # the terminal is closed when the program has ended
        pass
    out, _ = process.communicate(timeout=LIMIT)
    os.close(master)
    assert process.returncode == 0
    assert "not_connected" in out
    assert b"large.log: 50%" in shown
    assert shown.rstrip().endswith(b"lines")


def test_redacted_names_stay_apart():
    redact = Redactor().text
    table = [
        ("Connection refused to host: 192.0.2.44; nested", "Connection refused to host: address-1; nested"),
        ("192.0.2.44:389 and 192.0.2.45", "address-1:389 and address-2"),
        ("t3://scott:tiger@app1:7001", "t3://user-1:***@host-1:7001"),
        ("java.net.UnknownHostException: App1", "java.net.UnknownHostException: host-1"),
        ("at com.example.Orders.find(Orders.java:12)", "at com.example.Orders.find(Orders.java:12)"),
        ("localhost:7001 [::1]:80", "localhost:7001 [address-3]:80"),
        ("localhost/fe80:0:0:0:0:0:0:1%1:50051", None),
        ("db.internal is gone", "host-2 is gone"),
        ("password: geheim, pwd=x", "password: ***, pwd=***"),
        ("mail to someone@corp.example", "mail to user-2"),
        ("org.omg.CORBA.TRANSIENT: vmcid: SUN minor code: 201", "org.omg.CORBA.TRANSIENT: vmcid: SUN minor code: 201"),
        ("10:00:01,123 ERROR std::exception", "10:00:01,123 ERROR std::exception"),
    ]
    for text, expected in table:
        if expected is not None:
            assert redact(text) == expected
        assert "fe80" not in redact(text)


@pytest.mark.parametrize(("line", "gone", "kept"), REDACTED)
def test_redaction_leaves_no_secret_and_the_rest(line, gone, kept):
    shown = Redactor().text(line)
    assert line in KNOWN_ELSEWHERE or not [secret for secret in gone.split() if secret in shown], shown
    assert [part for part in kept.split() if part not in shown] == [], shown


@pytest.mark.parametrize("line", READABLE)
def test_redaction_keeps_what_a_reader_needs(line):
    redactor = Redactor()
    redactor.learn(line for line, *_ in REDACTED)
    assert redactor.text(line) == line


@pytest.mark.parametrize("options", [[], ["-v"], ["--json"], ["-v", "--json"]], ids=" ".join)
def test_no_secret_survives_in_any_output(options, tmp_path):
    """Each line is an event of its own, in a folder of a user's; every secret of the table is looked for in all of it."""
    folder = tmp_path / "home" / "gina"
    folder.mkdir(parents=True)
    for number, (line, _, _) in enumerate(REDACTED):
        text = f"2026-11-30 10:00:00,000 ERROR [com.example.Orders] javax.naming.CommunicationException: {line}\n"
        (folder / f"x{number:03}.log").write_text(text, encoding="utf-8")
    (folder / "loop.log").symlink_to("loop.log")
    done = run("classify", "--redact", *options, str(folder))
    assert done.out.count("javax.naming.CommunicationException") >= len(REDACTED)
    shown = (done.out + done.err).replace(str(tmp_path), "")
    secrets = {secret for _, gone, _ in REDACTED for secret in gone.split() if len(secret) > 2}
    assert [secret for secret in secrets if secret in shown] == []


def test_the_same_thing_has_the_same_name_throughout():
    redactor = Redactor()
    redactor.learn(["later: host=prodlinux, user=erin"])
    assert redactor.text("prodlinux: erin, PRODLINUX:7001") == "host-1: user-1, host-1:7001"
    assert redactor.text("\U000f0000") == "\ufffd"  # what stands for names inside can't be sent in


# -- explain --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "parts"),
    [
        ("0x49421040", ["WebSphere", "TRANSIENT", "quiescing", "NO_IMPLEMENT", "all_unavailable", "INTERNAL"]),
        ("1229066304", ["0x49421040", "quiescing"]),
        ("E02", ["0x4942fe02", "IBM", "connect_refused"]),
        ("SUN 201", ["0x535500c9", "COMM_FAILURE", "NO"]),
        ("-1", ["0xffffffff", "class"]),
        (
            "org.omg.CORBA.COMM_FAILURE: vmcid: SUN minor code: 217 completed: Maybe",
            ["no_response", "MAYBE", "surface"],
        ),
        ("WFNAM00055", ["all_unavailable", "retry_later"]),
        ("ECONNREFUSED", ["not_connected", "failover"]),
        ("UNAUTHENTICATED", ["security"]),
        ("OBJECT_NOT_EXIST", ["stale_reference"]),
        ("t3://app1,app2:7001", ["app1", "app2", "7001"]),
        ("iiop:///", ["localhost", "2809", "node agent"]),
        ("corbaloc::h1:2809,h2", ["h1", '! "h2" is left out']),
        ("h1:1099,h2", ["jnp", "1099"]),
        ("-Dnetworkaddress.cache.ttl=1", ["has no effect as -D", "sun.net.inetaddr.ttl"]),
        ("jnp.partitionName=Orders", ["cluster = 'Orders'"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_explain(what, parts):
    done = run("explain", what)
    assert (done.status, done.err) == (0, "")
    for part in parts:
        assert part in done.out, part
    assert json.loads(run("explain", "--json", what).out)["kind"] in ("code", "failure", "url", "environment")


def test_explain_a_file(tmp_path):
    settings = tmp_path / "jndi.properties"
    settings.write_text(
        "java.naming.provider.url=jnp\\://h1\\:1200,h2\njnp.discoveryGroup=230.0.0.4\n", encoding="utf-8"
    )
    done = run("explain", str(settings))
    assert "h1" in done.out
    assert '! line 1: java.naming.provider.url = "jnp://h1:1200,h2": "h2" has no port' in done.out
    assert "! line 2: jnp.discoveryGroup" in done.out
    script = tmp_path / "start.sh"
    script.write_text('JAVA_OPTS="-Dnetworkaddress.cache.ttl=1"\n', encoding="utf-8")
    assert "has no effect as -D" in run("explain", "-", stdin="-Dnetworkaddress.cache.ttl=1\n").out
    trace = tmp_path / "trace.txt"
    trace.write_text(LOG, encoding="utf-8")
    assert "not_connected" in run("explain", str(trace)).out


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("nofile.properties", "nofile.properties: no such file"),
        ("logs/nofile", "logs/nofile: no such file"),
        ("blah", "'blah' is not known"),
        ("all is well", "'all is well' is not known"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_explain_says_what_it_does_not_know(what, problem, options, tmp_path):
    done = run("explain", *options, what)
    assert (done.status, done.out) == (2, "")
    assert problem in done.err
    assert "explain takes" in done.err
    # In a file the same words are an excerpt of a log in which nothing failed.
    path = tmp_path / "excerpt"
    path.write_text(what, encoding="utf-8")
    assert "not_a_failure" in run("explain", *options, str(path)).out


def test_explain_shows_versions_where_there_are_any():
    assert "version" not in run("explain", "t3://app1:7001").out
    assert "version" in run("explain", "corbaloc::1.2@h1:2809").out


def test_explain_a_provider_that_is_none():
    done = run("explain", "tcp://h:61616")
    assert done.status == 2
    assert "is unknown" in done.err


def test_explain_a_folder(tmp_path):
    done = run("explain", str(tmp_path))
    assert (done.status, done.out) == (2, "")
    assert f"{tmp_path} is a folder: `hanaming classify {tmp_path}`" in done.err
